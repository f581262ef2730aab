"""New samples: labeled by `predict` after the fit, or fitted without a label.

A random fifth of the samples is either held out and passed to `predict`, or part of the fit
without labels; 10% of the others are labeled. Every fit is one line of
`results/new_samples.jsonl`; a study that was stopped continues where it stopped.

    python benchmarks/new_samples.py
"""

from itertools import product

import numpy as np
from compared import make
from stored_records import RESULTS, add_missing

from manyview.data.splits import draw_labeled, hide_labels
from manyview.data.views import MultiView

RECORDS = RESULTS / "new_samples.jsonl"
DATASETS = ("bbcsports", "mnist", "digits")
VARIANTS = ("held out", "in the fit")
LABEL_RATIO = 0.1
SEEDS = range(5)


def run(dataset, variant, seed):
    """Return the accuracy on the new samples."""
    is_new = draw_labeled(dataset.labels, 0.2, random_state=1000 + seed)
    labels = np.full(len(is_new), None, dtype=object)
    labels[~is_new] = hide_labels(dataset.labels[~is_new], LABEL_RATIO, random_state=seed).astype(
        object
    )
    model = make("manyview", seed)
    views = MultiView(dataset.views)
    if variant == "held out":
        predictions = model.fit(views[~is_new], labels[~is_new]).predict(views[is_new])
    else:
        predictions = model.fit(views, labels).transduction_[is_new]
    accuracy = round(float(np.mean(predictions == dataset.labels[is_new])), 6)
    return {"label_ratio": LABEL_RATIO, "accuracy": accuracy}


if __name__ == "__main__":
    add_missing(RECORDS, DATASETS, ("variant", "seed"), list(product(VARIANTS, SEEDS)), run)
