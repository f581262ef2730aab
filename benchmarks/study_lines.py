"""What studies of a growing trouble share: records that are kept, a table, and a figure of lines.

A record is one fit: a data set, a series (a method, or a way to do it), a share of trouble, a
seed, and scores. It is one line of a JSON lines file; what is in the file is not done again.
"""

import json
import sys
from collections import defaultdict
from itertools import product

import numpy as np
from matplotlib import rc_context
from rich.console import Console

from manyview.data.catalog import load_dataset
from manyview.report.figure_style import STYLE, legend_below, looks, panels
from manyview.report.results import dataset_title
from manyview.runs.records import score

KEY = ("dataset", "series", "share", "seed")


def read(file):
    lines = file.read_text().splitlines() if file.exists() else []
    return [json.loads(line) for line in lines]


def run_all(file, names, series, shares, seeds, run):
    """Append a record for each combination that has none; `run` returns the scores."""
    console = Console()
    done = {tuple(record[key] for key in KEY) for record in read(file)}
    try:
        for name in names:
            wanted = [one for one in product(series, shares, seeds) if (name, *one) not in done]
            dataset = load_dataset(name) if wanted else None
            for one, share, seed in wanted:
                found = run(dataset, one, share, seed)
                head = dict(zip(KEY, (name, one, share, seed), strict=True))
                record = {**head, **found, "sha256": dataset.sha256}
                with file.open("a") as out:
                    out.write(json.dumps(record) + "\n")
                console.print(f"{name}, {one}, {share:.0%}, seed {seed}: {found['accuracy']:.1%}")
    except KeyboardInterrupt:
        console.print("stopped; the next call goes on from here")
        sys.exit(130)


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


def markdown(records, series, shares, metric="accuracy"):
    """One row a data set and series, one column a share: mean ± deviation over seeds."""
    found = by_place(records, metric)
    lines = [
        f"| data set | | {' | '.join(f'{share:.0%}' for share in shares)} |",
        f"|---|---|{'---:|' * len(shares)}",
    ]
    for name in dict.fromkeys(record["dataset"] for record in records):
        for one in series:
            cells = [found.get((name, one, share)) for share in shares]
            if any(cells):
                told = [f"{np.mean(c):.1f} ± {np.std(c):.1f}" if c else "" for c in cells]
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
                mean, std = (np.array([of(c) for _, c in here]) for of in (np.mean, np.std))
                ax.plot(x, mean, label=one, **look.line())
                if look.is_own:
                    low, high = mean - std, mean + std
                    ax.fill_between(x, low, high, color=look.color, alpha=0.16, linewidth=0)
            ax.set_title(dataset_title(name))
            ax.set_xlabel(x_name)
            ax.set_ylabel("accuracy (%)")
        legend_below(drawn, axes[0], 5)
    return drawn
