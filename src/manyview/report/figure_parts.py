"""Parts of figures: a line with its band, a map of numbers."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from manyview.experiments.plan import Cell
from manyview.report.figure_style import INK, OWN_COLOR, PALE, SEQUENCE
from manyview.report.results import Result

Results = Mapping[Cell, Result]


def draw_map(
    ax: Axes,
    values: np.ndarray,
    form: str,
    *,
    from_zero: bool = False,
    frame_best: bool = False,
) -> None:
    """Draw numbers as colours with the numbers in them; what is missing is hatched.

    Colours run from the lowest number, or from 0, to the highest.
    """
    shown = values[np.isfinite(values)]
    low, high = (float(shown.min()), float(shown.max())) if len(shown) else (0.0, 1.0)
    low = 0.0 if from_zero else low
    ax.imshow(values, cmap=SEQUENCE, vmin=low, vmax=high if high > low else low + 1, aspect="auto")
    ax.grid(visible=False)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    colors = colormaps[SEQUENCE]
    for (row, column), value in np.ndenumerate(values):
        if not np.isfinite(value):
            box = Rectangle((column - 0.5, row - 0.5), 1, 1, hatch="////", facecolor="white")
            box.set(edgecolor=PALE, linewidth=0)
            ax.add_patch(box)
            continue
        red, green, blue, _ = colors((value - low) / ((high - low) or 1.0))
        is_light = 0.3 * red + 0.59 * green + 0.11 * blue > 0.5
        ax.text(
            column, row, format(value, form), ha="center", va="center", fontsize=5.6,
            color=INK if is_light else "white",
        )  # fmt: skip
    if frame_best and len(shown) > 1:
        row, column = np.unravel_index(np.nanargmax(values), values.shape)
        frame = Rectangle(
            (float(column) - 0.5, float(row) - 0.5), 1, 1, fill=False, zorder=5, clip_on=False
        )
        frame.set(edgecolor=OWN_COLOR, linewidth=1.6)
        ax.add_patch(frame)


def draw_line(
    ax: Axes,
    found: Sequence[tuple[float, Result | None]],
    style: Mapping[str, Any],
    title: str,
    *,
    has_band: bool = True,
) -> None:
    """Draw the means of results at their places, and their deviation as a band."""
    here = [(x, r.mean, r.std or 0.0) for x, r in found if r is not None and r.mean is not None]
    if not here:
        ax.plot([], [], label=title, **style)
        return
    x, mean, std = (np.array(part) for part in zip(*here, strict=True))
    ax.plot(x, mean, label=title, **style)
    if has_band:
        ax.fill_between(
            x, mean - std, mean + std, color=style["color"], alpha=0.16, linewidth=0, zorder=1
        )
