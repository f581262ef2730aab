"""Classes of very unequal size in raw units: 60,000 rows of KDD99, 1% labeled.

Every fit is one line of `results/kdd99.jsonl`; a study that was stopped continues where it stopped.

    python benchmarks/kdd99.py
"""

from itertools import product
from types import SimpleNamespace

import numpy as np
from compared import ALONE, OWN, TITLES, make
from formatting import spread, table
from stored_records import RESULTS, add_missing, read, scores

from manyview.data.catalog.load import load_dataset
from manyview.data.label_values import is_known
from manyview.data.splits import hide_labels
from manyview.data.views import MultiView

RECORDS = RESULTS / "kdd99.jsonl"
NAME = "kdd99"
N_SAMPLES = 60_000
LABEL_RATIO = 0.01
SERIES = (OWN, ALONE, "random-forest", "logistic-regression")
SEEDS = range(3)
METRICS = {"accuracy": "accuracy", "balanced_accuracy": "balanced accuracy", "macro_f1": "macro-F1"}


def run(dataset, series, seed):
    rows = np.random.default_rng(seed).choice(len(dataset.labels), N_SAMPLES, replace=False)
    rows.sort()
    views, truth = MultiView(dataset.views)[rows], dataset.labels[rows].astype(str)
    labels = hide_labels(truth, LABEL_RATIO, random_state=seed)
    model = make(series, seed).fit(views, labels)
    return scores(model.transduction_, truth, ~is_known(labels)) | {"label_ratio": LABEL_RATIO}


def load(name):
    data = load_dataset(name)
    return SimpleNamespace(
        views=data.views, labels=np.asarray(data.labels, dtype=object), sha256=data.sha256
    )


def kdd99_table():
    """Return one row per method: its scores, mean (deviation) over the seeds that all have."""
    found = {(one["series"], one["seed"]): one for one in read(RECORDS)}
    seeds = [seed for seed in SEEDS if all((one, seed) in found for one in SERIES)]
    if not seeds:
        return "No split has been run with all methods yet."
    rows = [
        [
            TITLES.get(one, one.replace("-", " ")),
            *(spread([100 * found[one, seed][metric] for seed in seeds]) for metric in METRICS),
        ]
        for one in SERIES
    ]
    return table([f"method (n = {len(seeds)})", *METRICS.values()], rows)


if __name__ == "__main__":
    settings = sorted(product(SERIES, SEEDS), key=lambda one: one[1])
    add_missing(RECORDS, [NAME], ("series", "seed"), settings, run, load=load)
