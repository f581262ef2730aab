"""ERL-MVSC as a classifier."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from manyview.baselines.erl_mvsc import ERLMVSCClassifier


def test_planted_classes_are_found(tiny_views):
    model = ERLMVSCClassifier().fit(tiny_views.views, tiny_views.known_labels)
    assert np.mean(model.transduction_ == tiny_views.labels) > 0.95
    assert model.view_weights_.sum() == pytest.approx(1.0)
    assert len(model.objective_) == model.n_iter_ < 40
    assert_allclose(model.label_distributions_.sum(axis=1), 1.0)


def test_released_version_gives_other_label_distributions(tiny_views):
    views, labels = tiny_views.views, tiny_views.known_labels
    published = ERLMVSCClassifier().fit(views, labels)
    released = ERLMVSCClassifier(as_released=True).fit(views, labels)
    assert np.mean(released.transduction_ == tiny_views.labels) > 0.95
    assert not np.allclose(published.label_distributions_, released.label_distributions_)


def test_far_samples_are_labeled_over_many_steps():
    far = np.arange(40.0)
    points = np.column_stack([far, far**2 / 40])
    labels = np.full(40, -1)
    labels[[0, 39]] = [0, 1]
    model = ERLMVSCClassifier(n_neighbors=1, scaling="none").fit(points, labels)
    assert_array_equal(model.transduction_, np.sort(model.transduction_))
    assert set(model.transduction_) == {0, 1}
