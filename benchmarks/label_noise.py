"""Wrong labels: how much accuracy each method keeps, and which labels it doubts.

10% of the samples are labeled, and 0 to 30% of these labels are wrong: each wrong one is drawn
uniformly from the other classes, or, with --confused, every class has one other class that its
wrong labels name. All methods get the same labels (see `compared.py`). Accuracy is on the unlabeled
samples. "cleanlab" is manyview fitted without its own audit, on the labels that cleanlab keeps:
`find_label_issues` on probabilities of logistic regression, cross-validated in five folds.

Every fit is one line of `results/label_noise.jsonl` (confused: `label_confusion.jsonl`); a study
that was stopped continues where it stopped. Name data sets to run these alone.

    python benchmarks/label_noise.py [--confused] [DATA ...]
    python benchmarks/label_noise.py [--confused] --page [FIGURE]  # print table, write figure
"""

import sys
from functools import partial

import numpy as np
import robustness
from compared import ALONE, OWN, SERIES, TITLES, make
from stored_records import RESULTS, scores

from manyview.data.label_values import is_known
from manyview.data.splits import hide_labels

RECORDS, CONFUSED_RECORDS = RESULTS / "label_noise.jsonl", RESULTS / "label_confusion.jsonl"
DATASETS = ("3sources", "bbcsports", "mnist", "digits", "bbcnews", "caltech101-7")
FRACTIONS = (0.0, 0.05, 0.1, 0.2, 0.3)
SEEDS = range(5)
LABEL_RATIO = 0.1
N_FOLDS = 5
X_NAME = "wrong labels (%)"
CLEANLAB = "cleanlab"
ALL_SERIES = (OWN, CLEANLAB, ALONE, *(one for one in SERIES if one not in (OWN, ALONE)))
ALL_TITLES = TITLES | {CLEANLAB: "manyview on the labels that cleanlab keeps"}
# Of confused labels, the methods that stood even ones best, and what users would try first.
CONFUSED_SERIES = (OWN, CLEANLAB, ALONE, "mlan", "label-spreading", "ssgcn")


def corrupt(labels, fraction, rng, *, confused=False):
    """Make a fraction of the known labels wrong, rounded to whole labels."""
    known = np.flatnonzero(is_known(labels))
    classes = np.unique(labels[known])
    corrupted = labels.copy()
    partner = dict(zip(classes, np.roll(classes, 1), strict=True))
    for sample in rng.permutation(known)[: round(fraction * len(known))]:
        own = labels[sample]
        corrupted[sample] = partner[own] if confused else rng.choice(classes[classes != own])
    return corrupted


def doubted_by_cleanlab(views, labels, seed):
    """Return the rows whose labels cleanlab doubts."""
    from cleanlab.filter import find_label_issues

    from manyview.cross_fitting.folds import held_out_parts
    from manyview.data.views import MultiView
    from manyview.methods import METHODS

    rows = np.flatnonzero(is_known(labels))
    classes, y_known = np.unique(labels[rows], return_inverse=True)
    y_encoded = np.full(len(labels), -1)
    y_encoded[rows] = y_known
    parts = held_out_parts(y_encoded, N_FOLDS, np.random.default_rng(seed))
    regression = METHODS["logistic-regression"]()
    held = regression.fit_held_out(MultiView(views), y_encoded, classes, parts)
    is_held = parts[rows] >= 0
    chances = held[rows[is_held]]
    chances /= chances.sum(axis=1, keepdims=True)
    return rows[is_held][find_label_issues(y_known[is_held], chances, n_jobs=1)]


def run(dataset, name, fraction, seed, *, confused=False):
    shown = hide_labels(dataset.labels, LABEL_RATIO, random_state=seed)
    # One order of samples for all fractions: a larger one corrupts further labels.
    labels = corrupt(shown, fraction, np.random.default_rng(seed), confused=confused)
    is_wrong = labels != shown
    counts = {"n_labeled": int(is_known(shown).sum()), "n_wrong": int(is_wrong.sum())}
    if name == CLEANLAB:
        doubted = doubted_by_cleanlab(dataset.views, labels, seed)
        used = labels.astype(object)
        used[doubted] = None
        model = make(OWN, seed, label_audit=None).fit(dataset.views, used)
    else:
        model = make(name, seed).fit(dataset.views, labels)
        doubted = None
        if name == OWN:
            doubted = model.label_issues_.samples[model.label_issues_.is_suspicious]
    if doubted is not None:
        counts |= {"n_doubted": len(doubted), "n_found": int(is_wrong[doubted].sum())}
    found = scores(model.transduction_, dataset.labels, ~is_known(shown))
    return found | counts | {"label_ratio": LABEL_RATIO}


if __name__ == "__main__":
    arguments = sys.argv[1:]
    is_confused = arguments[:1] == ["--confused"]
    robustness.main(
        arguments[is_confused:],
        CONFUSED_RECORDS if is_confused else RECORDS,
        DATASETS,
        CONFUSED_SERIES if is_confused else ALL_SERIES,
        FRACTIONS,
        SEEDS,
        partial(run, confused=is_confused),
        x_name=X_NAME,
        own=OWN,
    )
