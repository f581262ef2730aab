"""Charts of a study for its page, one a data set: every number can be pointed at."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import numpy as np

from manyview.experiments.plan import Cell, Entry, Plan
from manyview.report.html.markup import Html, element, join
from manyview.report.study.results import (
    METRICS,
    OWN_METHOD,
    Result,
    begun_datasets,
    curved_datasets,
    dataset_title,
    ratio_title,
    value_title,
)
from manyview.report.study.table import mean_text
from manyview.report.svg.axes import N_COLORS, chart, label
from manyview.report.svg.charts import Dot, DotRow, Series, bars, dot_chart, lines
from manyview.report.svg.heat_map import heat_map

MOST_BANDS = 2  # lines that still have room for their deviation
ACCURACY = METRICS["accuracy"]
Results = Mapping[Cell, Result]


def method_charts(plan: Plan, entries: Sequence[Entry], results: Results) -> list[Html]:
    """Draw a dot a method with its deviation, and the paper's number as a cross."""
    series = [
        (ratio, protocol)
        for protocol in plan.protocols
        for ratio in sorted({ratio for entry in entries for ratio in entry.label_ratios})
    ]
    titles = [_title(ratio_title(r), p if len(plan.protocols) > 1 else "") for r, p in series]
    charts = []
    for name in begun_datasets(plan, entries, results):
        rows = []
        for entry in entries:
            found = [results.get(Cell(name, entry.name, (), r, p)) for r, p in series]
            dots = [None if one is None else _dot(one) for one in found]
            rows.append(DotRow(entry.title, dots, is_strong=entry.name == OWN_METHOD))
        charts.append(
            dot_chart(
                dataset_title(name),
                titles,
                rows,
                x_name="accuracy (%)",
                description=f"Accuracy of {len(rows)} methods on {dataset_title(name)}.",
            )
        )
    return charts


def ratio_charts(plan: Plan, entries: Sequence[Entry], results: Results) -> list[Html]:
    """Draw accuracy by the share of labels, a line a method; the best where there are many."""
    chosen = _best(entries, results)
    n_left = len(entries) - len(chosen)
    ratios = sorted({ratio for entry in chosen for ratio in entry.label_ratios})
    charts = []
    for name in curved_datasets(plan, chosen, results):
        for protocol in plan.protocols:
            series = [
                _series(
                    entry.title,
                    [results.get(Cell(name, entry.name, (), r, protocol)) for r in ratios],
                    has_band=len(chosen) <= MOST_BANDS,
                )
                for entry in chosen
            ]
            title = _title(dataset_title(name), protocol if len(plan.protocols) > 1 else "")
            charts.append(
                lines(
                    title,
                    [100 * ratio for ratio in ratios],
                    series,
                    x_name="labeled samples (%)",
                    description=f"Accuracy of {len(series)} methods by the share of labels.",
                    form=".1f",
                    from_zero=False,
                    note=f"{n_left} methods with a lower mean are in the table" if n_left else "",
                )
            )
    return charts


def grid_charts(plan: Plan, entry: Entry, results: Results) -> list[Html]:
    """Draw accuracy over an entry's grid: a line for one parameter, a map for two."""
    charts = []
    for name in begun_datasets(plan, [entry], results):
        for ratio in entry.label_ratios:
            for protocol in plan.protocols:
                words = [
                    dataset_title(name),
                    ratio_title(ratio) if len(entry.label_ratios) > 1 else "",
                    protocol if len(plan.protocols) > 1 else "",
                ]
                draw = _grid_line if len(entry.grid) == 1 else _grid_map
                find = {
                    cell.point: result
                    for cell, result in results.items()
                    if (cell.dataset, cell.entry) == (name, entry.name)
                    and (cell.label_ratio, cell.protocol) == (ratio, protocol)
                }
                if any(result.by_seed for result in find.values()):
                    charts.append(draw(_title(*words), entry, find))
    return charts


def _grid_line(title: str, entry: Entry, found: Mapping[Any, Result]) -> Html:
    ((parameter, values),) = entry.grid.items()
    numeric = all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values)
    places = [float(v) for v in values] if numeric else list(map(float, range(len(values))))
    series = _series("accuracy", [found.get(((parameter, value),)) for value in values])
    named = "" if numeric else "In order: " + ", ".join(map(value_title, values))
    return lines(
        title,
        places,
        [series],
        x_name=parameter,
        description=f"Accuracy of {entry.title} by {parameter}.",
        form=".1f",
        from_zero=False,
        note=named,
    )


def _grid_map(title: str, entry: Entry, found: Mapping[Any, Result]) -> Html:
    (first, rows), (second, columns) = entry.grid.items()
    grid = [[found.get(((first, y), (second, x))) for x in columns] for y in rows]
    means = np.array([[_mean(one) for one in line] for line in grid])
    low, high = np.nanmin(means), np.nanmax(means)
    tips = [
        [
            f"{first} {value_title(y)}, {second} {value_title(x)}\n{_told(one)}"
            for x, one in zip(columns, line, strict=True)
        ]
        for y, line in zip(rows, grid, strict=True)
    ]
    return heat_map(
        title,
        (means - low) / ((high - low) or 1.0),
        list(map(value_title, rows)),
        list(map(value_title, columns)),
        axes=(first, second),
        texts=[[f"{mean:.1f}" if np.isfinite(mean) else "" for mean in line] for line in means],
        tips=tips,
        description=f"Accuracy from {low:.1f} to {high:.1f} % by {first} and {second}.",
        note=f"accuracy (%), pale at {low:.1f} and full at {high:.1f}",
    )


def _dot(result: Result) -> Dot:
    paper = None if result.paper is None else result.paper[0]
    return Dot(result.mean, result.std or 0.0, paper, _told(result))


def _told(result: Result | None) -> str:
    if result is None:
        return "not planned"
    text = mean_text(result.mean, result.std, ACCURACY) if result.by_seed else ""
    short = result.shortfall
    paper = f"paper {mean_text(*result.paper, ACCURACY)}" if result.paper else ""
    return ", ".join(filter(None, [text, short, paper])) or "not run"


def _series(name: str, found: Sequence[Result | None], *, has_band: bool = True) -> Series:
    means = [_mean(one) for one in found]
    stds = [0.0 if one is None else one.std or 0.0 for one in found]
    if not has_band or not any(stds):
        return Series(name, means)
    low = [mean - std for mean, std in zip(means, stds, strict=True)]
    high = [mean + std for mean, std in zip(means, stds, strict=True)]
    return Series(name, means, low, high)


def _best(entries: Sequence[Entry], results: Results) -> list[Entry]:
    """Choose as many entries as there are colors: ours first, then those of the best mean."""
    means: dict[str, list[float]] = {}
    for cell, result in results.items():
        if result.mean is not None and not cell.point:
            means.setdefault(cell.entry, []).append(result.mean)
    order = sorted(
        (entry for entry in entries if entry.name in means),
        key=lambda entry: (entry.name != OWN_METHOD, -fmean(means[entry.name])),
    )
    return order[:N_COLORS]


def _mean(result: Result | None) -> float:
    mean = None if result is None else result.mean
    return float("nan") if mean is None else mean


def _title(*words: str) -> str:
    return ", ".join(filter(None, words))


Records = Sequence[Mapping[str, Any]]
MOST_PLACES = 60  # of a curve, which keep the page small
N_LEVELS = 8
SIDE, GAP, TOP = 280, 20, 20
STAGES = ("fused", "refined", "selected")


def curve_charts(title: str, records: Records) -> list[Html]:
    """Draw accuracy and loss by epoch, the mean of all seeds."""
    curves = [record["curve"] for record in records]
    n_epochs = min(len(curve["loss"]) for curve in curves)
    chosen = np.unique(np.linspace(0, n_epochs - 1, min(n_epochs, MOST_PLACES)).round().astype(int))
    epochs = [float(epoch) for epoch in chosen + 1]
    accuracy = []
    for key, name in (("labeled_accuracy", "labeled samples"), ("test_accuracy", "hidden labels")):
        if all(len(curve.get(key) or []) >= n_epochs for curve in curves):
            accuracy.append(Series(name, _mean_curve(curves, key, chosen, 100.0)))
    loss = _mean_curve(curves, "loss", chosen, 1.0)
    drawn = [
        lines(
            f"{title}: loss",
            epochs,
            [Series("loss", loss)],
            x_name="epoch",
            description=f"From {loss[0]:.3g} to {loss[-1]:.3g}.",
        )
    ]
    if accuracy:
        ends = ", ".join(f"{one.values[-1]:.1f} % on the {one.name}" for one in accuracy)
        drawn.insert(
            0,
            lines(
                f"{title}: accuracy (%)",
                epochs,
                accuracy,
                x_name="epoch",
                form=".1f",
                from_zero=False,
                description=f"At the end {ends}.",
            ),
        )
    return drawn


def weight_charts(title: str, records: Records) -> list[Html]:
    """Draw each view's share, and the share of every view in every mixture."""
    views = [str(name) for name in records[0]["view_names"]]
    importance = np.mean([record["view_importance"] for record in records], axis=0)
    weights = np.mean([record["mixing_weights"] for record in records], axis=0)
    largest = float(weights.max()) or 1.0
    return [
        bars(
            f"{title}: view importance",
            views,
            [Series("share", importance.tolist())],
            description="Share of each view; all shares add up to one.",
            form=".1%",
        ),
        heat_map(
            f"{title}: mixing weights",
            weights / largest,
            views,
            views,
            axes=("mixture", "view"),
            texts=[[f"{value:.2f}" for value in line] for line in weights],
            tips=[
                [
                    f"{view} in the mixture of {mixture}\n{value:.3f}"
                    for view, value in zip(views, line, strict=True)
                ]
                for mixture, line in zip(views, weights, strict=True)
            ],
            description="Share of each view, in columns, in each mixture, in rows.",
        ),
    ]


def graph_charts(title: str, records: Records) -> list[Html]:
    """Draw the graph after each stage, of the first seed, samples sorted by class."""
    record = records[0]
    tiles = {stage: np.array(record["graphs"][stage]) for stage in STAGES}
    largest = max(float(tile.max()) for tile in tiles.values()) or 1.0
    drawn, told = [], []
    for number, (stage, tile) in enumerate(tiles.items()):
        n_edges = record.get("graph_edges", {}).get(stage)
        name = stage if n_edges is None else f"{stage}, {n_edges:,} edges"
        share = float(tile.sum() / (tiles["fused"].sum() or 1.0))
        left = number * (SIDE + GAP)
        told.append(name)
        drawn.append(label(name, left, 12, "start"))
        tip = f"{title}, {name}\n{share:.0%} of the fused graph's weight"
        drawn.append(element("g", _tiles(tile / largest, left), data_tip=tip))
    description = f"{'; '.join(told)}. Weights summed in tiles, samples sorted by class."
    size = (len(STAGES) * (SIDE + GAP) - GAP, SIDE + TOP)
    return [chart(title, join(*drawn), size=size, description=description, kind="map")]


def _tiles(shares: np.ndarray, left: float) -> Html:
    """Draw tiles, one path a level of color; the root lifts small weights."""
    size = SIDE / len(shares)
    levels = np.ceil(np.sqrt(shares) * N_LEVELS).astype(int)
    paths = [element("rect", x=left, y=TOP, width=SIDE, height=SIDE, class_="hit")]
    square = f"h{size:.3g}v{size:.3g}h-{size:.3g}z"
    for level in range(1, N_LEVELS + 1):
        rows, columns = np.nonzero(levels == level)
        d = "".join(
            f"M{left + column * size:.4g} {TOP + row * size:.4g}{square}"
            for row, column in zip(rows.tolist(), columns.tolist(), strict=True)
        )
        if d:
            opacity = f"{level / N_LEVELS:.2f}"
            paths.append(element("path", d=d, class_="hit-cell", fill_opacity=opacity))
    return join(*paths)


def _mean_curve(
    curves: Sequence[Mapping[str, Any]], key: str, chosen: np.ndarray, scale: float
) -> list[float]:
    values = np.array([np.asarray(curve[key], dtype=float)[chosen] for curve in curves])
    return [float(value) for value in scale * values.mean(axis=0)]
