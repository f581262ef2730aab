"""Reliability of probabilities, and accuracy against coverage."""

import numpy as np
import pytest
from models import mgcn_dns

from manyview import CoverageDisplay, InputError, ReliabilityDisplay
from manyview.estimators.calibration import coverage_curve, expected_calibration_error

PROBABILITIES = np.array([[0.9, 0.1], [0.9, 0.1], [0.4, 0.6], [0.45, 0.55]])


def test_bins_hold_accuracy_and_mean_probability():
    display = ReliabilityDisplay.from_predictions(
        ["a", "b", "b", "b"], PROBABILITIES, n_bins=2, strategy="quantile"
    )
    np.testing.assert_allclose(display.prob_pred, [0.575, 0.9])
    np.testing.assert_allclose(display.prob_true, [1.0, 0.5])
    np.testing.assert_array_equal(display.counts, [2, 2])
    np.testing.assert_array_equal(display.line_.get_xdata(), display.prob_pred)


def test_uniform_bins_are_equally_wide():
    display = ReliabilityDisplay.from_predictions(
        [0, 1, 1, 1], PROBABILITIES, n_bins=5, strategy="uniform"
    )
    np.testing.assert_array_equal(display.counts, [2, 2])  # of 0.4 to 0.6, and of 0.8 to 1
    np.testing.assert_allclose(display.prob_pred, [0.575, 0.9])


def test_error_and_curve_are_those_of_the_report(model, shared_views):
    hidden = ~model.is_labeled_
    chances, truth = model.label_distributions_[hidden], shared_views.labels[hidden]
    reliability = ReliabilityDisplay.from_estimator(model, y=shared_views.labels)
    assert reliability.calibration_error == expected_calibration_error(chances, truth)
    coverage = CoverageDisplay.from_estimator(model, y=shared_views.labels)
    assert coverage.accuracy.tolist() == [one.accuracy for one in coverage_curve(chances, truth)]
    assert coverage.coverage[-1] == 1.0
    assert np.all(np.diff(coverage.coverage) > 0)
    assert np.all(np.diff(coverage.min_probability) < 0)


def test_new_samples_are_predicted(model, shared_views):
    display = CoverageDisplay.from_estimator(model, shared_views.views, shared_views.labels)
    right = (model.predict(shared_views.views) == shared_views.labels).mean()
    assert display.accuracy[-1] == pytest.approx(right)


def test_labels_held_out_for_calibration_serve_where_no_others_are_known(shared_views):
    model = mgcn_dns(max_epochs=5, random_state=0, calibration="temperature")
    model.fit(shared_views.views, shared_views.known_labels)
    display = ReliabilityDisplay.from_estimator(model)
    assert display.counts.sum() == model.calibration_.n_held_out


def test_unknown_labels_do_not_count():
    display = CoverageDisplay.from_predictions([0, -1, 1, -1], PROBABILITIES)
    assert len(display.coverage) == 2


def test_probabilities_of_the_second_class_are_taken_as_scikit_learn_does():
    one = ReliabilityDisplay.from_predictions([0, 1, 1, 1], PROBABILITIES[:, 1])
    both = ReliabilityDisplay.from_predictions([0, 1, 1, 1], PROBABILITIES)
    np.testing.assert_array_equal(one.prob_true, both.prob_true)


@pytest.mark.parametrize(
    ("labels", "options", "message"),
    [
        ([0, 1], {}, "one label per row"),
        ([0, 0, 0, 0], {}, "classes must name the 2 columns"),
        ([0, 1, 1, 1], {"n_bins": 0}, "n_bins"),
        ([0, 1, 1, 1], {"strategy": "best"}, "strategy"),
        ([-1, -1, -1, -1], {"classes": [0, 1]}, "at least one known label"),
    ],
)
def test_wrong_input_is_refused(labels, options, message):
    with pytest.raises(InputError, match=message):
        ReliabilityDisplay.from_predictions(labels, PROBABILITIES, **options)


def test_options_of_plot_are_passed_on():
    display = ReliabilityDisplay.from_predictions(
        [0, 1, 1, 1], PROBABILITIES, label="mine", color="red"
    )
    assert display.line_.get_label() == "mine"
    assert display.line_.get_color() == "red"
