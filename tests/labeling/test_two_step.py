"""The classifier in two steps: a fit that is completed is an ordinary one, and may be paused."""

import numpy as np
import pytest

from manyview.estimators.manyview import ManyviewClassifier
from manyview.labeling.two_step import TwoStepClassifier

FAST = {"random_state": 0, "max_iter": 1, "warm_start": True}


def make(cls):
    return cls(**FAST).set_params(estimator__max_epochs=8)


@pytest.fixture
def more_labels(tiny_views):
    """The known labels, and one more."""
    labels = tiny_views.known_labels.copy()
    row = int(np.flatnonzero(labels < 0)[0])
    labels[row] = tiny_views.labels[row]
    return labels


def pause():
    raise KeyError


def pausing_after(n_folds):
    left = [n_folds]

    def check():
        if not left[0]:
            raise KeyError
        left[0] -= 1

    return check


def test_a_completed_fit_equals_an_ordinary_one(tiny_views, more_labels):
    whole, two_step = make(ManyviewClassifier), make(TwoStepClassifier)
    for labels in (tiny_views.known_labels, more_labels):
        whole.fit(tiny_views.views, labels)
        two_step.fit(tiny_views.views, labels)
        two_step.complete()
        np.testing.assert_array_equal(two_step.label_distributions_, whole.label_distributions_)
        np.testing.assert_array_equal(two_step.transduction_, whole.transduction_)
        assert two_step.temperature_ == whole.temperature_
        assert two_step.performance_ == whole.performance_
    assert not two_step.is_pending


def test_the_last_weights_mix_the_predictions_until_new_ones_are_found(tiny_views, more_labels):
    model = make(TwoStepClassifier).fit(tiny_views.views, tiny_views.known_labels)
    assert model.cross_fit_ is None
    model.complete()
    weights = model.cross_fit_.weights
    model.fit(tiny_views.views, more_labels)
    assert model.is_pending
    assert model.cross_fit_.weights == weights


def test_a_paused_cross_fit_keeps_its_folds_and_the_predictions(tiny_views, more_labels):
    model = make(TwoStepClassifier).fit(tiny_views.views, tiny_views.known_labels)
    before = model.label_distributions_
    with pytest.raises(KeyError):
        model.complete(pausing_after(2))
    assert model.label_distributions_ is before
    model.fit(tiny_views.views, more_labels)
    with pytest.raises(KeyError):
        model.complete(pause)
    model.complete(pausing_after(1))  # the third fold of the first labels
    n_first = int((tiny_views.known_labels >= 0).sum())
    assert len(model.cross_fit_.samples) == n_first
    assert model.is_pending
    model.complete()
    assert len(model.cross_fit_.samples) == n_first + 1
    assert not model.is_pending


def test_a_label_that_was_changed_starts_the_cross_fit_anew(tiny_views):
    model = make(TwoStepClassifier).fit(tiny_views.views, tiny_views.known_labels)
    with pytest.raises(KeyError):
        model.complete(pausing_after(2))
    labels = tiny_views.known_labels.copy()
    row = int(np.flatnonzero(labels == 0)[0])
    labels[row] = 1
    model.fit(tiny_views.views, labels)
    with pytest.raises(KeyError):
        model.complete(pausing_after(2))
    model.complete()
    assert dict(zip(model.cross_fit_.samples, model.cross_fit_.y_encoded, strict=True))[row] == 1


def test_without_cross_fitting_there_is_nothing_to_complete(tiny_views):
    model = make(TwoStepClassifier).set_params(cross_fit=False)
    model.fit(tiny_views.views, tiny_views.known_labels)
    assert not model.is_pending
    before = model.label_distributions_
    model.complete()
    assert model.label_distributions_ is before
