"""The confusion matrix of fitted and of new samples."""

import numpy as np
import pytest
from models import manyview
from sklearn import metrics

from manyview import METHODS, ConfusionMatrixDisplay, InputError


def test_only_labels_that_the_fit_did_not_see_count(model, shared_views):
    display = ConfusionMatrixDisplay.from_estimator(model, y=shared_views.labels)
    hidden = ~model.is_labeled_
    expected = metrics.confusion_matrix(shared_views.labels[hidden], model.transduction_[hidden])
    np.testing.assert_array_equal(display.confusion_matrix, expected)


def test_new_samples_are_predicted(model, shared_views):
    display = ConfusionMatrixDisplay.from_estimator(model, shared_views.views, shared_views.labels)
    expected = metrics.confusion_matrix(shared_views.labels, model.predict(shared_views.views))
    np.testing.assert_array_equal(display.confusion_matrix, expected)


def test_it_is_scikit_learns_display(model, shared_views):
    display = ConfusionMatrixDisplay.from_estimator(
        model, y=shared_views.labels, normalize="true", cmap="Greens"
    )
    assert isinstance(display, metrics.ConfusionMatrixDisplay)
    np.testing.assert_allclose(display.confusion_matrix.sum(axis=1), 1)
    assert display.im_.get_cmap().name == "Greens"
    other = ConfusionMatrixDisplay.from_predictions([0, 1, 1], [0, 1, 0])
    assert isinstance(other, ConfusionMatrixDisplay)


def test_scikit_learns_own_display_takes_the_model(model, shared_views):
    display = metrics.ConfusionMatrixDisplay.from_estimator(
        model, shared_views.views, shared_views.labels
    )
    assert display.confusion_matrix.sum() == 60


def test_a_class_that_the_model_does_not_know_has_a_row(model, shared_views):
    truth = shared_views.labels.copy()
    truth[np.flatnonzero(~model.is_labeled_)[0]] = 7
    display = ConfusionMatrixDisplay.from_estimator(model, y=truth)
    assert display.confusion_matrix.shape == (4, 4)


def test_many_classes_have_no_numbers(model, shared_views, rng):
    few = ConfusionMatrixDisplay.from_estimator(model, y=shared_views.labels)
    assert few.text_ is not None
    labels = np.repeat(np.arange(25), 4)
    views = 5 * rng.normal(size=(25, 6))[labels] + rng.normal(size=(100, 6))
    known = np.where(np.arange(100) % 4 < 2, labels, -1)
    many = METHODS["svm"]().fit(views, known)
    assert ConfusionMatrixDisplay.from_estimator(many, y=labels).text_ is None
    display = ConfusionMatrixDisplay.from_estimator(many, y=labels, include_values=True)
    assert display.text_ is not None


def test_without_labels_those_count_that_the_fit_hid_in_turn(model):
    display = ConfusionMatrixDisplay.from_estimator(model)
    crossed = model.cross_fit_
    assert len(crossed.samples) == 12
    expected = metrics.confusion_matrix(crossed.y_encoded, crossed.probabilities.argmax(axis=1))
    np.testing.assert_array_equal(display.confusion_matrix, expected)


def test_labels_that_score_nothing_are_refused(model, shared_views):
    with pytest.raises(InputError, match="did not see"):
        ConfusionMatrixDisplay.from_estimator(model, y=shared_views.known_labels)
    with pytest.raises(InputError, match="true labels of X"):
        ConfusionMatrixDisplay.from_estimator(model, shared_views.views)
    with pytest.raises(InputError, match="one label for each of the 60"):
        ConfusionMatrixDisplay.from_estimator(model, y=[0, 1])


def test_fit_that_hid_no_label_cannot_score_itself(plain, shared_views):
    with pytest.raises(InputError, match="hides them in turn"):
        ConfusionMatrixDisplay.from_estimator(plain)
    one_per_class = np.full(60, -1)
    first = [np.flatnonzero(shared_views.labels == label)[0] for label in (0, 1, 2)]
    one_per_class[first] = [0, 1, 2]
    model = manyview(max_epochs=2, random_state=0).fit(shared_views.views, one_per_class)
    with pytest.raises(InputError, match="two or more labels per class"):
        ConfusionMatrixDisplay.from_estimator(model)
