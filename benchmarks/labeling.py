"""What to label next: samples that `propose_labels` proposes, against random ones.

Every run starts from one random label per class. Each round adds as many labels as there are
classes, and the model continues from its weights (`warm_start`). A round is one line of
`results/labeling.jsonl`: the accuracy on the samples still unlabeled, epochs and time of the fit,
and for random labels the same for a fit from scratch. A study that was stopped continues where it
stopped. Name data sets to run these alone.

    python benchmarks/labeling.py [DATA ...]
"""

import sys
from itertools import product
from time import process_time

import numpy as np
from compared import make
from stored_records import RESULTS, add_missing

from manyview.active_learning.proposals import propose_labels
from manyview.data.splits import draw_labeled

RECORDS = RESULTS / "labeling.jsonl"
DATASETS = ("3sources", "bbcsports", "digits", "mnist")
STRATEGIES = ("random", "uncertainty", "coverage")
SEEDS = range(3)
N_ROUNDS = 5


def choose(model, n, strategy, rng):
    if strategy == "random":
        return rng.permutation(np.flatnonzero(~model.is_labeled_))[:n]
    return propose_labels(model, n, strategy=strategy)


def fit(model, dataset, truth, is_labeled):
    start = process_time()
    model.fit(dataset.views, np.where(is_labeled, truth, None))
    seconds = process_time() - start
    return {
        "accuracy": round(float(np.mean((model.transduction_ == truth)[~is_labeled])), 6),
        "n_epochs": model.training_curve_.n_epochs,
        "cpu_seconds": round(seconds, 3),
    }


def rounds(dataset, strategy, seed):
    """Yield one record per round, the first labels first."""
    truth = np.asarray(dataset.labels, dtype=object)
    rng = np.random.default_rng(seed)
    is_labeled = draw_labeled(dataset.labels, 1e-9, random_state=seed)  # one per class
    n_classes = int(is_labeled.sum())
    model = make("mgcn-dns", seed, warm_start=True)
    for number in range(N_ROUNDS + 1):
        record = {"round": number, "n_labeled": int(is_labeled.sum())}
        record |= fit(model, dataset, truth, is_labeled)
        if strategy == "random":
            cold = make("mgcn-dns", seed)
            record["cold"] = fit(cold, dataset, truth, is_labeled)
        yield record
        is_labeled[choose(model, n_classes, strategy, rng)] = True


def main():
    add_missing(
        RECORDS,
        sys.argv[1:] or DATASETS,
        ("strategy", "seed"),
        list(product(STRATEGIES, SEEDS)),
        lambda dataset, strategy, seed: list(rounds(dataset, strategy, seed)),
        lambda found: ", ".join(f"{one['n_labeled']}: {one['accuracy']:.1%}" for one in found),
    )


if __name__ == "__main__":
    main()
