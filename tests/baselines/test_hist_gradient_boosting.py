"""Histogram gradient boosting on the raw columns of all views."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from manyview.baselines.hist_gradient_boosting import BoostingClassifier
from manyview.baselines.solvers.growing import _sorted_rows
from manyview.data.views import MultiView
from manyview.errors import DataFileError


def fit(views, labels, **parameters):
    return BoostingClassifier(**{"max_iter": 15, "random_state": 0} | parameters).fit(views, labels)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_probabilities_equal_those_of_scikit_learn(tiny_views, n_classes, class_weight):
    labels = np.where(tiny_views.known_labels < n_classes, tiny_views.known_labels, -1)
    labels[np.flatnonzero(labels == 1)[1:]] = -1
    table, known = np.hstack(list(tiny_views.views.values())).astype(np.float32), labels >= 0
    reference = HistGradientBoostingClassifier(
        max_iter=15, min_samples_leaf=1, class_weight=class_weight, early_stopping=False
    )
    reference.fit(*_sorted_rows(table[known], labels[known]))
    model = fit(tiny_views.views, labels, class_weight=class_weight)
    assert model.min_samples_leaf_ == 1
    np.testing.assert_allclose(
        model.label_distributions_, reference.predict_proba(table), rtol=1e-9
    )


def test_ten_labels_are_enough(tiny_views):
    labels = np.where(np.cumsum(tiny_views.known_labels >= 0) <= 10, tiny_views.known_labels, -1)
    assert (labels >= 0).sum() == 10
    model = BoostingClassifier().fit(tiny_views.views, labels)
    assert np.mean(model.transduction_ == tiny_views.labels) > 0.7


def test_scikit_learns_own_leaves_cannot_split_few_labels(tiny_views):
    model = fit(tiny_views.views, tiny_views.known_labels, min_samples_leaf=20)
    assert np.ptp(model.label_distributions_, axis=0).max() == 0


def test_a_class_with_one_label_of_thousands_is_no_problem(rng):
    labels = np.arange(12_000) % 2
    labels[5] = 2
    views = [rng.normal(size=(12_000, 3)) + labels[:, None]]
    model = fit(views, labels, max_iter=2)
    assert model.min_samples_leaf_ == 20
    assert np.isfinite(model.label_distributions_).all()


def test_views_that_samples_lack_are_missing_values(tiny_views):
    present = np.ones((60, 2), dtype=bool)
    present[::3, 1] = False
    table = np.hstack(list(tiny_views.views.values())).astype(np.float32)
    table[::3, 5:] = np.nan
    known = tiny_views.known_labels >= 0
    reference = HistGradientBoostingClassifier(max_iter=15, min_samples_leaf=1)
    reference.fit(*_sorted_rows(table[known], tiny_views.known_labels[known]))
    incomplete = MultiView(tiny_views.views, present=present)
    model = fit(incomplete, tiny_views.known_labels)
    expected = reference.predict_proba(table)
    np.testing.assert_allclose(model.label_distributions_, expected, rtol=1e-9)
    np.testing.assert_array_equal(model.predict_proba(incomplete), model.label_distributions_)


@pytest.mark.filterwarnings("ignore:view 'color' is missing for all labeled samples")
def test_a_view_that_no_labeled_sample_has_is_ignored(tiny_views):
    present = np.ones((60, 2), dtype=bool)
    present[tiny_views.known_labels >= 0, 1] = False
    model = fit(MultiView(tiny_views.views, present=present), tiny_views.known_labels)
    alone = fit({"shape": tiny_views.views["shape"]}, tiny_views.known_labels)
    np.testing.assert_array_equal(model.label_distributions_, alone.label_distributions_)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_loaded_boosting_predicts_the_same_bits_without_training(
    tiny_views, n_classes, tmp_path, monkeypatch
):
    labels = np.where(tiny_views.known_labels < n_classes, tiny_views.known_labels, -1)
    model = fit(tiny_views.views, labels)
    model.save(tmp_path)
    monkeypatch.setattr(HistGradientBoostingClassifier, "fit", None)
    loaded = BoostingClassifier.load(tmp_path)
    new = {name: view[::-1] + 0.3 for name, view in tiny_views.views.items()}
    np.testing.assert_array_equal(loaded.predict_proba(new), model.predict_proba(new))


def test_trees_of_other_outputs_are_refused(tiny_views, tmp_path):
    model = fit(tiny_views.views, tiny_views.known_labels)
    model.baseline_ = model.baseline_[:2]
    model.save(tmp_path)
    with pytest.raises(DataFileError, match="must have 3 outputs"):
        BoostingClassifier.load(tmp_path)
