"""Figures that compare methods: dots with standard deviation, and lines by label ratio."""

from collections.abc import Sequence
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from manyview.experiments.plan import Entry, Plan
from manyview.report.figures.style import (
    COLORS,
    GRAY,
    INK,
    OWN_COLOR,
    STYLE,
    draw_curve,
    draw_map,
    legend_below,
    looks,
    n_columns_for,
    panels,
)
from manyview.report.study.results import Result, Results, dataset_title, is_own, value_title
from manyview.report.study.series import dot_panels, grid_curves, grid_maps, ratio_curves

SERIES_LOOKS = (  # color, marker, whether it is filled
    (COLORS[0], "o", True),
    (OWN_COLOR, "s", False),
    (COLORS[2], "^", True),
    (GRAY, "D", False),
)
PAPER = "paper"
PAPER_LOOK: dict[str, Any] = {
    "linestyle": "",
    "marker": "x",
    "markersize": 3.4,
    "markeredgewidth": 0.8,
    "color": INK,
    "alpha": 0.75,
    "zorder": 2,
}


def dot_figure(plan: Plan, entries: Sequence[Entry], results: Results) -> Figure:
    """Draw one dot per method with its standard deviation, one panel per data set.

    A cross marks the paper's value.
    """
    titles, found = dot_panels(plan, entries, results)
    height = 0.62 + 0.145 * len(entries) * max(1.0, 0.6 * len(titles))
    figure, axes = panels(len(found), height=height, extra=0.3, share_y=True)
    n_columns = n_columns_for(len(found))
    with rc_context(STYLE):
        for number, (ax, panel) in enumerate(zip(axes, found, strict=True)):
            for series, title in enumerate(titles):
                shift = (series - (len(titles) - 1) / 2) * (0.56 / len(titles))
                rows = [
                    (at + shift, result)
                    for at, (_, in_row) in enumerate(panel.rows)
                    if (result := in_row[series]) is not None
                ]
                _dots(ax, rows, SERIES_LOOKS[series % len(SERIES_LOOKS)], title)
            for at, (_, in_row) in enumerate(panel.rows):
                if any(r and r.failures for r in in_row) and not any(
                    r and r.by_seed for r in in_row
                ):
                    ax.text(
                        0.01, at, "failed", transform=ax.get_yaxis_transform(), va="center",
                        fontsize=6, color=GRAY, style="italic",
                    )  # fmt: skip
            ax.set_title(panel.title)
            ax.set_yticks(range(len(entries)), [entry.title for entry in entries])
            ax.set_ylim(len(entries) - 0.4, -0.6)
            ax.tick_params(axis="y", length=0)
            ax.spines["left"].set_visible(False)
            for tick, entry in zip(ax.get_yticklabels(), entries, strict=False):
                tick.set_fontweight("bold" if is_own(entry) else "normal")
            if number + n_columns >= len(found):
                ax.set_xlabel("accuracy (%)")
        if any(result.paper for result in results.values()):
            axes[0].plot([], [], label=PAPER, **PAPER_LOOK)
        legend_below(figure, axes[0], 5, last=PAPER)
    return figure


def _dots(
    ax: Axes, rows: Sequence[tuple[float, Result]], look: tuple[str, str, bool], title: str
) -> None:
    color, marker, is_filled = look
    ours = [(at, r.mean, r.std or 0.0) for at, r in rows if r.mean is not None]
    ax.errorbar(
        [mean for _, mean, _ in ours],
        [at for at, _, _ in ours],
        xerr=[std for _, _, std in ours],
        fmt=marker,
        color=color,
        markerfacecolor=color if is_filled else "white",
        markersize=4,
        markeredgewidth=0.9,
        elinewidth=0.9,
        zorder=3,
        label=title,
    )
    paper = [(at, r.paper[0]) for at, r in rows if r.paper is not None]
    ax.plot([mean for _, mean in paper], [at for at, _ in paper], **PAPER_LOOK)


def ratio_figure(plan: Plan, entries: Sequence[Entry], results: Results) -> Figure:
    """Draw accuracy by label ratio: one line per method, one panel per data set."""
    by_dataset = ratio_curves(plan, entries, results, plan.protocols)
    first = next(iter(by_dataset.values()))
    given = looks([curve.is_own for curve in first])
    n_rows = -(-len(first) // 5)
    figure, axes = panels(len(by_dataset), height=2.0, extra=0.2 + 0.14 * n_rows)
    with rc_context(STYLE):
        for ax, (name, curves) in zip(axes, by_dataset.items(), strict=True):
            for curve, look in zip(curves, given, strict=True):
                draw_curve(ax, curve, look.line(), has_band=look.is_own)
            ax.set_title(dataset_title(name))
            ax.set_xlabel("labeled samples (%)")
            ax.set_ylabel("accuracy (%)")
        legend_below(figure, axes[0], 5)
    return figure


def grid_lines_figure(plan: Plan, entries: Sequence[Entry], results: Results) -> Figure:
    """Draw accuracy by one parameter: one panel per data set, standard deviations as bands."""
    by_dataset, names = grid_curves(plan, entries, results)
    n_series = len(next(iter(by_dataset.values())))
    given = looks([number == 0 for number in range(n_series)])
    figure, axes = panels(len(by_dataset), height=1.85, extra=0.25 if n_series > 1 else 0.0)
    with rc_context(STYLE):
        for ax, (name, curves) in zip(axes, by_dataset.items(), strict=True):
            for curve, look in zip(curves, given, strict=True):
                draw_curve(ax, curve, look.line())
            if names:
                ax.set_xticks(range(len(names)), names)
            ax.set_title(dataset_title(name))
            ax.set_xlabel(_symbol(next(iter(entries[0].grid))))
            ax.set_ylabel("accuracy (%)")
        legend_below(figure, axes[0], 4)
    return figure


def grid_map_figure(plan: Plan, entry: Entry, results: Results) -> Figure:
    """Draw accuracy over two parameters as a map of numbers, with a frame around the best."""
    maps = grid_maps(plan, entry, results)
    rows, columns = maps[0].values
    choices = (3, 2) if len(columns) <= 7 else (2,)
    figure, axes = panels(len(maps), choices=choices, height=0.62 + 0.24 * len(rows))
    with rc_context(STYLE):
        for ax, one in zip(axes, maps, strict=True):
            draw_map(ax, one.means, ".1f", frame_best=True)
            ax.invert_yaxis()
            ax.set_title(one.title)
            ax.set_xticks(range(len(columns)), map(value_title, columns))
            ax.set_yticks(range(len(rows)), map(value_title, rows))
            ax.set_ylabel(_symbol(one.names[0]))
            ax.set_xlabel(_symbol(one.names[1]))
    return figure


def _symbol(parameter: str) -> str:
    """Return the axis label of a parameter, with the paper's symbol where it has one."""
    symbols = {"n_neighbors": "neighbors $k$", "gamma": r"$\gamma$", "tau": r"$\tau$"}
    return symbols.get(parameter, parameter.replace("_", " "))
