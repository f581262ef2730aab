"""A study seen by one metric: what its tables are made of."""

from dataclasses import dataclass
from typing import Any

from manyview.experiments.plan import Cell, Entry
from manyview.experiments.study import Study
from manyview.report.results import Metric, Result, dataset_title

RowKey = tuple[Entry, tuple[tuple[str, Any], ...]]
Column = tuple[str, str]  # data set and protocol
NOT_RUN = "An empty cell has not been run."


@dataclass(frozen=True)
class StudyView:
    """A study, a metric, what the records of each cell come to by it, and the test over splits."""

    study: Study
    metric: Metric
    results: dict[Cell, Result]
    test: str

    def name(self, *parts: str) -> str:
        """Name a table, good for a file."""
        metric = () if self.metric.in_paper else (self.metric.name,)
        return "-".join((self.study.plan.name, *metric, *parts)).replace("_", "-")

    def find(self, row: RowKey, column: Column, ratio: float) -> Result | None:
        """Return the result at a place of a table; None where the plan has none."""
        entry, point = row
        return self.results.get(Cell(column[0], entry.name, point, ratio, column[1]))

    def is_begun(self, dataset: str) -> bool:
        """Whether there is, or can be, a result of our own."""
        return dataset not in self.study.skipped or any(
            result.by_seed or result.failures
            for cell, result in self.results.items()
            if cell.dataset == dataset
        )

    def caption(self) -> list[str]:
        """Say what the numbers are."""
        metric, counts = self.metric, sorted({r.n_planned for r in self.results.values()})
        splits = "one split" if counts == [1] else f"{'/'.join(map(str, counts))} splits"
        where = " on the hidden labels" if metric.higher_is_better else " of a fit"
        sentences = [
            f"{metric.title} in {metric.unit}{where}, mean (standard deviation) over {splits}."
        ]
        if any(not r.by_seed and not r.failures for r in self.results.values()):
            sentences.append(NOT_RUN)
        return sentences

    def absent(self) -> list[str]:
        """Name the data sets that are not here."""
        names = [name for name in self.study.plan.datasets if not self.is_begun(name)]
        return [f"Not here: {', '.join(map(dataset_title, names))}."] if names else []
