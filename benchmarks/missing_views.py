"""Samples that lack views: kept as they are, dropped, or filled with means.

From 0 to 50% of the (sample, view) pairs are removed at random, the same ones for all; every
sample keeps at least one view, and 10% of the samples are labeled. Then incomplete samples are

    kept      with the views they have (`MultiView(views, present=...)`)
    mean      filled with the mean of each column
    dropped   with their labels; they get the most frequent class among the known labels

Accuracy is on all unlabeled samples, and separately on complete and incomplete ones. Every fit is
one line of `results/missing_views.jsonl`; a study that was stopped continues where it stopped.
Name data sets to run these alone.

    python benchmarks/missing_views.py [DATA ...]
    python benchmarks/missing_views.py --page [FIGURE]  # print the table, write the figure
"""

import sys

import numpy as np
from compared import OWN, make
from robustness import main
from stored_records import RESULTS, scores

from manyview.data.label_values import is_known
from manyview.data.splits import hide_labels
from manyview.data.views import MultiView

RECORDS = RESULTS / "missing_views.jsonl"
DATASETS = ("3sources", "bbcnews", "rosmap", "mnist", "digits")
FRACTIONS = (0.0, 0.1, 0.3, 0.5)
WAYS = ("kept", "mean", "dropped")
SEEDS = range(5)
LABEL_RATIO = 0.1
X_NAME = "removed (%)"


def remove_pairs(n_samples, n_views, fraction, rng):
    """Return [sample, view] whether a pair remains; every sample keeps at least one view."""
    present = np.ones((n_samples, n_views), dtype=bool)
    n_left = round(fraction * present.size)
    for pair in rng.permutation(present.size):
        if n_left == 0:
            break
        sample, view = divmod(pair, n_views)
        if present[sample].sum() > 1:
            present[sample, view] = False
            n_left -= 1
    return present


def fill_means(views, present):
    """Fill missing rows with the mean of the rows that are present."""
    filled = {}
    for (name, view), own in zip(views.items(), present.T, strict=True):
        dense = np.array(view.toarray() if hasattr(view, "toarray") else view, dtype=np.float64)
        dense[~own] = dense[own].mean(axis=0)
        filled[name] = dense
    return MultiView(filled)


def predict_labels(dataset, way, present, labels, seed):
    """Label all samples, incomplete ones treated in one of the three ways."""
    model = make(OWN, seed)
    if way == "kept":
        return model.fit(MultiView(dataset.views, present=present), labels).transduction_
    if way == "mean":
        return model.fit(fill_means(dataset.views, present), labels).transduction_
    classes, counts = np.unique(labels[is_known(labels)], return_counts=True)
    predictions = np.repeat(classes[[counts.argmax()]], len(labels))
    whole = present.all(axis=1)
    if len(set(labels[whole][is_known(labels[whole])].tolist())) > 1:  # else nothing to learn
        predictions[whole] = model.fit(dataset.views[whole], labels[whole]).transduction_
    return predictions


def run(dataset, way, fraction, seed):
    rng = np.random.default_rng([seed, round(1000 * fraction)])
    present = remove_pairs(len(dataset.views), dataset.views.n_views, fraction, rng)
    labels = hide_labels(dataset.labels, LABEL_RATIO, random_state=seed)
    predictions = predict_labels(dataset, way, present, labels, seed)
    hidden, whole = ~is_known(labels), present.all(axis=1)
    right = predictions == dataset.labels
    parts = {"complete": hidden & whole, "incomplete": hidden & ~whole}
    of_parts = {
        f"accuracy_{name}": round(float(right[part].mean()), 6) if part.any() else None
        for name, part in parts.items()
    }
    n_parts = {f"n_{name}": int(part.sum()) for name, part in parts.items()}
    return (
        scores(predictions, dataset.labels, hidden)
        | of_parts
        | n_parts
        | {"label_ratio": LABEL_RATIO}
    )


if __name__ == "__main__":
    main(sys.argv[1:], RECORDS, DATASETS, WAYS, FRACTIONS, SEEDS, run, x_name=X_NAME, own="kept")
