"""What to label next: samples that `propose_labels` names, against random ones.

Every run starts from one random label a class, and in each round adds as many labels as there
are classes before the model goes on from where it was (`warm_start`). A round is one line of
`results/labeling.jsonl`: the accuracy on the samples still unlabeled, epochs and time of the fit,
and with random labels the same for a fit from scratch beside it. A study that was stopped goes
on where it stopped. With names of data sets, these alone.

    python benchmarks/labeling.py [DATA ...]
"""

import sys
from itertools import product
from pathlib import Path
from time import process_time

import numpy as np
from kept_records import add_missing

from manyview.active_learning.proposals import propose_labels
from manyview.data.splits import draw_labeled
from manyview.estimators.mgcn_dns import MGCNDNSClassifier

RECORDS = Path(__file__).parent.parent / "results" / "labeling.jsonl"
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
    """One record a round, from the first labels on."""
    truth = np.asarray(dataset.labels, dtype=object)
    rng = np.random.default_rng(seed)
    is_labeled = draw_labeled(dataset.labels, 1e-9, random_state=seed)  # one a class
    n_classes = int(is_labeled.sum())
    model = MGCNDNSClassifier(recipe="paper", random_state=seed, warm_start=True)
    for number in range(N_ROUNDS + 1):
        record = {"round": number, "n_labeled": int(is_labeled.sum())}
        record |= fit(model, dataset, truth, is_labeled)
        if strategy == "random":
            cold = MGCNDNSClassifier(recipe="paper", random_state=seed)
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
