"""Views of noise: how much of its accuracy each method keeps when some are added.

5 % of the samples are labeled; up to as many views as there are, 50 columns of Gaussian noise each,
are put beside the true ones. The same noise for all methods (see `compared.py`). Accuracy
is on the unlabeled samples. Every fit is one line of `results/noise_views.jsonl`; a study that was
stopped goes on where it stopped. With names of data sets, these alone.

    python benchmarks/noise_views.py [DATA ...]
    python benchmarks/noise_views.py --page [FIGURE]  # print the table, write the figure
"""

from pathlib import Path

import numpy as np
from compared import fresh, main
from study_lines import scores

from manyview.data.label_values import is_known
from manyview.data.splits import hide_labels
from manyview.data.views import MultiView

RECORDS = Path(__file__).parent.parent / "results" / "noise_views.jsonl"
DATASETS = (
    "3sources", "bbcsports", "digits", "mnist", "rosmap", "bbcnews", "reuters-1200", "caltech101-7",
)  # fmt: skip
SHARES = (0.0, 0.5, 1.0)  # noise views for each true one, rounded up
SEEDS = range(5)
RATIO = 0.05
X_NAME = "views of noise a true view (%)"
WIDTH = 50


def with_noise(views, share, rng):
    """Put views of noise beside the true ones, in the same numbers for every share before."""
    n_added = int(np.ceil(share * views.n_views))
    added = {f"noise {number}": rng.normal(size=(len(views), WIDTH)) for number in range(n_added)}
    return MultiView({**{name: views[name] for name in views.names}, **added})


def run(dataset, name, share, seed):
    labels = hide_labels(dataset.labels, RATIO, random_state=seed)
    views = with_noise(dataset.views, share, np.random.default_rng(seed))
    model = fresh(name, seed).fit(views, labels)
    found = scores(model.transduction_, dataset.labels, ~is_known(labels))
    importance = getattr(model, "view_importance_", None)
    if importance is not None:
        found["noise_importance"] = round(float(importance[dataset.views.n_views :].sum()), 4)
    return found | {"n_added": views.n_views - dataset.views.n_views, "ratio": RATIO}


if __name__ == "__main__":
    main(RECORDS, DATASETS, SHARES, SEEDS, run, x_name=X_NAME)
