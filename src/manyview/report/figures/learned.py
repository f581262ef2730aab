"""Figures of what was learned: curves of the training, weights of views, graphs."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.colors import PowerNorm
from matplotlib.figure import Figure

from manyview.report.figures.style import (
    COLORS,
    GRAY,
    INK,
    OWN_COLOR,
    STYLE,
    WIDTH,
    draw_map,
    legend_below,
    n_columns_for,
)

Records = Mapping[str, Sequence[Mapping[str, Any]]]
CURVES = (  # name in the record, in the legend, color, dashes
    ("labeled_accuracy", "accuracy on the labeled samples", COLORS[0], (0, (4, 1.6))),
    ("test_accuracy", "accuracy on the hidden labels", OWN_COLOR, "-"),
)
STAGES = (
    ("fused", r"fused, $A_f$"),
    ("refined", r"refined, $\hat{A}$"),
    ("selected", r"selected, $A_{select}$"),
)


def convergence_figure(records: Records) -> Figure:
    """Draw accuracy and loss by epoch, a column a data set: every seed thin, their mean strong."""
    most = n_columns_for(len(records), (4, 3, 2))
    n_rows = -(-len(records) // most)
    with rc_context(STYLE):
        figure = Figure(
            figsize=(WIDTH * max(0.5, most / 4), 2.5 * n_rows + 0.3), layout="constrained"
        )
        ratios = [1.5, 1] * n_rows
        grid = figure.subplots(2 * n_rows, most, squeeze=False, height_ratios=ratios)
        for number, (title, group) in enumerate(records.items()):
            row, column = divmod(number, most)
            above, below = grid[2 * row, column], grid[2 * row + 1, column]
            for key, name, color, dashes in CURVES:
                curves = [record["curve"].get(key) or [] for record in group]
                _curves(above, [[100 * v for v in one] for one in curves], name, color, dashes)
            _curves(below, [one["curve"]["loss"] for one in group], "loss", COLORS[2], "-")
            below.set_ylim(bottom=0)
            above.set_title(title)
            above.tick_params(labelbottom=False)
            below.set_xlabel("epoch")
            if column == 0:
                above.set_ylabel("accuracy (%)")
                below.set_ylabel("loss")
        _remove_rest(grid, len(records))
        legend_below(figure, grid[0, 0], 2 if most > 1 else 1)
    return figure


def weights_figure(records: Records) -> Figure:
    """Draw the weights of every mixture as a map, and above it each view's share of all."""
    most = n_columns_for(len(records))
    n_rows = -(-len(records) // most)
    with rc_context(STYLE):
        figure = Figure(figsize=(WIDTH * max(0.5, most / 4), 3.3 * n_rows), layout="constrained")
        grid = figure.subplots(2 * n_rows, most, squeeze=False, height_ratios=[1, 2] * n_rows)
        for number, (title, group) in enumerate(records.items()):
            row, column = divmod(number, most)
            above, below = grid[2 * row, column], grid[2 * row + 1, column]
            views = [f"{n} {_short(name)}" for n, name in enumerate(group[0]["view_names"], 1)]
            importance = np.mean([record["view_importance"] for record in group], axis=0)
            weights = np.mean([record["mixing_weights"] for record in group], axis=0)
            places = np.arange(len(views))
            bars = above.bar(places, 100 * importance, width=0.72, color=COLORS[0])
            above.bar_label(bars, fmt="%.0f", fontsize=6, padding=1, color=INK)
            above.set_title(title)
            above.grid(visible=False, axis="x")
            above.set(xlim=(-0.5, len(views) - 0.5), ylim=(0, 118 * float(importance.max())))
            above.tick_params(axis="x", length=0, labelbottom=False)
            draw_map(below, weights, ".2f", from_zero=True)
            below.set_xticks(places, views, rotation=40, ha="right", rotation_mode="anchor")
            below.set_yticks(places, map(str, range(1, len(views) + 1)))
            if column == 0:
                above.set_ylabel(r"share $\alpha$ (%)")
                below.set_ylabel("mixture $w$")
        _remove_rest(grid, len(records))
    return figure


def graphs_figure(records: Records) -> Figure:
    """Draw the graph after each stage, samples sorted by class: a row a data set."""
    with rc_context(STYLE):
        figure = Figure(figsize=(WIDTH * 0.92, 2.3 * len(records) + 0.2), layout="constrained")
        grid = figure.subplots(len(records), len(STAGES), squeeze=False)
        for row, (title, group) in enumerate(records.items()):
            record = group[0]
            tiles = [np.array(record["graphs"][stage]) for stage, _ in STAGES]
            norm = PowerNorm(0.5, vmin=0, vmax=float(max(tile.max() for tile in tiles)) or 1.0)
            for column, ((stage, name), tile) in enumerate(zip(STAGES, tiles, strict=True)):
                ax = grid[row, column]
                image = ax.imshow(tile, cmap="Greys", norm=norm, interpolation="nearest")
                ax.grid(visible=False)
                ax.set(xticks=[], yticks=[])
                ax.spines[:].set(visible=True, color=GRAY)
                n_edges = record.get("graph_edges", {}).get(stage)
                n_text = "" if n_edges is None else f": {n_edges:,} edges"
                ax.set_title(name + n_text, fontweight="normal")
                if column == 0:
                    ax.set_ylabel(title, fontweight="bold")
            bar = figure.colorbar(image, ax=list(grid[row]), shrink=0.8, pad=0.01)
            bar.outline.set_visible(False)
            bar.set_label("weight in a tile")
    return figure


def _curves(
    ax: Axes, curves: Sequence[Sequence[float]], name: str, color: str, dashes: Any
) -> None:
    curves = [one for one in curves if len(one)]
    if not curves:
        return
    if len(curves) > 1:
        for one in curves:
            ax.plot(
                np.arange(1, len(one) + 1), one, color=color, linewidth=0.5, alpha=0.35, zorder=2
            )
    n_common = min(map(len, curves))
    mean = np.mean([one[:n_common] for one in curves], axis=0)
    epochs = np.arange(1, n_common + 1)
    ax.plot(epochs, mean, color=color, linewidth=1.4, linestyle=dashes, label=name, zorder=3)


def _remove_rest(grid: np.ndarray, n_used: int) -> None:
    """Take away pairs of panels, one above the other, that nothing was drawn in."""
    n_columns = grid.shape[1]
    for number in range(n_used, grid.size // 2):
        row, column = divmod(number, n_columns)
        grid[2 * row, column].remove()
        grid[2 * row + 1, column].remove()


def _short(name: str) -> str:
    return name if len(name) <= 16 else f"{name[:15]}…"
