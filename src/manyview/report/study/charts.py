"""Charts of a study for its page, one per data set, with a tooltip for every number."""

from collections.abc import Sequence
from statistics import fmean

import numpy as np
from markupsafe import Markup

from manyview.experiments.plan import Entry, Plan
from manyview.report.html.markup import element, join
from manyview.report.study.results import (
    METRICS,
    OWN_METHODS,
    Result,
    Results,
    dataset_title,
    is_own,
    value_title,
)
from manyview.report.study.series import (
    Curve,
    GridMap,
    Records,
    dot_panels,
    epoch_curves,
    graph_tiles,
    grid_curves,
    grid_maps,
    mean_weights,
    ratio_curves,
)
from manyview.report.study.table import mean_text
from manyview.report.svg.axes import N_COLORS, chart, hit_area, label
from manyview.report.svg.charts import Series, bars, lines
from manyview.report.svg.dots import Dot, DotRow, dot_chart
from manyview.report.svg.heat_map import heat_map

MAX_BANDS = 2  # lines up to which their standard deviation is drawn
MAX_PLACES = 60  # of a training curve, to keep the page small
N_LEVELS = 8
SIDE, GAP, TOP = 280, 20, 20


def method_charts(plan: Plan, entries: Sequence[Entry], results: Results) -> list[Markup]:
    """Draw one dot per method with its standard deviation, and the paper's value as a cross."""
    titles, panels = dot_panels(plan, entries, results)
    return [
        dot_chart(
            panel.title,
            titles,
            [
                DotRow(entry.title, list(map(_dot, found)), is_strong=is_own(entry))
                for entry, found in panel.rows
            ],
            x_name="accuracy (%)",
            description=f"Accuracy of {len(panel.rows)} methods on {panel.title}.",
        )
        for panel in panels
    ]


def ratio_charts(plan: Plan, entries: Sequence[Entry], results: Results) -> list[Markup]:
    """Draw accuracy by label ratio, one line per method; the best where there are many."""
    chosen = _best(entries, results)
    n_left = len(entries) - len(chosen)
    charts = []
    for protocol in plan.protocols:
        for name, curves in ratio_curves(plan, chosen, results, [protocol]).items():
            title = dataset_title(name)
            title += f", {protocol}" if len(plan.protocols) > 1 else ""
            note = f"{n_left} methods with a lower mean are in the table" if n_left else ""
            what = f"Accuracy of {len(curves)} methods by the fraction of labeled samples."
            charts.append(_line_chart(title, curves, "labeled samples (%)", what, note))
    return charts


def grid_charts(plan: Plan, entry: Entry, results: Results) -> list[Markup]:
    """Draw accuracy over an entry's grid: lines for one parameter, a map for two."""
    if len(entry.grid) == 2:
        maps = grid_maps(plan, entry, results)
        return [_grid_map(one) for one in maps if np.isfinite(one.means).any()]
    by_dataset, names = grid_curves(plan, [entry], results)
    (parameter,) = entry.grid
    note = f"In order: {', '.join(names)}" if names else ""
    what = f"Accuracy of {entry.title} by {parameter}."
    return [
        _line_chart(dataset_title(name), curves, parameter, what, note)
        for name, curves in by_dataset.items()
    ]


def _line_chart(
    title: str, curves: Sequence[Curve], x_name: str, description: str, note: str
) -> Markup:
    has_bands = len(curves) <= MAX_BANDS
    return lines(
        title,
        curves[0].places,
        [_series(curve, has_bands) for curve in curves],
        x_name=x_name,
        description=description,
        form=".1f",
        from_zero=False,
        note=note,
    )


def _series(curve: Curve, has_band: bool) -> Series:
    means, stds = np.array(curve.means), np.array(curve.stds)
    if not has_band or not stds.any():
        return Series(curve.title, curve.means)
    return Series(curve.title, curve.means, (means - stds).tolist(), (means + stds).tolist())


def _grid_map(one: GridMap) -> Markup:
    (first, second), means = one.names, one.means
    rows, columns = ([value_title(value) for value in values] for values in one.values)
    low, high = np.nanmin(means), np.nanmax(means)
    tips = [
        [
            f"{first} {y}, {second} {x}\n{_result_text(result)}"
            for x, result in zip(columns, line, strict=True)
        ]
        for y, line in zip(rows, one.results, strict=True)
    ]
    return heat_map(
        one.title,
        (means - low) / ((high - low) or 1.0),
        rows,
        columns,
        axes=(first, second),
        texts=[[f"{mean:.1f}" if np.isfinite(mean) else "" for mean in line] for line in means],
        tips=tips,
        description=f"Accuracy from {low:.1f}% to {high:.1f}% by {first} and {second}.",
        note=f"accuracy (%), from {low:.1f} (light) to {high:.1f} (dark)",
    )


def _dot(result: Result | None) -> Dot | None:
    if result is None:
        return None
    paper = None if result.paper is None else result.paper[0]
    return Dot(result.mean, result.std or 0.0, paper, _result_text(result))


def _result_text(result: Result | None) -> str:
    if result is None:
        return "not planned"
    accuracy = METRICS["accuracy"]
    text = mean_text(result.mean, result.std, accuracy) if result.by_seed else ""
    paper = f"paper {mean_text(*result.paper, accuracy)}" if result.paper else ""
    return ", ".join(filter(None, [text, result.shortfall, paper])) or "not run"


def _best(entries: Sequence[Entry], results: Results) -> list[Entry]:
    """Choose as many entries as there are colors: ours first, then those with the best mean."""
    means: dict[str, list[float]] = {}
    for cell, result in results.items():
        if result.mean is not None and not cell.point:
            means.setdefault(cell.entry, []).append(result.mean)

    def place(entry: Entry) -> tuple[int, float]:
        own = OWN_METHODS.index(entry.name) if is_own(entry) else len(OWN_METHODS)
        return own, -fmean(means[entry.name])

    return sorted((entry for entry in entries if entry.name in means), key=place)[:N_COLORS]


def curve_charts(title: str, records: Records) -> list[Markup]:
    """Draw accuracy and loss by epoch, as means over the seeds."""
    found = {
        "labeled samples": epoch_curves(records, "labeled_accuracy")[1],
        "hidden labels": epoch_curves(records, "test_accuracy")[1],
    }
    accuracy = {name: curve for name, curve in found.items() if len(curve)}
    charts = []
    if accuracy:
        ends = ", ".join(f"{curve[-1]:.1f}% on the {name}" for name, curve in accuracy.items())
        what = f"Final accuracy: {ends}."
        charts.append(_epoch_chart(f"{title}: accuracy (%)", accuracy, what, ".1f", False))
    loss = epoch_curves(records, "loss")[1]
    what = f"From {loss[0]:.3g} to {loss[-1]:.3g}."
    return [*charts, _epoch_chart(f"{title}: loss", {"loss": loss}, what, ".3g", True)]


def _epoch_chart(
    title: str, curves: dict[str, np.ndarray], description: str, form: str, from_zero: bool
) -> Markup:
    n_epochs = min(map(len, curves.values()))
    n_places = min(n_epochs, MAX_PLACES)
    chosen = np.unique(np.linspace(0, n_epochs - 1, n_places).round().astype(int))
    return lines(
        title,
        (chosen + 1).tolist(),
        [Series(name, curve[chosen].tolist()) for name, curve in curves.items()],
        x_name="epoch",
        description=description,
        form=form,
        from_zero=from_zero,
    )


def weight_charts(title: str, records: Records) -> list[Markup]:
    """Draw the importance of each view, and the weight of every view in every mixture."""
    views, importance, weights = mean_weights(records)
    return [
        bars(
            f"{title}: view importance",
            views,
            [Series("importance", importance.tolist())],
            description="Weight of each view; the weights sum to 100%.",
            form=".1%",
        ),
        heat_map(
            f"{title}: mixing weights",
            weights / (float(weights.max()) or 1.0),
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
            description="Weight of each view (columns) in each mixture (rows).",
        ),
    ]


def graph_charts(title: str, records: Records) -> list[Markup]:
    """Draw the graph after each stage, for the first seed, with samples sorted by class."""
    tiles, n_edges, largest = graph_tiles(records)
    total = tiles["fused"].sum() or 1.0
    drawn, names = [], []
    for number, (stage, tile) in enumerate(tiles.items()):
        name = f"{stage}, {n_edges[stage]:,} edges" if stage in n_edges else stage
        left = number * (SIDE + GAP)
        names.append(name)
        drawn.append(label(name, left, 12, "start"))
        tip = f"{title}, {name}\n{tile.sum() / total:.0%} of the fused graph's weight"
        drawn.append(element("g", _tiles(tile / largest, left), data_tip=tip))
    description = f"{'; '.join(names)}. Edge weights summed in tiles, samples sorted by class."
    size = (len(tiles) * (SIDE + GAP) - GAP, SIDE + TOP)
    return [chart(title, join(*drawn), size=size, description=description, kind="map")]


def _tiles(values: np.ndarray, left: float) -> Markup:
    """Draw tiles in [0, 1], one path per level of opacity; the square root lifts small values."""
    size = SIDE / len(values)
    levels = np.ceil(np.sqrt(values) * N_LEVELS).astype(int)
    paths = [hit_area(left, TOP, SIDE, SIDE)]
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
