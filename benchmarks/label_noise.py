"""Wrong labels: how much accuracy each method keeps.

10% of the samples are labeled, and 0 to 30% of these labels are wrong: each wrong one is drawn
uniformly from the other classes. All methods get the same labels (see `compared.py`). Accuracy is
on the unlabeled samples. "manyview-leave-out" is the default with the labels left out that its
audit doubts (`label_audit="leave-out"`). Every fit is one line of `results/label_noise.jsonl`; a
study that was stopped continues where it stopped. Name data sets to run these alone.

    python benchmarks/label_noise.py [DATA ...]
    python benchmarks/label_noise.py --page [FIGURE]  # print the table, write the figure
"""

import numpy as np
from compared import OWN, SERIES, TITLES, main, make
from stored_records import RESULTS, scores

from manyview.data.label_values import is_known
from manyview.data.splits import hide_labels

RECORDS = RESULTS / "label_noise.jsonl"
DATASETS = ("3sources", "bbcsports", "mnist", "digits")
FRACTIONS = (0.0, 0.05, 0.1, 0.2, 0.3)
SEEDS = range(5)
LABEL_RATIO = 0.1
X_NAME = "wrong labels (%)"
LEAVE_OUT = "manyview-leave-out"
ALL_SERIES = (OWN, LEAVE_OUT, *(one for one in SERIES if one != OWN))
ALL_TITLES = TITLES | {LEAVE_OUT: "manyview, doubted labels left out"}


def corrupt(labels, fraction, rng):
    """Make a fraction of the known labels wrong, rounded to whole labels."""
    known = np.flatnonzero(is_known(labels))
    classes = np.unique(labels[known])
    corrupted = labels.copy()
    for sample in rng.permutation(known)[: round(fraction * len(known))]:
        corrupted[sample] = rng.choice(classes[classes != labels[sample]])
    return corrupted


def run(dataset, name, fraction, seed):
    shown = hide_labels(dataset.labels, LABEL_RATIO, random_state=seed)
    # One order of samples for all fractions: a larger one corrupts further labels.
    labels = corrupt(shown, fraction, np.random.default_rng(seed))
    params = {"label_audit": "leave-out"} if name == LEAVE_OUT else {}
    model = make(OWN if name == LEAVE_OUT else name, seed, **params).fit(dataset.views, labels)
    is_wrong = labels != shown
    counts = {"n_labeled": int(is_known(shown).sum()), "n_wrong": int(is_wrong.sum())}
    if name == LEAVE_OUT:
        doubted = model.label_issues_.samples[model.label_issues_.is_suspicious]
        counts |= {"n_doubted": len(doubted), "n_found": int(is_wrong[doubted].sum())}
    found = scores(model.transduction_, dataset.labels, ~is_known(shown))
    return found | counts | {"label_ratio": LABEL_RATIO}


if __name__ == "__main__":
    main(RECORDS, DATASETS, FRACTIONS, SEEDS, run, x_name=X_NAME, series=ALL_SERIES)
