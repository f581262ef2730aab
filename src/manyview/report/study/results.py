"""Results of a study: the finished trials of each cell, and the paper's number."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from statistics import fmean, stdev
from typing import Any

from manyview.data.catalog.cards import CATALOG
from manyview.experiments.plan import Cell, Entry
from manyview.experiments.store import DONE
from manyview.experiments.study import Study
from manyview.validation import check_choice

OWN_METHODS = ("manyview", "mgcn-dns")  # stand out in charts, in this order


@dataclass(frozen=True)
class Metric:
    """A number that every record has, and how to show it."""

    name: str
    title: str
    unit: str
    scale: float = 1.0  # factor from the stored number to the shown one
    decimals: int = 1
    higher_is_better: bool = True
    in_paper: bool = False  # whether the paper reports it

    def text(self, value: float) -> str:
        """Write a number of this metric."""
        return f"{value:,.{self.decimals}f}"


METRICS = {
    metric.name: metric
    for metric in (
        Metric("accuracy", "Accuracy", "percent", scale=100.0, in_paper=True),
        Metric("balanced_accuracy", "Balanced accuracy", "percent", scale=100.0),
        Metric("macro_f1", "Macro-F1", "percent", scale=100.0),
        Metric("seconds", "Time", "seconds", higher_is_better=False),
        Metric("peak_memory_mb", "Peak memory", "MB", decimals=0, higher_is_better=False),
    )
}


@dataclass(frozen=True)
class Result:
    """One cell of a study: finished trials, failures, and the paper's number."""

    cell: Cell
    n_planned: int
    by_seed: Mapping[int, float]  # metric of every finished trial, in the shown unit
    failures: tuple[str, ...] = ()  # reasons of failed trials, one per trial
    paper: tuple[float, float] | None = None  # mean and standard deviation in the paper, in percent

    @property
    def mean(self) -> float | None:
        """Return the mean over the finished seeds; None without any."""
        return fmean(self.by_seed.values()) if self.by_seed else None

    @property
    def std(self) -> float | None:
        """Return the standard deviation over the finished seeds; None with fewer than two."""
        return stdev(self.by_seed.values()) if len(self.by_seed) > 1 else None

    @property
    def shortfall(self) -> str:
        """Return why the cell is incomplete; empty where it is complete or has not started."""
        parts = []
        if self.by_seed and len(self.by_seed) < self.n_planned:
            parts.append(f"{len(self.by_seed)} of {self.n_planned} seeds")
        for reason, count in Counter(self.failures).items():
            parts.append(f"{count} failed: {reason}" if self.by_seed else reason)
        return "; ".join(parts)


Results = Mapping[Cell, Result]


@dataclass(frozen=True)
class Difference:
    """A cell with our mean and the paper's, in percent."""

    dataset: str
    entry: str
    label_ratio: float
    ours: float
    paper: float

    @property
    def difference(self) -> float:
        """Return our mean minus the paper's."""
        return self.ours - self.paper


def counted_datasets(datasets: Iterable[str]) -> set[str]:
    """Return the data sets that count in summaries over data sets, by their cards.

    Data sets that count in no average are left out, unless there is no other.

    Examples
    --------
    >>> sorted(counted_datasets(["digits", "nus-wide-graphs", "mine.csv"]))
    ['digits', 'mine.csv']
    """
    names = set(datasets)
    return {name for name in names if name not in CATALOG or CATALOG[name].in_averages} or names


def find_metric(name: str) -> Metric:
    """Return a metric by name."""
    check_choice("metric", name, METRICS)
    return METRICS[name]


def study_results(study: Study, metric: Metric) -> dict[Cell, Result]:
    """Return the result of every cell of the plan, including unavailable data sets."""
    results = {}
    for cell, trials in study.plan.cells().items():
        records = study.records_of(cell)
        results[cell] = Result(
            cell=cell,
            n_planned=len(trials),
            by_seed={
                record["seed"]: metric.scale * record[metric.name]
                for record in records
                if record["status"] == DONE and metric.name in record
            },
            failures=tuple(reason_of(record) for record in records if record["status"] != DONE),
            paper=_paper(study, cell) if metric.in_paper else None,
        )
    return results


def reason_of(record: Mapping[str, Any]) -> str:
    """Return why a trial failed, in one line."""
    status = str(record["status"])
    reason = " ".join(str(record.get("reason") or "unknown reason").split())
    return (reason if status == "failed" else f"{status}, {reason}").rstrip(".")


def far_from_paper(study: Study, points: float = 5.0) -> list[Difference]:
    """List cells that differ from the paper by more than `points`, largest difference first."""
    found = []
    for cell, result in study_results(study, METRICS["accuracy"]).items():
        if result.paper is not None and result.mean is not None:
            one = Difference(
                cell.dataset, cell.entry, cell.label_ratio, result.mean, result.paper[0]
            )
            if abs(one.difference) > points:
                found.append(one)
    return sorted(found, key=lambda one: -abs(one.difference))


def begun_entries(results: Results) -> set[str]:
    """Return the names of the entries with at least one finished trial."""
    return {cell.entry for cell, result in results.items() if result.by_seed}


def is_own(entry: Entry) -> bool:
    """Return whether an entry is one of our methods, which stand out in charts."""
    return entry.name in OWN_METHODS


def dataset_title(name: str) -> str:
    """Return the title of a data set: a file without its folders.

    Examples
    --------
    >>> dataset_title("bbcsports"), dataset_title("data/farm.mat")
    ('bbcsports', 'farm.mat')
    """
    return PurePath(name).name or name


def ratio_title(label_ratio: float) -> str:
    """Return the title of a label ratio.

    Examples
    --------
    >>> ratio_title(0.1), ratio_title(0.005)
    ('10% labels', '0.5% labels')
    """
    return f"{100 * label_ratio:.6g}% labels"


def point_title(point: tuple[tuple[str, Any], ...]) -> str:
    """Return the title of a point of a grid.

    Examples
    --------
    >>> point_title((("gamma", 0.5), ("tau", None)))
    'gamma 0.5, tau none'
    """
    return ", ".join(f"{name} {value_title(value)}" for name, value in point)


def value_title(value: Any) -> str:
    """Return a parameter's value as text."""
    if value is None:
        return "none"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _paper(study: Study, cell: Cell) -> tuple[float, float] | None:
    # The paper has one value per method, not per point of a grid.
    if cell.point or cell.protocol != study.plan.protocols[0]:
        return None
    return study.plan.paper.get(cell.dataset, {}).get(cell.entry, {}).get(cell.label_ratio)


RowKey = tuple[Entry, tuple[tuple[str, Any], ...]]
Column = tuple[str, str]  # data set and protocol
NOT_RUN = "Empty cells have not been run."


@dataclass(frozen=True)
class StudyView:
    """A study seen by one metric: the result of each cell, and the test over splits."""

    study: Study
    metric: Metric
    results: dict[Cell, Result]
    test: str

    def name(self, *parts: str) -> str:
        """Return the name of a table, usable as a file name."""
        metric = () if self.metric.in_paper else (self.metric.name,)
        return "-".join((self.study.plan.name, *metric, *parts)).replace("_", "-")

    def find(self, row: RowKey, column: Column, ratio: float) -> Result | None:
        """Return the result in a row and column of a table; None where the plan has none."""
        entry, point = row
        return self.results.get(Cell(column[0], entry.name, point, ratio, column[1]))

    def is_begun(self, dataset: str) -> bool:
        """Return whether the data set is available or has records."""
        return dataset not in self.study.skipped or any(
            result.by_seed or result.failures
            for cell, result in self.results.items()
            if cell.dataset == dataset
        )

    def caption(self) -> list[str]:
        """Describe the numbers of a table."""
        metric, counts = self.metric, sorted({r.n_planned for r in self.results.values()})
        splits = "one split" if counts == [1] else f"{'/'.join(map(str, counts))} splits"
        where = " on the hidden labels" if metric.higher_is_better else " per fit"
        sentences = [
            f"{metric.title} in {metric.unit}{where}, mean (standard deviation) over {splits}."
        ]
        if any(not r.by_seed and not r.failures for r in self.results.values()):
            sentences.append(NOT_RUN)
        return sentences

    def absent(self) -> list[str]:
        """Name the unavailable data sets."""
        names = [name for name in self.study.plan.datasets if not self.is_begun(name)]
        return [f"Unavailable: {', '.join(map(dataset_title, names))}."] if names else []
