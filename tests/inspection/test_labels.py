"""Labels that are probably wrong, and estimated accuracy by number of labels."""

from dataclasses import dataclass

import numpy as np
import pytest
from models import manyview, mgcn_dns

from manyview import EstimatedAccuracyDisplay, InputError, LabelIssuesDisplay


@dataclass(frozen=True)
class Estimate:
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Performance:
    n_labels: int
    accuracy: Estimate


def fit_wrong(views, *, n_labels=45):
    """Fit with most labels, of which two are wrong; returns the model and their rows."""
    labels = np.where(np.arange(60) < n_labels, views.labels, -1)
    wrong = [3, 10]
    labels[wrong] = (labels[wrong] + 1) % 3
    return manyview(max_epochs=5, random_state=0).fit(views.views, labels), wrong


def test_most_doubtful_labels_come_first(shared_views):
    model, wrong = fit_wrong(shared_views)
    display = LabelIssuesDisplay.from_estimator(model, n_labels=5)
    assert len(display.wrong) == 5
    assert np.all(np.diff(display.wrong) <= 0)
    assert sorted(display.samples[:2].tolist()) == sorted(map(str, wrong))
    for sample, suggested in zip(display.samples[:2], display.suggested[:2], strict=True):
        assert suggested == shared_views.labels[int(sample)]
    widths = [bar.get_width() for bar in display.bars_]
    np.testing.assert_allclose(widths, display.wrong)
    assert display.ax_.yaxis_inverted()


def test_where_no_label_is_doubted_the_title_says_so(model):
    display = LabelIssuesDisplay.from_estimator(model)
    assert not display.is_conclusive
    assert display.ax_.get_title() == "No reason to doubt a label"


def test_fit_without_an_audit_is_refused(shared_views):
    model = mgcn_dns(max_epochs=2, random_state=0)
    model.fit(shared_views.views, shared_views.known_labels)
    with pytest.raises(InputError, match="label_audit='report'"):
        LabelIssuesDisplay.from_estimator(model)


def test_number_of_labels_is_checked(model):
    with pytest.raises(InputError, match="n_labels"):
        LabelIssuesDisplay.from_estimator(model, n_labels=0)


def estimated(model, performance):
    from sklearn.base import clone

    fitted = clone(model)
    vars(fitted).update(vars(model))
    fitted.performance_ = performance
    return fitted


def test_estimates_of_several_fits_are_sorted_by_labels(model):
    fits = [
        estimated(model, Performance(80, Estimate(0.9, 0.8, 0.95))),
        estimated(model, None),
        estimated(model, Performance(40, Estimate(0.7, 0.5, 0.8))),
    ]
    display = EstimatedAccuracyDisplay.from_estimators(fits)
    np.testing.assert_array_equal(display.n_labels, [40, 80])
    np.testing.assert_array_equal(display.accuracy, [0.7, 0.9])
    np.testing.assert_array_equal(display.low, [0.5, 0.8])
    np.testing.assert_allclose(display.line_.get_ydata(), [70, 90])
    assert display.ax_.collections  # the band


def test_fits_without_an_estimate_are_refused(model):
    with pytest.raises(InputError, match="no fit has a performance_"):
        EstimatedAccuracyDisplay.from_estimators([estimated(model, None)])
    with pytest.raises(InputError, match="no fit has a performance_"):
        EstimatedAccuracyDisplay.from_points([])
