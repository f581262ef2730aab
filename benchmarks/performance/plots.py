"""The figures of docs/performance.md, drawn from the stored rows.

Every file carries a checksum of the numbers it shows, so that an outdated figure is recognized.
"""

import hashlib
import json
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from manyview.report.figures.style import COLORS, GRAY, INK, STYLE, looks, panels
from performance.block_clock import BLOCKS
from performance.epoch import OURS
from performance.growth import exponent

HATCHES = ("", "///", "", "---", "", "|||")
Row = dict[str, Any]


def description(rows: list[Row]) -> str:
    """Return a checksum of the numbers that a figure shows, for the description in its file."""
    digest = hashlib.sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest()[:16]
    return f"rows {digest}"


def growth_figure(rows: list[Row]) -> Figure:
    """Draw time and memory by number of samples on logarithmic axes, with the exponents."""
    sizes = [row["request"]["n_samples"] for row in rows]
    series = (
        ("whole job", "seconds", [row["seconds"]["whole"] for row in rows]),
        ("graphs", "seconds", [row["seconds"]["graphs"] for row in rows]),
        ("peak memory", "GB", [row["peak_mb"] / 1024 for row in rows]),
    )
    figure, axes = panels(len(series), height=2.3)
    (look,) = looks([True])
    with rc_context(STYLE):
        for axis, (title, unit, values) in zip(axes, series, strict=True):
            linear = [values[0] * size / sizes[0] for size in sizes]
            axis.loglog(sizes, linear, color=GRAY, linestyle=":", zorder=2)
            axis.loglog(sizes, values, **look.line())
            if len(sizes) > 1:
                title = f"{title}: samples$^{{{exponent(sizes, values):.2f}}}$"
            axis.set_title(title)
            axis.set_xlabel("samples (dotted: linear growth)")
            axis.set_ylabel(unit)
            axis.set_xticks(sizes, [short(size) for size in sizes], minor=False)
            axis.set_xticks([], minor=True)
            axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axis.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            axis.yaxis.set_minor_locator(NullLocator())
    return figure


def short(size: int) -> str:
    """Write a size for an axis.

    Examples
    --------
    >>> short(500), short(30_000), short(1_000_000)
    ('500', '30k', '1M')
    """
    for unit, letter in ((10**6, "M"), (1000, "k")):
        if size >= unit:
            return f"{size / unit:g}{letter}"
    return str(size)


def blocks_figure(rows: list[Row]) -> Figure:
    """Draw the fraction of an epoch that each block takes, one bar per size."""
    figure, (axis,) = panels(1, height=0.9 + 0.32 * len(rows), extra=0.6)
    titles = [f"{row['request']['n_samples']:,}" for row in rows]
    with rc_context(STYLE):
        left = np.zeros(len(rows))
        for block, color, hatch in zip(BLOCKS, COLORS, HATCHES, strict=False):
            percents = np.array([100 * row["blocks"][block] for row in rows])
            axis.barh(
                titles,
                percents,
                left=left,
                color=color,
                hatch=hatch,
                edgecolor="white",
                linewidth=0.5,
            )
            for place, (start, percent) in enumerate(zip(left, percents, strict=True)):
                if percent >= 7:
                    axis.text(
                        start + percent / 2, place, f"{percent:.0f}", ha="center", va="center",
                        color=INK, bbox={"boxstyle": "round,pad=0.15", "fc": "white", "lw": 0},
                    )  # fmt: skip
            left += percents
        axis.invert_yaxis()
        axis.set_xlim(0, 100)
        axis.set_xlabel("percent of an epoch, forward and backward")
        axis.set_ylabel("samples")
        axis.grid(axis="y", visible=False)
        handles = [
            Patch(facecolor=color, hatch=hatch, edgecolor="white", label=block)
            for block, color, hatch in zip(BLOCKS, COLORS, HATCHES, strict=False)
        ]
        figure.legend(handles=handles, loc="outside lower center", ncols=3)
    return figure


def epoch_figure(rows: list[Row]) -> Figure:
    """Draw our epoch as a multiple of PyG's, one panel per size; bars are quartiles."""
    figure, axes = panels(len(rows), choices=(2, 3, 4), height=1.9, share_y=True)
    with rc_context(STYLE):
        for axis, row in zip(axes, rows, strict=True):
            forms = list(row["ratio"])
            for place, (form, color) in enumerate(zip(forms, COLORS, strict=False)):
                ratio = row["ratio"][form]
                spread = ratio["by_round"]
                axis.plot([spread["low"], spread["high"]], [place, place], color=color, lw=2.2)
                axis.plot(ratio["of_medians"], place, "o", color=color, markersize=5)
            axis.axvline(1, color=INK, linewidth=0.8, linestyle=":")
            axis.set_yticks(range(len(forms)), forms)
            axis.set_ylim(len(forms) - 0.5, -0.5)
            axis.set_xlim(left=0)
            axis.set_title(f"{row['request']['n_samples']:,} samples")
            axis.set_xlabel(f"{OURS} / PyG, seconds per epoch")
    return figure
