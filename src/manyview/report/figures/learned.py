"""Figures of what was learned: training curves, view weights and graphs."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.colors import PowerNorm
from matplotlib.figure import Figure
from matplotlib.image import AxesImage

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
from manyview.report.study.series import Records, epoch_curves, graph_tiles, mean_weights
from manyview.report.svg.axes import shorten

ByTitle = Mapping[str, Records]
CURVES = (  # name in the record, in the legend, color, dashes
    ("labeled_accuracy", "accuracy on the labeled samples", COLORS[0], (0, (4, 1.6))),
    ("test_accuracy", "accuracy on the hidden labels", OWN_COLOR, "-"),
)
LOSS_COLOR = COLORS[2]
STAGES = {
    "fused": r"fused, $A_f$",
    "refined": r"refined, $\hat{A}$",
    "selected": r"selected, $A_{select}$",
}


def convergence_figure(records: ByTitle) -> Figure:
    """Draw accuracy and loss by epoch, one column per data set: seeds thin, their mean bold."""
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
                draw_epochs(above, *epoch_curves(group, key), name, color, dashes)
            draw_epochs(below, *epoch_curves(group, "loss"), "loss", LOSS_COLOR, "-")
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


def weights_figure(records: ByTitle) -> Figure:
    """Draw the weights of every mixture as a map, and the importance of each view above it."""
    most = n_columns_for(len(records))
    n_rows = -(-len(records) // most)
    with rc_context(STYLE):
        figure = Figure(figsize=(WIDTH * max(0.5, most / 4), 3.3 * n_rows), layout="constrained")
        grid = figure.subplots(2 * n_rows, most, squeeze=False, height_ratios=[1, 2] * n_rows)
        for number, (title, group) in enumerate(records.items()):
            row, column = divmod(number, most)
            above, below = grid[2 * row, column], grid[2 * row + 1, column]
            names, importance, weights = mean_weights(group)
            views = [f"{n} {shorten(name, 16)}" for n, name in enumerate(names, 1)]
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
                above.set_ylabel(r"importance $\alpha$ (%)")
                below.set_ylabel("mixture $w$")
        _remove_rest(grid, len(records))
    return figure


def graphs_figure(records: ByTitle) -> Figure:
    """Draw the graph after each stage, samples sorted by class: one row per data set."""
    with rc_context(STYLE):
        figure = Figure(figsize=(WIDTH * 0.92, 2.3 * len(records) + 0.2), layout="constrained")
        grid = figure.subplots(len(records), len(STAGES), squeeze=False)
        for row, (title, group) in enumerate(records.items()):
            tiles, n_edges, largest = graph_tiles(group)
            for column, (stage, tile) in enumerate(tiles.items()):
                ax = grid[row, column]
                image = draw_tiles(ax, tile, largest)
                n_text = f": {n_edges[stage]:,} edges" if stage in n_edges else ""
                ax.set_title(STAGES[stage] + n_text, fontweight="normal")
                if column == 0:
                    ax.set_ylabel(title, fontweight="bold")
            bar = figure.colorbar(image, ax=list(grid[row]), shrink=0.8, pad=0.01)
            bar.outline.set_visible(False)
            bar.set_label("weight per tile")
    return figure


def draw_epochs(
    ax: Axes, curves: Sequence[np.ndarray], mean: np.ndarray, name: str, color: str, dashes: Any
) -> None:
    """Draw curves by epoch thin, and their mean bold."""
    if not curves:
        return
    if len(curves) > 1:
        for one in curves:
            ax.plot(
                np.arange(1, len(one) + 1), one, color=color, linewidth=0.5, alpha=0.35, zorder=2
            )
    epochs = np.arange(1, len(mean) + 1)
    ax.plot(epochs, mean, color=color, linewidth=1.4, linestyle=dashes, label=name, zorder=3)


def draw_tiles(ax: Axes, tiles: np.ndarray, largest: float, **options: Any) -> AxesImage:
    """Draw the weights of a graph, summed in tiles; `largest` has the darkest color.

    `options` are those of `imshow`.
    """
    norm = PowerNorm(0.5, vmin=0, vmax=largest)
    look: dict[str, Any] = {"cmap": "Greys", "norm": norm, "interpolation": "nearest"}
    image = ax.imshow(tiles, **(look | options))
    ax.grid(visible=False)
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set(visible=True, color=GRAY)
    return image


def _remove_rest(grid: np.ndarray, n_used: int) -> None:
    """Remove the pairs of panels that stayed empty."""
    n_columns = grid.shape[1]
    for number in range(n_used, grid.size // 2):
        row, column = divmod(number, n_columns)
        grid[2 * row, column].remove()
        grid[2 * row + 1, column].remove()
