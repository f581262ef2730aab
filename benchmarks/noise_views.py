"""Noise views: how much accuracy each method keeps when views of pure noise are added.

5% of the samples are labeled. Up to as many noise views as there are true views are added, each
with 50 columns of Gaussian noise; all methods get the same noise (see `compared.py`). Accuracy is
on the unlabeled samples. Every fit is one line of `results/noise_views.jsonl`; a study that was
stopped continues where it stopped. Name data sets to run these alone.

    python benchmarks/noise_views.py [DATA ...]
    python benchmarks/noise_views.py --page [FIGURE]  # print the table, write the figure
"""

import numpy as np
from compared import main, make
from stored_records import RESULTS, scores

from manyview.data.label_values import is_known
from manyview.data.splits import hide_labels
from manyview.data.views import MultiView

RECORDS = RESULTS / "noise_views.jsonl"
DATASETS = (
    "3sources", "bbcsports", "digits", "mnist", "rosmap", "bbcnews", "reuters-1200", "caltech101-7",
)  # fmt: skip
FRACTIONS = (0.0, 0.5, 1.0)  # noise views per true view, rounded up
SEEDS = range(5)
LABEL_RATIO = 0.05
X_NAME = "noise views per true view (%)"
WIDTH = 50


def with_noise(views, fraction, rng):
    """Append noise views; a larger fraction appends further ones to those of a smaller."""
    n_added = int(np.ceil(fraction * views.n_views))
    added = {f"noise {number}": rng.normal(size=(len(views), WIDTH)) for number in range(n_added)}
    return MultiView({**{name: views[name] for name in views.names}, **added})


def run(dataset, name, fraction, seed):
    labels = hide_labels(dataset.labels, LABEL_RATIO, random_state=seed)
    views = with_noise(dataset.views, fraction, np.random.default_rng(seed))
    model = make(name, seed).fit(views, labels)
    found = scores(model.transduction_, dataset.labels, ~is_known(labels))
    importance = model.fit_summary().view_importance
    if importance is not None:
        of_noise = list(importance.values())[dataset.views.n_views :]
        found["noise_importance"] = round(float(np.sum(of_noise)), 4)
    n_added = views.n_views - dataset.views.n_views
    return found | {"n_added": n_added, "label_ratio": LABEL_RATIO}


if __name__ == "__main__":
    main(RECORDS, DATASETS, FRACTIONS, SEEDS, run, x_name=X_NAME)
