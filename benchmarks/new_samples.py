"""Samples that come later: labeled by `predict`, against being in the fit without a label.

A random fifth of the samples is either kept out of the fit and given to `predict`, or put into
the fit unlabeled; 10 % of the others are labeled. Every fit is one line of
`results/new_samples.jsonl`; a run that was stopped goes on where it stopped.

    python benchmarks/new_samples.py
"""

from itertools import product
from pathlib import Path

import numpy as np
from kept_records import add_missing

from manyview.data.splits import draw_labeled, hide_labels
from manyview.data.views import MultiView
from manyview.estimators.mgcn_dns import MGCNDNSClassifier

RECORDS = Path(__file__).parent.parent / "results" / "new_samples.jsonl"
DATASETS = ("bbcsports", "mnist", "digits")
VARIANTS = ("held out", "in the fit")
RATIO = 0.1
SEEDS = range(5)


def run(dataset, variant, seed):
    """Accuracy on the fifth that comes later."""
    is_new = draw_labeled(dataset.labels, 0.2, random_state=1000 + seed)
    labels = np.full(len(is_new), None, dtype=object)
    labels[~is_new] = hide_labels(dataset.labels[~is_new], RATIO, random_state=seed).astype(object)
    model = MGCNDNSClassifier(random_state=seed)
    views = MultiView(dataset.views)
    if variant == "held out":
        predictions = model.fit(views[~is_new], labels[~is_new]).predict(views[is_new])
    else:
        predictions = model.fit(views, labels).transduction_[is_new]
    accuracy = round(float(np.mean(predictions == dataset.labels[is_new])), 6)
    return {"ratio": RATIO, "accuracy": accuracy}


def main():
    settings = list(product(VARIANTS, SEEDS))
    add_missing(
        RECORDS, DATASETS, ("variant", "seed"), settings, run, lambda one: f"{one['accuracy']:.1%}"
    )


if __name__ == "__main__":
    main()
