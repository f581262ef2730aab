"""What the robustness studies share: a table, a figure of lines, and the command.

A record is one fit: a data set, a series (a method, or a way to treat the data), the fraction of
the data that is corrupted, a seed, and scores.
"""

from collections import defaultdict
from itertools import product

import numpy as np
from formatting import cell, deviation
from formatting import table as markdown_table
from matplotlib import rc_context
from rich.console import Console
from stored_records import add_missing, read

from manyview.report.figures.style import STYLE, legend_below, looks, panels
from manyview.report.study.results import dataset_title

KEY = ("series", "fraction", "seed")


def main(arguments, file, datasets, series, fractions, seeds, run, *, x_name, own):
    """Run what is missing on the named data sets; after --page, print and draw what there is."""
    if arguments[:1] != ["--page"]:
        add_missing(file, arguments or datasets, KEY, list(product(series, fractions, seeds)), run)
        return
    records = read(file)
    Console().print(table(records, series, fractions), soft_wrap=True)
    for target in arguments[1:]:
        drawn = figure(records, series, fractions, x_name=x_name, own=own)
        drawn.savefig(target, metadata={"Date": None} if target.endswith("svg") else None)


def by_place(records, metric="accuracy"):
    """Return the percentages of all seeds by (dataset, series, fraction)."""
    found = defaultdict(list)
    for record in records:
        found[record["dataset"], record["series"], record["fraction"]].append(100 * record[metric])
    return found


def table(records, series, fractions, metric="accuracy", *, n_seeds=None, titles=None):
    """One row per data set and series, one column per fraction: mean (deviation) over seeds.

    A cell that does not have `n_seeds` of them shows how many; `titles` are names for series.
    """
    found = by_place(records, metric)
    titles = titles or {}
    rows = []
    for name in dict.fromkeys(record["dataset"] for record in records):
        for one in series:
            cells = [cell(found.get((name, one, fraction)), n_seeds) for fraction in fractions]
            if any(cells):
                rows.append([dataset_title(name), titles.get(one, one), *cells])
    return markdown_table(["data set", "", *(f"{one:.0%}" for one in fractions)], rows, n_words=2)


def figure(records, series, fractions, *, x_name, own, metric="accuracy", titles=None):
    """Draw one panel per data set: a line per series over the fraction, its deviation as a band.

    A series looks the same whichever of the others have records, and is named if it has any.
    """
    found = by_place(records, metric)
    titles = titles or {}
    names = list(dict.fromkeys(record["dataset"] for record in records))
    drawn_looks = {
        one: look
        for one, look in zip(series, looks([one == own for one in series]), strict=True)
        if any(record["series"] == one for record in records)
    }
    n_columns = min(2 * len(names), 5)  # of the legend; more are wider than the panels
    n_rows = -(-len(drawn_looks) // n_columns)
    drawn, axes = panels(len(names), height=2.0, extra=0.2 + 0.14 * n_rows)
    with rc_context(STYLE):
        for ax, name in zip(axes, names, strict=True):
            for one, look in drawn_looks.items():
                here = [
                    (100 * x, found[name, one, x]) for x in fractions if (name, one, x) in found
                ]
                x = np.array([fraction for fraction, _ in here])
                mean = np.array([np.mean(values) for _, values in here])
                std = np.array([deviation(values) for _, values in here])
                ax.plot(x, mean, label=titles.get(one, one), **look.line())
                if look.is_own:
                    low, high = mean - std, mean + std
                    ax.fill_between(x, low, high, color=look.color, alpha=0.16, linewidth=0)
            ax.set_title(dataset_title(name))
            ax.set_xlabel(x_name)
            ax.set_ylabel("accuracy (%)")
        legend_below(drawn, axes[0], n_columns)
    return drawn
