"""What it matters how the labels were drawn: in proportion, at random, the same number of each.

About 5 % of the samples are labeled. Accuracy is on the unlabeled ones. Every fit is one line of
`results/label_draws.jsonl`; a study that was stopped goes on where it stopped.

    python benchmarks/label_draws.py [DATA ...]
"""

import sys
from itertools import product
from pathlib import Path

import numpy as np
from compared import PARAMETERS
from kept_records import add_missing, read
from study_lines import scores as scores_of
from study_lines import spread

from manyview.data.splits import draw_labeled
from manyview.estimators.mgcn_dns import MGCNDNSClassifier
from manyview.report.study.results import dataset_title

RECORDS = Path(__file__).parent.parent / "results" / "label_draws.jsonl"
DATASETS = ("3sources", "bbcsports", "digits", "rosmap", "bbcnews", "caltech101-7")
SEEDS = range(3)
RATIO = 0.05
FORMS = {
    "default": PARAMETERS["mgcn-dns"],
    'class_shares="predictions"': {"class_shares": "predictions"},
    "plain GCN": PARAMETERS["plain"],
}


def draw_equally(labels, seed):
    """Mark the same number of samples of every class, about 5 % of all."""
    rng = np.random.default_rng(seed)
    classes = np.unique(labels)
    n_each = max(1, round(RATIO * len(labels) / len(classes)))
    is_drawn = np.zeros(len(labels), dtype=bool)
    for one in classes:
        members = np.flatnonzero(labels == one)
        is_drawn[rng.permutation(members)[:n_each]] = True
    return is_drawn


def by_protocol(protocol):
    """Return a way to draw by one of the protocols of `draw_labeled`."""
    return lambda labels, seed: draw_labeled(labels, RATIO, protocol=protocol, random_state=seed)


DRAWS = {
    "in proportion": by_protocol("stratified"),
    "at random": by_protocol("random"),
    "the same number of each": draw_equally,
}
EVERY = list(product(DRAWS, FORMS))
NOTHING = "No data set has been run with all draws yet."


def run(dataset, draw, form, seed):
    is_drawn = DRAWS[draw](dataset.labels, seed)
    labels = np.where(is_drawn, dataset.labels.astype(object), None)
    model = MGCNDNSClassifier(random_state=seed, **FORMS[form]).fit(dataset.views, labels)
    return scores_of(model.transduction_, dataset.labels, ~is_drawn) | {"ratio": RATIO}


def table():
    """Mean percents by draw, form and data set, over the seeds that all forms have."""
    found = by_dataset()
    if not found:
        return NOTHING
    heads = [f"{dataset_title(name)} (n = {len(runs[EVERY[0]])})" for name, runs in found.items()]
    lines = [
        f"| labels drawn | | {' | '.join(heads)} | mean |",
        f"|---|---|{'---:|' * (len(heads) + 1)}",
    ]
    for draw, form in EVERY:
        cells = " | ".join(spread(runs[draw, form]) for runs in found.values())
        lines.append(f"| {draw} | {form} | {cells} | {mean_of(found, draw, form):.1f} |")
    return "\n".join(lines)


def sentence():
    """Say what the default gains over a plain GCN where labels are drawn in other ways."""
    found = by_dataset()
    if not found:
        return NOTHING
    gains = [
        mean_of(found, draw, "default") - mean_of(found, draw, "plain GCN")
        for draw in ("at random", "the same number of each")
    ]
    at_random, evenly = (f"{'loses' if gain < 0 else 'gains'} {abs(gain):.1f}" for gain in gains)
    return (
        f"With {RATIO:.0%} drawn at random the default {at_random} points beside a plain GCN, with "
        f"the same number of each class it {evenly} (mean of {len(found)} data sets)."
    )


def by_dataset():
    """Percents of the seeds that all forms have: {dataset: {(draw, form): [percent]}}."""
    found = {
        (r["dataset"], r["draw"], r["form"], r["seed"]): 100 * r["accuracy"] for r in read(RECORDS)
    }
    complete = {}
    for name in DATASETS:
        seeds = [s for s in SEEDS if all((name, *place, s) in found for place in EVERY)]
        if seeds:
            complete[name] = {place: [found[name, *place, s] for s in seeds] for place in EVERY}
    return complete


def mean_of(found, draw, form):
    """Mean over the data sets."""
    return np.mean([np.mean(runs[draw, form]) for runs in found.values()])


if __name__ == "__main__":
    add_missing(
        RECORDS,
        sys.argv[1:] or DATASETS,
        ("draw", "form", "seed"),
        [(*place, seed) for seed in SEEDS for place in EVERY],
        run,
        lambda found: f"{found['accuracy']:.1%}",
    )
