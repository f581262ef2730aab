"""A random forest on the same splits: what a scikit-learn user would try first on a wide table.

300 trees on all features of all views side by side, trained on the labeled samples; accuracy on
the unlabeled ones. Every fit is one line of `results/random_forest.jsonl`.

    python benchmarks/random_forest.py [DATA ...]
"""

import sys

import numpy as np
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from stored_records import RESULTS, add_missing, read, scores

from manyview.data.label_values import is_known
from manyview.data.splits import hide_labels

RECORDS = RESULTS / "random_forest.jsonl"
DATASETS = (
    "3sources", "rosmap", "bbcsports", "bbcnews", "reuters-1200", "digits", "mnist", "caltech101-7",
    "caltech101-20", "scene-15",
)  # fmt: skip
RATIOS = (0.01, 0.05, 0.1)
SEEDS = range(5)


def run(dataset, label_ratio, seed):
    """Fit the forest on one split."""
    labels = hide_labels(dataset.labels, label_ratio, random_state=seed)
    features = sparse.hstack(
        [sparse.csr_array(view.astype(np.float32)) for view in dataset.views], format="csr"
    )
    known = is_known(labels)
    forest = RandomForestClassifier(300, random_state=seed)
    forest.fit(features[known], labels[known])
    return scores(forest.predict(features), dataset.labels, ~known)


def means(datasets, field="accuracy"):
    """Mean percentage over the data sets by label ratio; None where a split has no record."""
    found = {(r["dataset"], r["label_ratio"], r["seed"]): r[field] for r in read(RECORDS)}
    by_ratio = {}
    for ratio in RATIOS:
        keys = [(dataset, ratio, seed) for dataset in datasets for seed in SEEDS]
        is_whole = all(key in found for key in keys)
        by_ratio[ratio] = 100 * np.mean([found[key] for key in keys]) if is_whole else None
    return by_ratio


if __name__ == "__main__":
    settings = [(ratio, seed) for ratio in RATIOS for seed in SEEDS]
    add_missing(RECORDS, sys.argv[1:] or DATASETS, ("label_ratio", "seed"), settings, run)
