"""What a run says about scaling: what was done, and only advice that was not followed yet."""

import numpy as np
import pytest

from manyview.baselines.knn import KNNClassifier
from manyview.data.scaling import suggest_scaling
from manyview.data.views import MultiView
from manyview.estimators.manyview import ManyviewClassifier
from manyview.runs.scaling import scaling_advice, scaling_used

WIDE = "View wide: its columns differ in size (the widest has "


@pytest.fixture
def views(rng):
    """An even view, one whose columns differ in size, and word counts."""
    even = rng.normal(size=(20, 3))
    counts = (rng.random((20, 50)) < 0.05) * 2.0
    counts[:, 0] = np.arange(20) % 2  # so that no row is empty in all columns
    return MultiView({"even": even, "wide": even * [1, 1, 1000], "words": counts})


@pytest.fixture
def labels():
    return np.array([0, 1] * 4 + [-1] * 12)


def test_method_with_one_scaling_is_advised_another(views, labels):
    model = KNNClassifier().fit(views, labels)
    assert scaling_used(model, views) == dict.fromkeys(views.names, "unit")
    wide, words = scaling_advice(model, views)
    assert wide.startswith(WIDE)
    assert wide.endswith(": try scaling 'standard'.")
    assert words.startswith("View words: it holds mostly zeros and whole numbers")
    assert words.endswith(": try scaling 'tfidf'.")


def test_what_was_done_is_not_advised(views, labels):
    scaling = {"wide": "standard", "words": "tfidf"}
    model = KNNClassifier(scaling=scaling).fit(views, labels)
    assert scaling_used(model, views) == {"even": "unit", **scaling}
    assert scaling_advice(model, views) == ()


def test_auto_is_not_advised_what_it_compared_but_what_it_does_not_try(views, labels):
    quick = {"estimator__max_epochs": 2, "graph__n_neighbors": 3}
    model = ManyviewClassifier(random_state=0).set_params(**quick).fit(views, labels)
    assert scaling_used(model, views) == model.scaling_
    (words,) = scaling_advice(model, views)
    assert words.startswith("View words")
    model = ManyviewClassifier(random_state=0).set_params(**quick, scaling="unit")
    assert len(scaling_advice(model.fit(views, labels), views)) == 2


def test_auto_with_a_single_view_compares_nothing(views, labels):
    alone = MultiView({"wide": views["wide"]})
    model = ManyviewClassifier(random_state=0)
    model.set_params(estimator__max_epochs=2, graph__n_neighbors=3).fit(alone, labels)
    assert model.scaling_ == {"wide": "unit"}
    (advice,) = scaling_advice(model, alone)
    assert advice.startswith(WIDE)


def test_constant_columns_are_named_whatever_was_done(views, labels):
    views = MultiView({**dict(views.items()), "flat": np.ones((20, 4)), "level": np.ones((20, 2))})
    model = KNNClassifier(scaling="standard").fit(views, labels)
    constant = "Each of views flat, level: all its columns are constant, so it cannot separate"
    assert constant in " ".join(scaling_advice(model, views))


def test_view_with_missing_cells_is_judged_by_its_complete_rows(views, labels):
    wide = views["wide"].copy()
    wide[3, 1] = np.nan
    views = views.with_views({"wide": wide})
    model = KNNClassifier(missing="impute").fit(views, labels)
    assert scaling_advice(model, views)[0].startswith(WIDE)


def test_suggestion_depends_on_what_was_tried(views):
    assert suggest_scaling(views["wide"], ("unit", "standard")) is None
    assert suggest_scaling(views["words"], ("tfidf",)) is None
    assert "tfidf" in suggest_scaling(views["words"], ("unit", "standard"))
