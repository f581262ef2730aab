"""The style of all figures: for print, color-blind readers and black-and-white copies.

Series differ by marker and dashes as well as by color.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib import colormaps, rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from manyview.report.study.series import Curve

WIDTH = 7.2  # inches, the text width of a two-column page
INK, GRAY, PALE = "#222222", "#777777", "#E4E4E4"
OWN_COLOR = "#D55E00"
COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#7A5C1E", "#6B6B6B")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "h", "*", "d", "8")
DASHES: tuple[Any, ...] = ("-", (0, (4, 1.6)), (0, (1.2, 1.2)))
OWN_LOOKS = (("o", DASHES[0]), ("D", DASHES[1]))  # marker and dashes of our methods
SEQUENCE = "cividis"  # monotone in lightness, also for color-blind readers and in gray
STYLE: Any = {
    "font.family": "DejaVu Sans",  # part of matplotlib, so all machines draw the same
    "mathtext.fontset": "dejavusans",
    "font.size": 7.5,
    "axes.titlesize": 8,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 7.5,
    "axes.labelcolor": INK,
    "axes.edgecolor": GRAY,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": PALE,
    "grid.linewidth": 0.6,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "xtick.color": GRAY,
    "ytick.color": GRAY,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "legend.frameon": False,
    "legend.fontsize": 7,
    "legend.handlelength": 2.6,
    "lines.linewidth": 1.1,
    "lines.markersize": 3.6,
    "savefig.dpi": 300,
    "figure.dpi": 100,
    "svg.hashsalt": "manyview",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
}


@dataclass(frozen=True)
class Look:
    """The look of one series."""

    color: str
    marker: str
    dashes: Any
    is_own: bool = False

    def line(self) -> dict[str, Any]:
        """Return the look as keyword arguments of `plot`."""
        return {
            "color": self.color,
            "marker": self.marker,
            "linestyle": self.dashes,
            "linewidth": 1.9 if self.is_own else 1.0,
            "markersize": 4.6 if self.is_own else 3.3,
            "markeredgecolor": "white",
            "markeredgewidth": 0.4,
            "zorder": 4 if self.is_own else 3,
        }


def looks(are_own: Sequence[bool]) -> list[Look]:
    """Give every series its own look; our methods, at most two of them, stand out."""
    given, n_others = [], 0
    own = iter(OWN_LOOKS if are_own.count(True) <= len(OWN_LOOKS) else ())
    for is_own in are_own:
        look = next(own, None) if is_own else None
        if look is not None:
            given.append(Look(OWN_COLOR, *look, is_own=True))
            continue
        marker = MARKERS[1 + n_others % (len(MARKERS) - 1)]
        dashes = DASHES[n_others // len(COLORS) % len(DASHES)]
        given.append(Look(COLORS[n_others % len(COLORS)], marker, dashes))
        n_others += 1
    return given


def n_columns_for(n_panels: int, choices: Sequence[int] = (3, 4, 2)) -> int:
    """Choose the number of panels per row that leaves the fewest empty places.

    Examples
    --------
    >>> [n_columns_for(n) for n in (1, 2, 3, 4, 5, 6, 7, 8, 9)]
    [1, 2, 3, 4, 3, 3, 4, 4, 3]
    """
    if n_panels <= min(choices):
        return max(n_panels, 1)
    return min(choices, key=lambda n: (-n_panels % n, choices.index(n)))


def panels(
    n_panels: int,
    *,
    choices: Sequence[int] = (3, 4, 2),
    height: float = 1.9,
    extra: float = 0.0,
    share_y: bool = False,
) -> tuple[Figure, list[Axes]]:
    """Return a figure with panels of equal height, in inches; the rest of a row stays empty."""
    n_columns = n_columns_for(n_panels, choices)
    n_rows = -(-n_panels // n_columns)
    width = WIDTH if n_columns > 1 else WIDTH * 0.6
    with rc_context(STYLE):
        figure = Figure(figsize=(width, n_rows * height + extra), layout="constrained")
        grid = figure.subplots(n_rows, n_columns, squeeze=False, sharey=share_y)
    axes = list(grid.flat)
    for empty in axes[n_panels:]:
        empty.remove()
    return figure, axes[:n_panels]


def legend_below(figure: Figure, axes: Axes, n_columns: int, last: str = "") -> None:
    """Draw one legend for all panels; the series named `last` comes last."""
    handles, names = axes.get_legend_handles_labels()
    pairs = sorted(zip(names, handles, strict=True), key=lambda pair: pair[0] == last)
    if len(pairs) > 1:
        figure.legend(
            [handle for _, handle in pairs],
            [name for name, _ in pairs],
            loc="outside lower center",
            ncols=min(n_columns, len(pairs)),
        )


def draw_map(
    ax: Axes,
    values: np.ndarray,
    form: str,
    *,
    from_zero: bool = False,
    frame_best: bool = False,
) -> None:
    """Draw a matrix as colors with its numbers; missing cells are hatched.

    Colors range from the lowest number, or from 0, to the highest.
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


def draw_curve(ax: Axes, curve: Curve, style: Mapping[str, Any], *, has_band: bool = True) -> None:
    """Draw the means of a curve, and the standard deviations as a band."""
    mean, std = np.array(curve.means), np.array(curve.stds)
    here = np.isfinite(mean)
    x, mean, std = np.array(curve.places)[here], mean[here], std[here]
    ax.plot(x, mean, label=curve.title, **style)
    if has_band and here.any():
        draw_band(ax, x, mean - std, mean + std, style["color"])


def draw_band(ax: Axes, x: np.ndarray, low: np.ndarray, high: np.ndarray, color: Any) -> None:
    """Draw an interval along an axis as a band behind its line."""
    ax.fill_between(x, low, high, color=color, alpha=0.16, linewidth=0, zorder=1)
