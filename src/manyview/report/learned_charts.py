"""Charts of what trials kept, for a study's page: curves, weights of views, graphs."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from manyview.report.charts import Series, bars, lines
from manyview.report.heat_maps import heat_map
from manyview.report.markup import Html, element, join
from manyview.report.svg import chart, label

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
    """Draw tiles, one path a level of colour; the root lifts small weights."""
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
