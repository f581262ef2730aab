"""Figures that compare methods: dots with their deviation, lines by the share of labels."""

from collections.abc import Sequence
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from manyview.experiments.plan import Cell, Entry, Plan
from manyview.report.figures.style import (
    COLORS,
    GRAY,
    INK,
    OWN_COLOR,
    STYLE,
    Results,
    draw_line,
    legend_below,
    looks,
    n_columns_for,
    panels,
)
from manyview.report.study.results import (
    OWN_METHOD,
    Result,
    begun_datasets,
    curved_datasets,
    dataset_title,
    ratio_title,
)

SERIES_LOOKS = (  # color, marker, whether it is filled
    (COLORS[0], "o", True),
    (OWN_COLOR, "s", False),
    (COLORS[2], "^", True),
    (GRAY, "D", False),
)
PAPERS = "the paper's"
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
    """Draw a dot a method with its deviation, a panel a data set, and the paper's as a cross."""
    series = [
        (ratio, protocol)
        for protocol in plan.protocols
        for ratio in sorted({ratio for entry in entries for ratio in entry.label_ratios})
    ]
    names = begun_datasets(plan, entries, results)
    height = 0.62 + 0.145 * len(entries) * max(1.0, 0.6 * len(series))
    figure, axes = panels(len(names), height=height, extra=0.3, share_y=True)
    n_columns = n_columns_for(len(names))
    with rc_context(STYLE):
        for panel, (ax, name) in enumerate(zip(axes, names, strict=True)):
            for number, (ratio, protocol) in enumerate(series):
                shift = (number - (len(series) - 1) / 2) * (0.56 / len(series))
                rows = [
                    (at + shift, results[cell])
                    for at, entry in enumerate(entries)
                    if (cell := Cell(name, entry.name, (), ratio, protocol)) in results
                ]
                title = ratio_title(ratio)
                title += f", {protocol}" if len(plan.protocols) > 1 else ""
                _dots(ax, rows, SERIES_LOOKS[number % len(SERIES_LOOKS)], title)
            for at, entry in enumerate(entries):
                mine = [r for c, r in results.items() if (c.dataset, c.entry) == (name, entry.name)]
                if any(r.failures for r in mine) and not any(r.by_seed for r in mine):
                    ax.text(
                        0.01, at, "failed", transform=ax.get_yaxis_transform(), va="center",
                        fontsize=6, color=GRAY, style="italic",
                    )  # fmt: skip
            ax.set_title(dataset_title(name))
            ax.set_yticks(range(len(entries)), [entry.title for entry in entries])
            ax.set_ylim(len(entries) - 0.4, -0.6)
            ax.tick_params(axis="y", length=0)
            ax.spines["left"].set_visible(False)
            for tick, entry in zip(ax.get_yticklabels(), entries, strict=False):
                tick.set_fontweight("bold" if entry.name == OWN_METHOD else "normal")
            if panel + n_columns >= len(names):
                ax.set_xlabel("accuracy (%)")
        if any(result.paper for result in results.values()):
            axes[0].plot([], [], label=PAPERS, **PAPER_LOOK)
        legend_below(figure, axes[0], 5, last=PAPERS)
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
    """Draw accuracy by the share of labels: a line a method, a panel a data set."""
    names = curved_datasets(plan, entries, results)
    series = [(entry, protocol) for entry in entries for protocol in plan.protocols]
    given = looks([entry.name == OWN_METHOD for entry, _ in series])
    n_rows = -(-len(series) // 5)
    figure, axes = panels(len(names), height=2.0, extra=0.2 + 0.14 * n_rows)
    with rc_context(STYLE):
        for ax, name in zip(axes, names, strict=True):
            for (entry, protocol), look in zip(series, given, strict=True):
                found = [
                    (100 * ratio, results.get(Cell(name, entry.name, (), ratio, protocol)))
                    for ratio in sorted(entry.label_ratios)
                ]
                title = entry.title + (f", {protocol}" if len(plan.protocols) > 1 else "")
                draw_line(ax, found, look.line(), title, has_band=look.is_own)
            ax.set_title(dataset_title(name))
            ax.set_xlabel("labeled samples (%)")
            ax.set_ylabel("accuracy (%)")
        legend_below(figure, axes[0], 5)
    return figure
