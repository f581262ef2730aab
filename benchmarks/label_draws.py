"""How the way labels are drawn affects accuracy: by proportion, at random, equally, by `propose`.

About 5% of the samples are labeled; proposals start from one label per class and come in five
batches, each by a fit of the default. Accuracy is on the unlabeled ones. Every fit is one line of
`results/label_draws.jsonl`; a study that was stopped continues where it stopped.

    python benchmarks/label_draws.py [DATA ...]
"""

import sys
from itertools import product

import numpy as np
from compared import make
from formatting import and_list, spread, table
from stored_records import RESULTS, add_missing, read, scores

from manyview.active_learning.proposals import propose_labels
from manyview.data.splits import draw_labeled
from manyview.report.study.results import dataset_title

RECORDS = RESULTS / "label_draws.jsonl"
DATASETS = ("3sources", "bbcsports", "digits", "rosmap", "bbcnews", "caltech101-7")
SEEDS = range(3)
LABEL_RATIO = 0.05
FORMS = {  # name -> series and further parameters
    "manyview": ("manyview", {}),
    "network-alone": ("network-alone", {}),
    "plain": ("plain", {}),
}
TITLES = {"plain": "plain GCN", "network-alone": "manyview's network alone"}
N_BATCHES = 5
PROPOSED = "proposed"


def draw_equally(labels, seed):
    """Mark the same number of samples of every class, about 5% of all."""
    rng = np.random.default_rng(seed)
    classes = np.unique(labels)
    n_each = max(1, round(LABEL_RATIO * len(labels) / len(classes)))
    is_drawn = np.zeros(len(labels), dtype=bool)
    for one in classes:
        members = np.flatnonzero(labels == one)
        is_drawn[rng.permutation(members)[:n_each]] = True
    return is_drawn


def by_protocol(protocol):
    """Return a way to draw by one of the protocols of `draw_labeled`."""
    return lambda labels, seed: draw_labeled(
        labels, LABEL_RATIO, protocol=protocol, random_state=seed
    )


def draw_proposed(dataset, seed):
    """Mark one sample per class, and then those that the default proposes."""
    n_labels = round(LABEL_RATIO * len(dataset.labels))
    is_drawn = draw_labeled(dataset.labels, 1e-9, protocol="stratified", random_state=seed)
    for left in range(N_BATCHES, 0, -1):
        n_next = -(-(n_labels - int(is_drawn.sum())) // left)
        if n_next <= 0:
            break
        labels = np.where(is_drawn, dataset.labels.astype(object), None)
        model = make("manyview", seed).fit(dataset.views, labels)
        is_drawn[propose_labels(model, n_next)] = True
    return is_drawn


DRAWS = {
    "in proportion": by_protocol("stratified"),
    "at random": by_protocol("random"),
    "the same number of each": draw_equally,
    PROPOSED: None,
}
EVERY = list(product(DRAWS, FORMS))
NOTHING = "No data set has been run with all draws yet."


def run(dataset, draw, form, seed):
    is_drawn = (
        draw_proposed(dataset, seed) if draw == PROPOSED else DRAWS[draw](dataset.labels, seed)
    )
    labels = np.where(is_drawn, dataset.labels.astype(object), None)
    series, params = FORMS[form]
    model = make(series, seed, **params).fit(dataset.views, labels)
    found = scores(model.transduction_, dataset.labels, ~is_drawn) | {"label_ratio": LABEL_RATIO}
    estimate = getattr(model, "performance_", None)
    if estimate is None:
        return found
    own = estimate.accuracy
    return found | {"estimated_accuracy": [round(one, 6) for one in (own.value, own.low, own.high)]}


def draws_table(field="accuracy"):
    """Mean percentages by draw, form and data set, over the seeds that all forms have."""
    found = by_dataset(field)
    if not found:
        return NOTHING
    heads = [f"{dataset_title(name)} (n = {len(runs[EVERY[0]])})" for name, runs in found.items()]
    rows = [
        [
            draw,
            TITLES.get(form, form),
            *(spread(runs[draw, form]) for runs in found.values()),
            f"{mean_of(found, draw, form):.1f}",
        ]
        for draw, form in EVERY
    ]
    return table(["labels drawn", "", *heads, "mean"], rows, n_words=2)


def sentence():
    """Return what the default gains over a plain GCN where labels are drawn in other ways."""
    found = by_dataset()
    if not found:
        return NOTHING
    gains = [
        mean_of(found, draw, "manyview") - mean_of(found, draw, "plain")
        for draw in ("at random", "the same number of each", PROPOSED)
    ]
    at_random, equally, proposed = (
        f"{'loses' if gain < 0 else 'gains'} {abs(gain):.1f}" for gain in gains
    )
    return (
        f"With {LABEL_RATIO:.0%} of the samples drawn at random, the default {at_random} points "
        f"against a plain GCN; with the same number of labels per class it {equally}, with labels "
        f"that it proposed itself it {proposed} (mean of {len(found)} data sets)."
    )


def coverage_sentence():
    """Return how often the estimate's interval covers, by draw, where records have an estimate."""
    covered = {draw: [] for draw in DRAWS}
    for one in read(RECORDS):
        if "estimated_accuracy" in one:
            _, low, high = one["estimated_accuracy"]
            covered[one["draw"]].append(low <= one["accuracy"] <= high)
    known = {draw: found for draw, found in covered.items() if found}
    if not known:
        return "No fit has stored an estimate yet."
    parts = [f"{sum(found)} of {len(found)} ({draw})" for draw, found in known.items()]
    return f"The interval of the estimated accuracy covers in {and_list(parts)} fits."


def by_dataset(field="accuracy"):
    """Percentages of the seeds that all forms have: {dataset: {(draw, form): [percent]}}."""
    found = {(r["dataset"], r["draw"], r["form"], r["seed"]): 100 * r[field] for r in read(RECORDS)}
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
    settings = [(*place, seed) for seed in SEEDS for place in EVERY]
    add_missing(RECORDS, sys.argv[1:] or DATASETS, ("draw", "form", "seed"), settings, run)
