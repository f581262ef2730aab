"""Axes of a display: new ones, those of the user, or one that is divided."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from manyview.errors import InputError
from manyview.report.figures.write import need_matplotlib
from manyview.report.svg.axes import shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plain(name: object, n_letters: int = 24) -> str:
    r"""Return a name as matplotlib shows it unchanged, shortened where it is long.

    Dollar signs would start a formula, and a legend leaves out what starts with an underscore.

    Examples
    --------
    >>> plain("US$"), plain("_rest")
    ('US\\$', ' _rest')
    """
    text = shorten(str(name), n_letters).replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


def one_axes(ax: Any) -> "Axes":
    """Return the axes to draw on; those of a new figure where `ax` is None."""
    need_matplotlib()
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(layout="constrained")
    drawn: Axes = ax
    return drawn


def several_axes(ax: Any, n_axes: int, *, stacked: bool = False) -> "list[Axes]":
    """Return as many axes: of a new figure, parts of the given axes, or those of a list.

    They stand beside each other, or above each other where they are stacked.
    """
    need_matplotlib()
    import matplotlib.pyplot as plt
    from matplotlib.axes import Axes
    from matplotlib.gridspec import GridSpecFromSubplotSpec

    n_rows, n_columns = (n_axes, 1) if stacked else (1, n_axes)
    if ax is None:
        size = (6.4, 2.4 * n_rows) if stacked else (3.1 * n_columns, 3.9)
        _, grid = plt.subplots(n_rows, n_columns, figsize=size, layout="constrained", squeeze=False)
        return list(grid.flat)
    if isinstance(ax, Axes):
        place = ax.get_subplotspec()
        if place is None or ax.figure is None:
            raise InputError(
                f"ax must be one axes of a grid of subplots, which is divided in {n_axes}, or a "
                f"list of {n_axes}; got axes at a free position. Create it with plt.subplots()."
            )
        ax.set_axis_off()
        parts = GridSpecFromSubplotSpec(n_rows, n_columns, subplot_spec=place)
        return [ax.figure.add_subplot(parts[number]) for number in range(n_axes)]
    given = list(np.ravel(np.asarray(ax, dtype=object))) if isinstance(ax, Iterable) else []
    if len(given) != n_axes:
        raise InputError(
            f"ax must be one axes, or a list of {n_axes}; got {len(given)}. "
            f"Create them with plt.subplots(1, {n_axes})."
        )
    return given
