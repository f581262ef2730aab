"""The numbers that charts of a study draw, computed once for the page and for print."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np

from manyview.experiments.plan import Cell, Entry, Plan
from manyview.experiments.store import DONE
from manyview.experiments.study import Study
from manyview.report.study.results import (
    OWN_METHODS,
    Result,
    Results,
    begun_entries,
    dataset_title,
    is_own,
    point_title,
    ratio_title,
    value_title,
)

MAX_RATIOS_AS_DOTS = 2
GRAPH_STAGES = ("fused", "refined", "selected")
Records = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Charted:
    """Entries of a plan that have results to draw."""

    plain: list[Entry]  # entries without a grid
    # Chart of the plain entries: "ratios" (lines), "accuracy" or "ablation" (dots), or nothing. An
    # ablation compares settings of one method.
    kind: str
    grids: list[Entry]  # entries with a grid of one or two parameters

    @classmethod
    def of(cls, plan: Plan, results: Results) -> "Charted":
        """Choose the charts that the results of a plan can fill."""
        begun = begun_entries(results)
        entries = [entry for entry in plan.entries if entry.name in begun]
        plain = _own_in_order([entry for entry in entries if not entry.grid])
        kind = ""
        if len(_ratios(plain)) > MAX_RATIOS_AS_DOTS:
            kind = "ratios"
        elif len(plain) > 1:
            kind = "ablation" if len({entry.method for entry in plain}) == 1 else "accuracy"
        return cls(plain, kind, [entry for entry in entries if 1 <= len(entry.grid) <= 2])


@dataclass(frozen=True)
class DotPanel:
    """One data set: a row per entry, and in it one result per series, None where not planned."""

    title: str
    rows: list[tuple[Entry, list[Result | None]]]


@dataclass(frozen=True)
class Curve:
    """Results at places along an axis; None where there is none."""

    title: str
    places: list[float]
    results: list[Result | None]
    is_own: bool = False

    @property
    def means(self) -> list[float]:
        """Return the mean at each place; NaN where there is none."""
        return [_mean(result) for result in self.results]

    @property
    def stds(self) -> list[float]:
        """Return the standard deviation at each place; 0 where there is none."""
        return [0.0 if one is None else one.std or 0.0 for one in self.results]


@dataclass(frozen=True)
class GridMap:
    """Results over two parameters: [value of the first, value of the second]."""

    title: str
    names: tuple[str, str]
    values: tuple[Sequence[Any], Sequence[Any]]
    results: list[list[Result | None]]

    @property
    def means(self) -> np.ndarray:
        """Return the means; NaN where there is none."""
        return np.array([[_mean(one) for one in line] for line in self.results])


def dot_panels(
    plan: Plan, entries: Sequence[Entry], results: Results
) -> tuple[list[str], list[DotPanel]]:
    """Return the titles of the series (label ratio and protocol), and one panel per data set."""
    series = [(ratio, protocol) for protocol in plan.protocols for ratio in _ratios(entries)]
    titles = [_title(ratio_title(ratio), _protocol(plan, one)) for ratio, one in series]
    panels = [
        DotPanel(
            dataset_title(name),
            [(e, [results.get(Cell(name, e.name, (), r, p)) for r, p in series]) for e in entries],
        )
        for name in begun_datasets(plan, entries, results)
    ]
    return titles, panels


def ratio_curves(
    plan: Plan,
    entries: Sequence[Entry],
    results: Results,
    protocols: Sequence[str],
) -> dict[str, list[Curve]]:
    """Return accuracy by label ratio in percent: per data set, one curve per entry and protocol."""
    ratios = _ratios(entries)
    return {
        name: [
            Curve(
                _title(entry.title, _protocol(plan, protocol) if len(protocols) > 1 else ""),
                [100 * ratio for ratio in ratios],
                [results.get(Cell(name, entry.name, (), ratio, protocol)) for ratio in ratios],
                is_own(entry),
            )
            for entry in entries
            for protocol in protocols
        ]
        for name in curved_datasets(plan, entries, results)
    }


def grid_curves(
    plan: Plan, entries: Sequence[Entry], results: Results
) -> tuple[dict[str, list[Curve]], list[str]]:
    """Return accuracy by one parameter: per data set, a curve per entry, protocol and label ratio.

    The second result names the places where the values are not numbers.
    """
    (parameter,) = entries[0].grid
    values = [value for entry in entries for value in entry.grid[parameter]]
    is_numeric = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values)
    names = [] if is_numeric else [value_title(value) for value in entries[0].grid[parameter]]
    has_ratios = any(len(entry.label_ratios) > 1 for entry in entries)
    curves = {
        name: [
            Curve(
                _title(
                    entry.title, ratio_title(ratio) if has_ratios else "", _protocol(plan, protocol)
                ),
                [float(n if names else v) for n, v in enumerate(entry.grid[parameter])],
                [
                    results.get(Cell(name, entry.name, ((parameter, value),), ratio, protocol))
                    for value in entry.grid[parameter]
                ],
            )
            for entry in entries
            for protocol in plan.protocols
            for ratio in entry.label_ratios
        ]
        for name in begun_datasets(plan, entries, results)
    }
    return curves, names


def grid_maps(plan: Plan, entry: Entry, results: Results) -> list[GridMap]:
    """Return accuracy over two parameters, per data set, label ratio and protocol."""
    (first, rows), (second, columns) = entry.grid.items()
    return [
        GridMap(
            _title(
                dataset_title(name),
                ratio_title(ratio) if len(entry.label_ratios) > 1 else "",
                _protocol(plan, protocol),
            ),
            (first, second),
            (rows, columns),
            [
                [
                    results.get(Cell(name, entry.name, ((first, y), (second, x)), ratio, protocol))
                    for x in columns
                ]
                for y in rows
            ],
        )
        for name in begun_datasets(plan, [entry], results)
        for ratio in entry.label_ratios
        for protocol in plan.protocols
    ]


def epoch_curves(records: Records, key: str) -> tuple[list[np.ndarray], np.ndarray]:
    """Return a training curve of every seed, and their mean over the epochs all of them have.

    Accuracies are in percent.
    """
    scale = 1.0 if key == "loss" else 100.0
    curves = [scale * np.asarray(one["curve"].get(key) or [], dtype=float) for one in records]
    curves = [one for one in curves if len(one)]
    n_common = min(map(len, curves), default=0)
    return curves, np.mean([one[:n_common] for one in curves], axis=0) if curves else np.empty(0)


def mean_weights(records: Records) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return view names, view importance and mixing weights [mixture, view], over all seeds."""
    return (
        [str(name) for name in records[0]["view_names"]],
        np.mean([record["view_importance"] for record in records], axis=0),
        np.mean([record["mixing_weights"] for record in records], axis=0),
    )


def graph_tiles(records: Records) -> tuple[dict[str, np.ndarray], dict[str, int], float]:
    """Return the first seed's graph by stage in tiles, its edge counts, and the largest tile."""
    record = records[0]
    tiles = {stage: np.array(record["graphs"][stage]) for stage in GRAPH_STAGES}
    largest = max(float(tile.max()) for tile in tiles.values()) or 1.0
    return tiles, record.get("graph_edges", {}), largest


def kept_by_title(study: Study, key: str) -> dict[str, list[dict[str, Any]]]:
    """Return finished records that have this artifact, by data set and what else distinguishes."""
    kept = {
        cell: [
            record
            for record in study.records_of(cell)
            if record["status"] == DONE and record.get(key)
        ]
        for cell in study.cells
    }
    cells = [cell for cell, records in kept.items() if records]
    titles: dict[Cell, list[str]] = {cell: [dataset_title(cell.dataset)] for cell in cells}
    words = [
        (
            study.plan.entry(cell.entry).title,
            point_title(cell.point),
            ratio_title(cell.label_ratio),
            cell.protocol,
        )
        for cell in cells
    ]
    for column in zip(*words, strict=True):
        if len(set(column)) > 1:
            for cell, word in zip(cells, column, strict=True):
                titles[cell].append(word)
    return {_title(*titles[cell]): kept[cell] for cell in cells}


def begun_datasets(plan: Plan, entries: Sequence[Entry], results: Results) -> list[str]:
    """List the data sets with a result of these entries."""
    names = {entry.name for entry in entries}
    begun = {cell.dataset for cell, r in results.items() if r.by_seed and cell.entry in names}
    return [name for name in plan.datasets if name in begun]


def curved_datasets(plan: Plan, entries: Sequence[Entry], results: Results) -> list[str]:
    """List the data sets with results at two or more label ratios, or all where none has them."""
    begun = begun_datasets(plan, entries, results)
    ratios = {(cell.dataset, cell.label_ratio) for cell, r in results.items() if r.by_seed}
    return [name for name in begun if sum(one == name for one, _ in ratios) > 1] or begun


def _own_in_order(entries: list[Entry]) -> list[Entry]:
    """Put our methods, among their places in the plan, in the order of `OWN_METHODS`."""
    own = sorted(filter(is_own, entries), key=lambda entry: OWN_METHODS.index(entry.name))
    ordered = iter(own)
    return [next(ordered) if is_own(entry) else entry for entry in entries]


def _ratios(entries: Sequence[Entry]) -> list[float]:
    return sorted({ratio for entry in entries for ratio in entry.label_ratios})


def _protocol(plan: Plan, protocol: str) -> str:
    return protocol if len(plan.protocols) > 1 else ""


def _mean(result: Result | None) -> float:
    return nan if result is None or result.mean is None else result.mean


def _title(*words: str) -> str:
    return ", ".join(filter(None, words))
