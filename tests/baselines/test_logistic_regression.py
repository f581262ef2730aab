"""Logistic regression: scikit-learn's on standardized columns, each view of the same weight."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from manyview.baselines.logistic_regression import LogisticRegressionClassifier
from manyview.data.views import MultiView


def standardized(views):
    """Standardized columns, each view divided by the root of its width, side by side."""
    return np.hstack(
        [StandardScaler().fit_transform(view) / np.sqrt(view.shape[1]) for view in views.values()]
    )


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_probabilities_equal_those_of_scikit_learn(tiny_views, n_classes, class_weight):
    labels = np.where(tiny_views.known_labels < n_classes, tiny_views.known_labels, -1)
    table, known = standardized(tiny_views.views), labels >= 0
    reference = LogisticRegression(C=10, max_iter=1000, tol=1e-8, class_weight=class_weight)
    reference.fit(table[known], labels[known])
    model = LogisticRegressionClassifier(class_weight=class_weight).fit(tiny_views.views, labels)
    np.testing.assert_allclose(
        model.label_distributions_, reference.predict_proba(table), atol=1e-4
    )
    np.testing.assert_allclose(
        model.predict_proba(tiny_views.views), model.label_distributions_, atol=1e-12
    )


def test_a_view_that_a_sample_lacks_has_the_mean_of_its_columns(tiny_views):
    present = np.ones((60, 2), dtype=bool)
    present[::7, 1] = False
    incomplete = MultiView(tiny_views.views, present=present)
    model = LogisticRegressionClassifier().fit(incomplete, tiny_views.known_labels)
    filled = {name: view.copy() for name, view in tiny_views.views.items()}
    filled["color"][~present[:, 1]] = filled["color"][present[:, 1]].mean(axis=0)
    np.testing.assert_allclose(model.predict_proba(filled), model.label_distributions_, atol=1e-6)
    np.testing.assert_allclose(
        model.predict_proba(incomplete), model.label_distributions_, atol=1e-12
    )


def test_sparse_views_that_samples_lack_are_filled_alike(tiny_views):
    views = {name: np.maximum(view, 0) for name, view in tiny_views.views.items()}
    thin = {name: sparse.csr_array(view) for name, view in views.items()}
    present = np.ones((60, 2), dtype=bool)
    present[::7, 1] = False
    dense, found = (
        LogisticRegressionClassifier().fit(MultiView(one, present=present), tiny_views.known_labels)
        for one in (views, thin)
    )
    np.testing.assert_allclose(found.label_distributions_, dense.label_distributions_, atol=1e-4)


def test_new_samples_may_have_values_of_any_size(tiny_views):
    model = LogisticRegressionClassifier().fit(tiny_views.views, tiny_views.known_labels)
    far = {name: np.full((1, view.shape[1]), 1e90) for name, view in tiny_views.views.items()}
    with pytest.warns(UserWarning, match="outside"):
        assert np.isfinite(model.predict_proba(far)).all()


def test_fit_warns_when_it_does_not_converge(tiny_views):
    with pytest.warns(ConvergenceWarning, match="did not converge in max_iter=2 iterations"):
        LogisticRegressionClassifier(max_iter=2).fit(tiny_views.views, tiny_views.known_labels)


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_held_out_predictions_are_those_of_fits_without_each_part(tiny_views, class_weight):
    present = np.ones((60, 2), dtype=bool)
    present[::7, 1] = False
    views, labels = MultiView(tiny_views.views, present=present), tiny_views.known_labels
    parts = np.full(60, -1)
    rows = np.flatnonzero(labels >= 0)
    parts[rows[:-2]] = np.arange(len(rows) - 2) % 3
    model = LogisticRegressionClassifier(class_weight=class_weight)
    held_out = model.fit_held_out(views, labels, np.arange(3), parts)
    assert np.isnan(held_out[parts < 0]).all()
    for part in range(3):
        hidden = parts == part
        one = LogisticRegressionClassifier(class_weight=class_weight)
        one.fit(views, np.where(hidden, -1, labels))
        np.testing.assert_array_equal(held_out[hidden], one.label_distributions_[hidden])
    whole = LogisticRegressionClassifier(class_weight=class_weight).fit(views, labels)
    np.testing.assert_array_equal(model.label_distributions_, whole.label_distributions_)
    np.testing.assert_array_equal(model.coef_, whole.coef_)
