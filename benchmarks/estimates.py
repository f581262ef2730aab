"""Does manyview know how good it is? Estimated against true scores, and calibration.

For each split, the accuracy, balanced accuracy and macro-F1 that the fit estimates from given
labels, with 95% intervals, beside those on the unlabeled samples; and the expected calibration
error (ECE) of the probabilities, beside the one that perfectly calibrated probabilities would have
on as many samples. Splits with too few labels for an estimate are recorded without one.
Every fit is one line of `results/estimates.jsonl`; a study that was stopped continues where it
stopped.

    python benchmarks/estimates.py [DATA ...]
"""

import sys
from collections import defaultdict
from itertools import product

import numpy as np
from compared import OWN, make
from formatting import and_list, table
from stored_records import RESULTS, add_missing, read, scores

from manyview.data.label_values import is_known
from manyview.data.splits import hide_labels
from manyview.estimators.calibration import expected_calibration_error
from manyview.numerics import softmax
from manyview.report.study.results import dataset_title

RECORDS = RESULTS / "estimates.jsonl"
DATASETS = (
    "rosmap", "bbcsports", "bbcnews", "reuters-1200", "digits", "mnist", "caltech101-7", "scene-15",
)  # fmt: skip
LABEL_RATIOS = (0.05, 0.1)
SEEDS = range(14)
N_DRAWS = 100
SCORES = {"accuracy": "accuracy", "balanced_accuracy": "balanced", "macro_f1": "macro-F1"}


def run(dataset, label_ratio, seed):
    labels = hide_labels(dataset.labels, label_ratio, random_state=seed)
    hidden = ~is_known(labels)
    model = make(OWN, seed).fit(dataset.views, labels)
    y_hidden = np.searchsorted(model.classes_, dataset.labels[hidden])
    chances = {
        "calibration_error": model.label_distributions_,
        "calibration_error_alone": network_probabilities(model),
    }
    errors = {
        name: round(expected_calibration_error(one[hidden], y_hidden), 6)
        for name, one in chances.items()
    }
    errors["calibration_error_by_chance"] = round(
        error_by_chance(model.label_distributions_[hidden], np.random.default_rng(seed)), 6
    )
    found = model.performance_
    intervals = {
        f"estimated_{name}": None
        if found is None
        else [round(getattr(getattr(found, name), part), 6) for part in ("value", "low", "high")]
        for name in SCORES
    }
    n_hidden_once = len(model.cross_fit_.samples)
    return (
        scores(model.transduction_, dataset.labels, hidden)
        | errors
        | intervals
        | {"n_labels": n_hidden_once}
    )


def error_by_chance(probabilities, rng):
    """Return the mean ECE where each prediction is right with just its probability."""
    drawn = []
    for _ in range(N_DRAWS):
        is_right = rng.random(len(probabilities)) < probabilities.max(axis=1)
        y_drawn = np.where(is_right, probabilities.argmax(axis=1), -1)
        drawn.append(expected_calibration_error(probabilities, y_drawn))
    return float(np.mean(drawn))


def network_probabilities(model):
    """Return the class probabilities of the network before the mixture: [sample, class]."""
    mixed = np.log(np.maximum(model.label_distributions_, np.finfo(float).tiny))
    of_network = mixed - sum(model.table_logits_.values())
    return softmax(of_network / model.cross_fit_.weights["network"])


def estimate_table():
    """Return one row per data set and label ratio: accuracy, estimate, coverage, calibration."""
    by_place = defaultdict(list)
    for record in read(RECORDS):
        by_place[record["dataset"], record["label_ratio"]].append(record)
    rows = []
    for (name, ratio), records in by_place.items():
        known = [one for one in records if one["estimated_accuracy"] is not None]
        cells = ["-"] * 4
        if known:
            value, low, high = np.mean([one["estimated_accuracy"] for one in known], axis=0)
            covered = ", ".join(f"{100 * coverage(known, score):.0f}" for score in SCORES)
            cells = [f"{100 * value:.1f}", f"{100 * low:.0f} to {100 * high:.0f}", covered]
            cells.append(str(len(known)))
        errors = [
            f"{100 * np.mean([one[field] for one in records]):.1f}"
            for field in ("calibration_error", "calibration_error_alone")
        ]
        accuracy = f"{100 * np.mean([one['accuracy'] for one in records]):.1f}"
        rows.append([dataset_title(name), f"{ratio:.0%}", accuracy, *cells, *errors])
    heads = ["data set", "labels", "accuracy", "estimated", "mean interval"]
    heads += ["intervals that cover (%): accuracy, balanced, macro-F1", "splits"]
    return table([*heads, "ECE", "ECE, network alone"], rows, n_words=2)


def coverage(records, score="accuracy"):
    """Return the fraction of the intervals that hold the true score."""
    return float(
        np.mean([low <= one[score] <= high for one in records
                 for _, low, high in [one[f"estimated_{score}"]]])
    )  # fmt: skip


def sentence():
    """Return the coverage of all intervals, and the mean calibration error by label ratio."""
    records = read(RECORDS)
    known = [one for one in records if one["estimated_accuracy"] is not None]
    if not known:
        return "Nothing has run yet."
    covered = and_list([f"{coverage(known, one):.0%} ({name})" for one, name in SCORES.items()])
    errors = []
    for ratio in LABEL_RATIOS:
        by_dataset = defaultdict(list)
        for one in records:
            if one["label_ratio"] == ratio:
                by_dataset[one["dataset"]].append(one["calibration_error"])
        mean = np.mean([np.mean(found) for found in by_dataset.values()])
        errors.append(f"{mean:.1%} with {ratio:.0%} labels (mean of {len(by_dataset)} data sets)")
    return (
        f"Of {len(known)} splits, {covered} have a true score within the 95% interval of the "
        f"estimate. The expected calibration error of the probabilities is {and_list(errors)}."
        f"{by_chance_sentence(records)}"
    )


def by_chance_sentence(records):
    """Return the part of the calibration error that so few samples show in any case."""
    by_dataset = defaultdict(list)
    for one in records:
        if "calibration_error_by_chance" in one:
            by_dataset[one["dataset"]].append(one["calibration_error_by_chance"])
    if not by_dataset:
        return ""
    means = {name: np.mean(found) for name, found in by_dataset.items()}
    name, largest = max(means.items(), key=lambda one: one[1])
    return (
        f" Perfectly calibrated probabilities would show {np.mean(list(means.values())):.1%} on as "
        f"many samples (mean of {len(means)} data sets), most on {dataset_title(name)}, "
        f"{largest:.1%}."
    )


if __name__ == "__main__":
    settings = sorted(product(LABEL_RATIOS, SEEDS), key=lambda one: one[1])
    add_missing(RECORDS, sys.argv[1:] or DATASETS, ("label_ratio", "seed"), settings, run)
