"""The importance of views."""

import numpy as np
import pytest
from models import mgcn_dns

from manyview import METHODS, InputError, ViewImportanceDisplay


def test_effects_are_the_predictions_that_change(model):
    display = ViewImportanceDisplay.from_estimator(model)
    expected = [one.fraction_changed for one in model.view_effects()]
    np.testing.assert_array_equal(display.importances, expected)
    assert display.view_names == ["shape", "color"]


def test_weights_are_those_of_the_fusion(model):
    display = ViewImportanceDisplay.from_estimator(model, kind="weights")
    np.testing.assert_allclose(display.importances, model.view_importance_)
    widths = [bar.get_width() for bar in display.bars_]
    assert widths == sorted(widths)  # the most important view on top
    names = [tick.get_text() for tick in display.ax_.get_yticklabels()]
    assert names[-1] == model.view_names_[int(model.view_importance_.argmax())]


def test_weights_of_a_baseline_sum_to_one(shared_views):
    model = METHODS["amgl"]().fit(shared_views.views, shared_views.known_labels)
    display = ViewImportanceDisplay.from_estimator(model, kind="weights")
    assert display.importances.sum() == pytest.approx(1)


def test_what_a_method_does_not_have_is_refused_with_a_way_out(plain, shared_views):
    with pytest.raises(InputError, match="without retraining"):
        ViewImportanceDisplay.from_estimator(plain)
    with pytest.raises(InputError, match="learns no weight per view"):
        ViewImportanceDisplay.from_estimator(plain, kind="weights")
    with pytest.raises(InputError, match="kind must be"):
        ViewImportanceDisplay.from_estimator(plain, kind="gain")
    single = mgcn_dns(max_epochs=2, random_state=0)
    single.fit(shared_views.views["shape"], shared_views.known_labels)
    with pytest.raises(InputError, match="permutation_importance"):
        ViewImportanceDisplay.from_estimator(single)


def test_views_without_any_effect_can_be_drawn():
    display = ViewImportanceDisplay(np.zeros(2), ["a", "b"]).plot()
    assert display.ax_.get_xlim() == (0.0, 1.0)
