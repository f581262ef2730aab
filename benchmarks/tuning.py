"""Whether tuning beats the defaults: both scored on labels that neither has seen.

On each data set 1 % or 10 % of the labels are shown. `tune` hides some of these in turn to choose
parameters (with one or two labels a class it keeps the defaults, and says so; `--force` tunes
all the same). The defaults and the choice are then scored on all labels that were never shown.
Every split is one line of `results/tuning.jsonl`; the trials of a split are kept in
`results/tuning/`, so that a study that was stopped goes on within a split, too.

    python benchmarks/tuning.py [--trials N] [--force] [DATA ...]
"""

import argparse
import warnings
from itertools import product
from pathlib import Path
from time import perf_counter

from kept_records import add_missing

from manyview.data.label_values import is_known
from manyview.data.splits import hide_labels
from manyview.estimators.mgcn_dns import MGCNDNSClassifier
from manyview.runs.records import score
from manyview.tuning.search import tune

RESULTS = Path(__file__).parent.parent / "results"
RECORDS = RESULTS / "tuning.jsonl"
TRIALS = RESULTS / "tuning"
DATASETS = ("bbcsports", "bbcnews", "mnist", "caltech101-7", "3sources", "digits")
RATIOS = (0.01, 0.1)
SEEDS = range(3)
N_TRIALS = 25


def compare(dataset, ratio, seed, n_trials, force):
    """Test accuracy of the defaults and of the choice, with what the tuning expected."""
    labels = hide_labels(dataset.labels, ratio, random_state=seed)
    hidden = ~is_known(labels)
    folder = TRIALS / f"{dataset.name}-{ratio:g}-{seed}{'-forced' * force}"
    start = perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # few labels: the record says it
        tuning = tune(
            dataset.views,
            labels,
            method=MGCNDNSClassifier(recipe="paper"),
            n_trials=n_trials,
            random_state=seed,
            folder=folder,
            force=force,
        )
    seconds = perf_counter() - start
    if tuning.stopped_ == "interrupted":
        raise KeyboardInterrupt
    defaults = MGCNDNSClassifier(recipe="paper", random_state=seed).fit(dataset.views, labels)
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
        "importance": {name: round(share, 4) for name, share in tuning.importance_.items()},
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
        ("ratio", "seed", "forced"),
        list(product(RATIOS, SEEDS, [asked.force])),
        lambda dataset, ratio, seed, force: compare(dataset, ratio, seed, asked.trials, force),
        lambda one: (
            f"defaults {one['default_accuracy']:.1%}, tuned {one['tuned_accuracy']:.1%} "
            f"({one['stopped']})"
        ),
    )


if __name__ == "__main__":
    main()
