"""How reliable probabilities are, before and after calibration on held-out labels.

Every fit is one line of `results/calibration.jsonl`: the expected calibration error (15 bins of
equal width) and the log loss (negative log-likelihood, in nats) of the hidden labels, with the
probabilities of a fit without calibration, with the temperature from one fold, from three folds,
and with the best temperature, found on the hidden labels themselves. A study that was stopped
continues where it stopped.

    python benchmarks/calibration.py                        # all data sets
    python benchmarks/calibration.py 3sources digits        # these
    python benchmarks/calibration.py --table                # the records so far
"""

import sys
import warnings
from itertools import product
from time import perf_counter

import numpy as np
from compared import make
from rich.console import Console
from stored_records import RESULTS, add_missing, read

from manyview.data.label_values import is_known
from manyview.data.splits import hide_labels
from manyview.errors import CalibrationWarning
from manyview.estimators.calibration import (
    choose_n_folds,
    expected_calibration_error,
    fit_temperature,
    held_out_parts,
)
from manyview.estimators.parameters import CalibrationConfig
from manyview.numerics import softmax

RECORDS = RESULTS / "calibration.jsonl"
DATASETS = ("3sources", "digits", "bbcsports", "bbcnews", "mnist", "caltech101-7")
LABEL_RATIOS = (0.01, 0.1)
SEEDS = range(3)


def judge(logits, truth, temperature):
    chances = softmax(logits / temperature)
    own = chances[np.arange(len(truth)), truth]
    return {
        "temperature": round(float(temperature), 4),
        "ece": round(expected_calibration_error(chances, truth), 6),
        "log_loss": round(float(-np.log(np.maximum(own, 1e-12)).mean()), 6),
    }


def run(dataset, label_ratio, seed):
    """Fit once with three folds; the first of them alone gives the result of one fold."""
    labels = hide_labels(dataset.labels, label_ratio, random_state=seed)
    hidden = ~is_known(labels)
    model = make("manyview", seed, calibration=CalibrationConfig(n_folds=3))
    start = perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CalibrationWarning)
        model.fit(dataset.views, labels)
    seconds = perf_counter() - start
    found = model.calibration_
    # Undo the calibration.
    logits = model.explainer().logits[hidden] * (1.0 if found is None else found.temperature)
    truth = np.searchsorted(model.classes_, dataset.labels[hidden])
    temperatures = {"before": 1.0, "best": fit_temperature(logits, truth, prior_spread=1e6)}
    record = {"n_labeled": int((~hidden).sum()), "n_held_out": 0, "n_folds_auto": None}
    if found is not None:
        parts = held_out_parts(model.y_, 3, np.random.default_rng(seed))
        first = parts[found.samples] == parts[found.samples].min()
        temperatures["one fold"] = fit_temperature(found.logits[first], found.y_encoded[first])
        temperatures["three folds"] = found.temperature
        record["n_held_out"] = found.n_held_out
        record["n_folds_auto"] = choose_n_folds(model.y_)
    return {
        **record,
        "accuracy": round(float((logits.argmax(axis=1) == truth).mean()), 6),
        "seconds": round(seconds, 2),
        **{name: judge(logits, truth, one) for name, one in temperatures.items()},
    }


def show_table(console):
    """Print means over the seeds; without labels to hold out the probabilities are unchanged."""
    kinds = ("before", "one fold", "three folds", "auto", "best")
    console.print("dataset        ratio  held out  " + "  ".join(f"{kind:>16}" for kind in kinds))
    records = read(RECORDS)
    for name, ratio in product(DATASETS, LABEL_RATIOS):
        found = [one for one in records if (one["dataset"], one["label_ratio"]) == (name, ratio)]
        if not found:
            continue
        cells = []
        for kind in kinds:
            judged = []
            for one in found:
                chosen = {1: "one fold", 3: "three folds", None: "before"}[one["n_folds_auto"]]
                judged.append(one.get(chosen if kind == "auto" else kind, one["before"]))
            ece, heat = (np.mean([one[part] for one in judged]) for part in ("ece", "temperature"))
            cells.append(f"{ece:7.1%} T {heat:5.2f}")
        held_out = np.mean([one["n_held_out"] for one in found])
        listed = "  ".join(f"{cell:>16}" for cell in cells)
        console.print(f"{name:<14} {ratio:<5}  {held_out:8.0f}  {listed}")


def main():
    console = Console(width=150, highlight=False)
    if "--table" in sys.argv:
        show_table(console)
        return
    add_missing(
        RECORDS,
        sys.argv[1:] or DATASETS,
        ("label_ratio", "seed"),
        list(product(LABEL_RATIOS, SEEDS)),
        run,
        lambda one: (
            f"ECE {one['before']['ece']:.1%} {one.get('three folds', one['before'])['ece']:.1%}"
        ),
    )
    show_table(console)


if __name__ == "__main__":
    main()
