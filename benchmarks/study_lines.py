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

from manyview.report.figures.style import STYLE, legend_below, looks, panels
from manyview.report.study.results import dataset_title
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


def scores(predictions, truth, counts):
    """Accuracy, balanced accuracy and macro-F1 on the samples that count."""
    found = score(predictions, truth, counts)
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


def cell(values, n_seeds=None):
    """Write the values of all seeds as `spread` does, and how many there are if not `n_seeds`."""
    if not values:
        return ""
    few = n_seeds is not None and len(values) != n_seeds
    return spread(values) + (f", n = {len(values)}" if few else "")


def markdown(records, series, shares, metric="accuracy", *, n_seeds=None, titles=None):
    """One row a data set and series, one column a share: mean (standard deviation) over seeds.

    A cell that does not have `n_seeds` of them says how many; `titles` name series otherwise.
    """
    found = by_place(records, metric)
    titles = titles or {}
    lines = [
        f"| data set | | {' | '.join(f'{share:.0%}' for share in shares)} |",
        f"|---|---|{'---:|' * len(shares)}",
    ]
    for name in dict.fromkeys(record["dataset"] for record in records):
        for one in series:
            told = [cell(found.get((name, one, share)), n_seeds) for share in shares]
            if any(told):
                title = titles.get(one, one)
                lines.append(f"| {dataset_title(name)} | {title} | {' | '.join(told)} |")
    return "\n".join(lines)


def figure(records, series, shares, *, x_name, own, metric="accuracy", titles=None):
    """Draw a panel a data set: a line a series over the share of trouble, its deviation a band.

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
                here = [(100 * s, found[name, one, s]) for s in shares if (name, one, s) in found]
                x = np.array([share for share, _ in here])
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
