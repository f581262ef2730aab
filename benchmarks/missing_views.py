"""Samples that lack views: kept as they are, against dropping them and against filling in means.

From 0 to 50 % of the (sample, view) pairs are removed at random, the same ones for all; every
sample keeps at least one view, and 10 % of the samples are labeled. What is done then:

    kept      the views as they are, with who has which (`MultiView(views, present=...)`)
    mean      what is missing is filled with the mean of its column
    dropped   samples that lack a view leave the data set, with their labels; asked for their label,
              one can only say the class most frequent among the known labels

Accuracy is on all unlabeled samples, and beside it on those that have all views and those that
lack one. Every fit is one line of `results/missing_views.jsonl`; a study that was stopped goes on
where it stopped. With names of data sets, these alone.

    python benchmarks/missing_views.py [DATA ...]
    python benchmarks/missing_views.py --page [FIGURE]  # print the table, write the figure
"""

import sys
from pathlib import Path

import numpy as np
from study_lines import main, scores

from manyview.data.label_values import is_known
from manyview.data.splits import hide_labels
from manyview.data.views import MultiView
from manyview.estimators.mgcn_dns import MGCNDNSClassifier

RECORDS = Path(__file__).parent.parent / "results" / "missing_views.jsonl"
DATASETS = ("3sources", "bbcnews", "rosmap", "mnist", "digits")
SHARES = (0.0, 0.1, 0.3, 0.5)
WAYS = ("kept", "mean", "dropped")
SEEDS = range(5)
RATIO = 0.1
X_NAME = "removed (%)"


def remove_pairs(n_samples, n_views, share, rng):
    """[sample, view] what is left when a share of the pairs goes; every sample keeps one view."""
    present = np.ones((n_samples, n_views), dtype=bool)
    n_left = round(share * present.size)
    for pair in rng.permutation(present.size):
        if n_left == 0:
            break
        sample, view = divmod(pair, n_views)
        if present[sample].sum() > 1:
            present[sample, view] = False
            n_left -= 1
    return present


def fill_means(views, present):
    """Put the mean of the rows that are there in the place of those that are not."""
    filled = {}
    for (name, view), own in zip(views.items(), present.T, strict=True):
        dense = np.array(view.toarray() if hasattr(view, "toarray") else view, dtype=np.float64)
        dense[~own] = dense[own].mean(axis=0)
        filled[name] = dense
    return MultiView(filled)


def prediction(dataset, way, present, labels, seed):
    """Label all samples in one of the three ways."""
    model = MGCNDNSClassifier(recipe="paper", random_state=seed)
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


def run(dataset, way, share, seed):
    rng = np.random.default_rng([seed, round(1000 * share)])
    present = remove_pairs(len(dataset.views), dataset.views.n_views, share, rng)
    labels = hide_labels(dataset.labels, RATIO, random_state=seed)
    predictions = prediction(dataset, way, present, labels, seed)
    hidden, whole = ~is_known(labels), present.all(axis=1)
    right = predictions == dataset.labels
    parts = {"complete": hidden & whole, "incomplete": hidden & ~whole}
    of_parts = {
        f"accuracy_{name}": round(float(right[part].mean()), 6) if part.any() else None
        for name, part in parts.items()
    }
    n_parts = {f"n_{name}": int(part.sum()) for name, part in parts.items()}
    return scores(predictions, dataset.labels, hidden) | of_parts | n_parts | {"ratio": RATIO}


if __name__ == "__main__":
    main(sys.argv[1:], RECORDS, DATASETS, WAYS, SHARES, SEEDS, run, x_name=X_NAME, own="kept")
