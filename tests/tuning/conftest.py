"""A tuning that takes a moment."""

from dataclasses import replace

import pytest

from manyview.baselines.knn import KNNClassifier
from manyview.tuning.search import tune

SPACE = {"n_neighbors": [1, 2, 3, 5, 8, 12, 20], "scaling": ["unit", "standard"]}


@pytest.fixture
def quick(tiny_views):
    """Tune kNN on 60 samples; keyword arguments replace those of the call."""

    def call(**changes):
        settings = {
            "method": KNNClassifier(n_neighbors=4), "n_candidates": 6, "space": SPACE,
            "random_state": 0, "n_splits": 4,
        }  # fmt: skip
        labels = changes.pop("labels", tiny_views.known_labels)
        return tune(tiny_views.views, labels, **{**settings, **changes})

    return call


@pytest.fixture
def findings():
    """Return everything a tuning found, without times."""

    def found(tuning):
        candidates = [replace(one, seconds=0.0) for one in tuning.candidates_]
        best = tuning.best_params_, tuning.best_score_
        return *best, candidates, tuning.importance_, tuning.note_

    return found
