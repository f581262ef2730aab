"""The training curve."""

import numpy as np
import pytest

from manyview import InputError, TrainingCurveDisplay


def test_curves_are_those_of_the_fit(model):
    display = TrainingCurveDisplay.from_estimator(model)
    np.testing.assert_array_equal(display.loss, model.training_curve_.loss)
    above, below = display.axes_
    np.testing.assert_allclose(
        above.lines[0].get_ydata(), 100 * np.array(model.training_curve_.labeled_accuracy)
    )
    np.testing.assert_allclose(below.lines[0].get_ydata(), model.training_curve_.loss)
    assert below.lines[0].get_xdata()[0] == 1
    assert f"{len(display.loss)} epochs" in above.get_title()


def test_methods_without_epochs_are_refused(plain):
    with pytest.raises(InputError, match="has no training curve"):
        TrainingCurveDisplay.from_estimator(plain)
