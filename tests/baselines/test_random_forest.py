"""Random forest on the raw columns of all views."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier

from manyview.baselines.random_forest import ForestClassifier
from manyview.baselines.solvers.growing import _sorted_rows
from manyview.data.views import MultiView
from manyview.errors import DataFileError


def fit(views, labels, **parameters):
    return ForestClassifier(**{"n_estimators": 30, "random_state": 0} | parameters).fit(
        views, labels
    )


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_probabilities_equal_those_of_scikit_learn(tiny_views, class_weight):
    labels = tiny_views.known_labels.copy()
    labels[np.flatnonzero(labels == 2)[1:]] = -1
    table = np.hstack(list(tiny_views.views.values())).astype(np.float32)
    known = labels >= 0
    reference = RandomForestClassifier(30, class_weight=class_weight, random_state=0)
    reference.fit(*_sorted_rows(table[known], labels[known]))
    model = fit(tiny_views.views, labels, class_weight=class_weight)
    np.testing.assert_array_equal(model.label_distributions_, reference.predict_proba(table))


def test_a_forest_of_300_trees_is_the_default():
    assert ForestClassifier().n_estimators == 300


def test_views_that_samples_lack_are_missing_values(tiny_views):
    present = np.ones((60, 2), dtype=bool)
    present[::3, 1] = False
    table = np.hstack(list(tiny_views.views.values())).astype(np.float32)
    table[::3, 5:] = np.nan
    known = tiny_views.known_labels >= 0
    reference = RandomForestClassifier(30, random_state=0)
    reference.fit(*_sorted_rows(table[known], tiny_views.known_labels[known]))
    expected = reference.predict_proba(table)
    for as_view in (np.asarray, sparse.csr_array):
        views = {name: as_view(view) for name, view in tiny_views.views.items()}
        incomplete = MultiView(views, present=present)
        model = fit(incomplete, tiny_views.known_labels)
        np.testing.assert_array_equal(model.label_distributions_, expected)
        np.testing.assert_array_equal(model.predict_proba(incomplete), expected)


def test_loaded_forest_predicts_the_same_bits_without_training(tiny_views, tmp_path, monkeypatch):
    model = fit(tiny_views.views, tiny_views.known_labels, random_state=None)
    model.save(tmp_path)
    monkeypatch.setattr(RandomForestClassifier, "fit", None)
    loaded = ForestClassifier.load(tmp_path)
    new = {name: view[::-1] + 0.3 for name, view in tiny_views.views.items()}
    np.testing.assert_array_equal(loaded.predict_proba(new), model.predict_proba(new))


def test_damaged_trees_are_refused(tiny_views, tmp_path):
    model = fit(tiny_views.views, tiny_views.known_labels)
    model.trees_.values[0] = -1.0
    model.save(tmp_path)
    with pytest.raises(DataFileError, match="must hold fractions"):
        ForestClassifier.load(tmp_path)
    model.trees_.values[0] = [1.0, 0.0, 0.0]
    model.trees_.column[0] = 99
    model.save(tmp_path)
    with pytest.raises(DataFileError, match="must compare one of 13 columns"):
        ForestClassifier.load(tmp_path)


def test_held_out_predictions_of_a_fit_are_even_where_every_tree_drew_the_sample(tiny_views):
    labels = tiny_views.known_labels
    parts = np.where(labels >= 0, 0, -1)
    parts[np.flatnonzero(labels >= 0)[0]] = -1
    model = ForestClassifier(n_estimators=2, random_state=0)
    held_out = model.fit_held_out(MultiView(tiny_views.views), labels, np.arange(3), parts)
    assert np.isnan(held_out[parts < 0]).all()
    is_even = (held_out[parts == 0] == 1 / 3).all(axis=1)
    assert 0 < is_even.sum() < len(is_even)
    np.testing.assert_allclose(held_out[parts == 0].sum(axis=1), 1)
    whole = fit(tiny_views.views, labels, n_estimators=2)
    np.testing.assert_array_equal(model.label_distributions_, whole.label_distributions_)
