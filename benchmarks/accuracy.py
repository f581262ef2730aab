"""Accuracy of the default configuration, and of its parts, on the catalogue's data sets.

Every fit is one line of `results/accuracy.jsonl`; a run that was stopped goes on where it
stopped. `docs/results.md` is made from these lines by `--table`.

    python benchmarks/accuracy.py                 # everything that is not there yet
    python benchmarks/accuracy.py --only mnist    # one data set
    python benchmarks/accuracy.py --table         # write docs/results.md
"""

import argparse
import json
import sys
import time
from collections import defaultdict
from itertools import product
from pathlib import Path

import numpy as np
from rich.console import Console

from manyview.classifier import MGCNDNSClassifier
from manyview.data.catalog import load_dataset
from manyview.data.label_values import is_known
from manyview.data.splits import draw_labeled, hide_labels
from manyview.data.views import MultiView

ROOT = Path(__file__).parent
RECORDS = ROOT / "results" / "accuracy.jsonl"
PAGE = ROOT.parent / "docs" / "results.md"

DATASETS = ("bbcsports", "bbcnews", "mnist", "caltech101-7", "caltech101-20", "mnist-10k")
SMALL = ("bbcsports", "bbcnews", "mnist")
OTHERS = ("digits", "3sources", "rosmap", "reuters-1200")
RATIOS = (0.01, 0.1)
SEEDS = range(5)
VARIANTS = {
    "mgcn-dns": {},
    "plain gcn": {"graph_learning": None, "node_selection": None},
    "no node selection": {"node_selection": None},
    "no graph learning": {"graph_learning": None},
    "ranks as printed": {"rank_axis": "as-printed"},
}
HELD_OUT = ("bbcsports", "mnist", "digits")
# Percent, 1 % and 10 % labels; the paper's "Caltech-20" is beside both sets it may mean.
PAPER = {
    "bbcsports": (83.5, 97.4),
    "bbcnews": (77.8, 93.6),
    "mnist": (88.0, 90.2),
    "mnist-10k": (88.5, 92.2),
    "caltech101-20": (69.3, 84.3),
    "caltech101-7": (69.3, 84.3),
}


def jobs():
    """Yield what to fit, the main table first."""
    groups = [(DATASETS, ("mgcn-dns", "plain gcn"), RATIOS)]
    groups += [(SMALL, ("ranks as printed", "no node selection", "no graph learning"), RATIOS)]
    groups += [(HELD_OUT, ("held out", "in the fit"), (0.1,))]
    groups += [(OTHERS, ("mgcn-dns", "plain gcn"), RATIOS)]
    for datasets, variants, ratios in groups:
        yield from product(datasets, variants, ratios, SEEDS)


def run(dataset, variant, ratio, seed):
    started = time.perf_counter()
    if variant in ("held out", "in the fit"):
        model, accuracy = fit_with_newcomers(dataset, ratio, seed, held_out=variant == "held out")
    else:
        labels = hide_labels(dataset.labels, ratio, random_state=seed)
        model = MGCNDNSClassifier(random_state=seed, **VARIANTS[variant])
        model.fit(dataset.views, labels)
        hidden = ~is_known(labels)
        accuracy = np.mean(model.transduction_[hidden] == dataset.labels[hidden])
    return {
        "dataset": dataset.name,
        "variant": variant,
        "ratio": ratio,
        "seed": seed,
        "accuracy": round(float(accuracy), 6),
        "n_epochs": model.training_curve_.n_epochs,
        "stopped": model.training_curve_.stopped,
        "n_neighbors": model.n_neighbors_,
        "seconds": round(time.perf_counter() - started, 1),
        "sha256": dataset.sha256,
    }


def fit_with_newcomers(dataset, ratio, seed, *, held_out):
    """Accuracy on a random fifth of the samples, kept out of the fit or in it unlabeled."""
    is_new = draw_labeled(dataset.labels, 0.2, random_state=1000 + seed)
    labels = np.full(len(is_new), None, dtype=object)
    labels[~is_new] = hide_labels(dataset.labels[~is_new], ratio, random_state=seed).astype(object)
    model = MGCNDNSClassifier(random_state=seed)
    views = MultiView(dataset.views)
    if held_out:
        answers = model.fit(views[~is_new], labels[~is_new]).predict(views[is_new])
    else:
        answers = model.fit(views, labels).transduction_[is_new]
    return model, np.mean(answers == dataset.labels[is_new])


def key(record):
    return record["dataset"], record["variant"], record["ratio"], record["seed"]


def read_records():
    if not RECORDS.exists():
        return {}
    records = map(json.loads, RECORDS.read_text().splitlines())
    return {key(record): record for record in records}


def measure(only, console):
    done = read_records()
    RECORDS.parent.mkdir(exist_ok=True)
    loaded = {}
    for dataset, variant, ratio, seed in jobs():
        if (only and dataset not in only) or (dataset, variant, ratio, seed) in done:
            continue
        if dataset not in loaded:
            loaded = {dataset: load_dataset(dataset)}
        record = run(loaded[dataset], variant, ratio, seed)
        with RECORDS.open("a") as file:
            file.write(json.dumps(record) + "\n")
        console.print(
            f"{dataset} {variant} {ratio:.0%} seed {seed}: {record['accuracy']:.2%}, "
            f"{record['n_epochs']} epochs, {record['seconds']} s"
        )


def cell(records):
    values = 100 * np.array([record["accuracy"] for record in records])
    return f"{values.mean():.1f} ({values.std(ddof=1):.1f})" if len(values) == 5 else ""


def page():
    groups = defaultdict(list)
    for record in read_records().values():
        groups[record["dataset"], record["variant"], record["ratio"]].append(record)
    text = (ROOT / "results_page.md").read_text()
    return text.format(
        main=table(groups, DATASETS, ("mgcn-dns", "plain gcn"), paper=True),
        summary=summary(groups),
        others=table(groups, OTHERS, ("mgcn-dns", "plain gcn")),
        parts=table(groups, SMALL, VARIANTS),
        held_out=table(groups, HELD_OUT, ("held out", "in the fit"), ratios=(0.1,)),
    )


def mean(groups, dataset, variant, ratio):
    return 100 * np.mean([record["accuracy"] for record in groups[dataset, variant, ratio]])


def summary(groups):
    """Say where the two modules help and where they do not, over all data sets."""
    gains = {}
    for dataset, ratio in product((*DATASETS, *OTHERS), RATIOS):
        gain = mean(groups, dataset, "mgcn-dns", ratio) - mean(groups, dataset, "plain gcn", ratio)
        gains[f"{dataset} {ratio:.0%} ({gain:+.1f})"] = round(gain, 1)
    better = [name for name, gain in gains.items() if gain > 0]
    worse = [name for name, gain in gains.items() if gain < 0]
    return (
        "Here and on the other data sets, the two modules together gain against the plain GCN on "
        f"{', '.join(better)}; they lose on {', '.join(worse)}; on the other "
        f"{len(gains) - len(better) - len(worse)} they make no difference. Most of these "
        "differences are smaller than the spread between splits."
    )


def table(groups, datasets, variants, *, paper=False, ratios=RATIOS):
    heads = ["data set", "labels", *variants, *(["paper"] if paper else [])]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for dataset in datasets:
        for number, ratio in enumerate(ratios):
            row = [dataset, f"{ratio:.0%}"]
            row += [cell(groups[dataset, variant, ratio]) for variant in variants]
            row += [str(PAPER[dataset][number])] if paper else []
            lines.append("| " + " | ".join(row) + " |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", help="data sets to run")
    parser.add_argument("--table", action="store_true", help="write docs/results.md")
    arguments = parser.parse_args()
    console = Console()
    if arguments.table:
        PAGE.write_text(page())
        console.print(f"wrote {PAGE}")
        return
    try:
        measure(arguments.only, console)
    except KeyboardInterrupt:
        console.print("stopped; the next call goes on from here")
        sys.exit(130)


if __name__ == "__main__":
    main()
