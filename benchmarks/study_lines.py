"""What studies of a growing trouble share: a table, a figure of lines, and the command.

A record is one fit: a data set, a series (a method, or a way to do it), a share of trouble, a
seed, and scores.
"""

from collections import defaultdict
from itertools import product

import numpy as np
from kept_records import add_missing, read
from matplotlib import rc_context
from rich.console import Console

from manyview.report.figure_style import STYLE, legend_below, looks, panels
from manyview.report.results import dataset_title
from manyview.runs.records import score

KEY = ("series", "share", "seed")


def run_all(file, names, series, shares, seeds, run):
    """Append a record for each combination that has none; `run` returns the scores."""
    settings = list(product(series, shares, seeds))
    add_missing(file, names, KEY, settings, run, lambda found: f"{found['accuracy']:.1%}")


def main(arguments, file, datasets, series, shares, seeds, run, *, x_name, own):
    """Run what is missing on the data sets named; after --page tell and draw what there is."""
    if arguments[:1] != ["--page"]:
        run_all(file, arguments or datasets, series, shares, seeds, run)
        return
    records = read(file)
    Console().print(markdown(records, series, shares), soft_wrap=True)
    for target in arguments[1:]:
        drawn = figure(records, series, shares, x_name=x_name, own=own)
        drawn.savefig(target, metadata={"Date": None} if target.endswith("svg") else None)


def scores(answers, truth, counts):
    """Accuracy, balanced accuracy and macro-F1 on the samples that count."""
    found = score(answers, truth, counts)
    names = ("accuracy", "balanced_accuracy", "macro_f1")
    return {name: round(getattr(found, name), 6) for name in names}


def by_place(records, metric="accuracy"):
    """Percents of all seeds by (dataset, series, share)."""
    found = defaultdict(list)
    for record in records:
        found[record["dataset"], record["series"], record["share"]].append(100 * record[metric])
    return found


def deviation(values):
    """Return the standard deviation over seeds; of one alone NaN, which no figure draws."""
    return np.std(values, ddof=1) if len(values) > 1 else np.nan


def spread(values):
    """Write the mean and, of more than one, the standard deviation in brackets."""
    mean = f"{np.mean(values):.1f}"
    return f"{mean} ({deviation(values):.1f})" if len(values) > 1 else mean


def markdown(records, series, shares, metric="accuracy"):
    """One row a data set and series, one column a share: mean (standard deviation) over seeds."""
    found = by_place(records, metric)
    lines = [
        f"| data set | | {' | '.join(f'{share:.0%}' for share in shares)} |",
        f"|---|---|{'---:|' * len(shares)}",
    ]
    for name in dict.fromkeys(record["dataset"] for record in records):
        for one in series:
            cells = [found.get((name, one, share)) for share in shares]
            if any(cells):
                told = [spread(cell) if cell else "" for cell in cells]
                lines.append(f"| {dataset_title(name)} | {one} | {' | '.join(told)} |")
    return "\n".join(lines)


def figure(records, series, shares, *, x_name, own, metric="accuracy"):
    """Draw a panel a data set: a line a series over the share of trouble, its deviation a band."""
    found = by_place(records, metric)
    names = list(dict.fromkeys(record["dataset"] for record in records))
    n_rows = -(-len(series) // 5)
    drawn, axes = panels(len(names), height=2.0, extra=0.2 + 0.14 * n_rows)
    with rc_context(STYLE):
        for ax, name in zip(axes, names, strict=True):
            for one, look in zip(series, looks([one == own for one in series]), strict=True):
                here = [(100 * s, found[name, one, s]) for s in shares if (name, one, s) in found]
                x = np.array([share for share, _ in here])
                mean = np.array([np.mean(values) for _, values in here])
                std = np.array([deviation(values) for _, values in here])
                ax.plot(x, mean, label=one, **look.line())
                if look.is_own:
                    low, high = mean - std, mean + std
                    ax.fill_between(x, low, high, color=look.color, alpha=0.16, linewidth=0)
            ax.set_title(dataset_title(name))
            ax.set_xlabel(x_name)
            ax.set_ylabel("accuracy (%)")
        legend_below(drawn, axes[0], 5)
    return drawn
