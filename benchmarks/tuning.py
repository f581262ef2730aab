"""Whether tuning beats the defaults: both scored on labels that neither has seen.

On each data set 1% or 10% of the labels are shown. `tune` chooses parameters by hiding some of
these (with one or two labels per class it keeps the defaults and warns; `--force` tunes anyway).
The defaults and the choice are then scored on all labels that were never shown. Every split is one
line of `results/tuning.jsonl`; the trials of a split are stored in `results/tuning/`, so that a
study that was stopped also continues within a split.

    python benchmarks/tuning.py [--trials N] [--force] [DATA ...]
"""

import argparse
import warnings
from itertools import product
from time import perf_counter

from compared import make
from stored_records import RESULTS, add_missing

from manyview.data.label_values import is_known
from manyview.data.splits import hide_labels
from manyview.runs.records import score
from manyview.tuning.search import tune

RECORDS = RESULTS / "tuning.jsonl"
TRIALS = RESULTS / "tuning"
DATASETS = ("bbcsports", "bbcnews", "mnist", "caltech101-7", "3sources", "digits")
LABEL_RATIOS = (0.01, 0.1)
SEEDS = range(3)
N_TRIALS = 25


def compare(dataset, label_ratio, seed, n_trials, force):
    """Return the test accuracy of the defaults and of the choice, and the expected gain."""
    labels = hide_labels(dataset.labels, label_ratio, random_state=seed)
    hidden = ~is_known(labels)
    folder = TRIALS / f"{dataset.name}-{label_ratio:g}-{seed}{'-forced' * force}"
    start = perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of too few labels; the record has it
        tuning = tune(
            dataset.views,
            labels,
            method="mgcn-dns",
            n_trials=n_trials,
            random_state=seed,
            folder=folder,
            force=force,
        )
    seconds = perf_counter() - start
    if tuning.stopped_ == "interrupted":
        raise KeyboardInterrupt
    defaults = make("mgcn-dns", seed).fit(dataset.views, labels)
    return {
        "n_labeled": int((~hidden).sum()),
        "n_trials": n_trials,
        "stopped": tuning.stopped_,
        "is_default": tuning.is_default,
        "best_params": tuning.best_params_,
        "expected_gain": None if tuning.gain_ is None else round(tuning.gain_.mean, 6),
        "standard_error": None if tuning.gain_ is None else round(tuning.gain_.standard_error, 6),
        "default_accuracy": _accuracy(defaults, dataset, hidden),
        "tuned_accuracy": _accuracy(tuning.best_estimator_, dataset, hidden),
        "importance": {name: round(value, 4) for name, value in tuning.importance_.items()},
        "seconds": round(seconds, 1),
    }


def _accuracy(model, dataset, hidden):
    return round(score(model.transduction_, dataset.labels, hidden).accuracy, 6)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="*", metavar="DATA")
    parser.add_argument("--trials", type=int, default=N_TRIALS)
    parser.add_argument("--force", action="store_true")
    asked = parser.parse_args()
    add_missing(
        RECORDS,
        asked.datasets or DATASETS,
        ("label_ratio", "seed", "forced"),
        list(product(LABEL_RATIOS, SEEDS, [asked.force])),
        lambda dataset, label_ratio, seed, force: compare(
            dataset, label_ratio, seed, asked.trials, force
        ),
        lambda one: (
            f"defaults {one['default_accuracy']:.1%}, tuned {one['tuned_accuracy']:.1%} "
            f"({one['stopped']})"
        ),
    )


if __name__ == "__main__":
    main()
