"""Warnings point at the user's line, errors suggest the nearest choice."""

import warnings

import pytest

from manyview.errors import CalibrationWarning, InputError, warn_user
from manyview.estimators.calibration import calibrate_or_warn
from manyview.validation import check_choice


def test_warning_points_at_the_line_outside_the_package():
    with pytest.warns(CalibrationWarning) as at_once:
        warn_user("at once", CalibrationWarning)
    with pytest.warns(CalibrationWarning) as deeper:
        calibrate_or_warn([], 3, None, lambda: None, was_interrupted=True)
    assert at_once[0].filename == deeper[0].filename == __file__


def test_warning_of_one_line_is_shown_once():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            warn_user("again", UserWarning)
    assert len(caught) == 1


def test_choice_is_refused_with_the_nearest():
    with pytest.raises(InputError, match=r"way must be one of 'near', None; got 'neer'.*'near'\?"):
        check_choice("way", "neer", ("near", None))
    check_choice("way", None, ("near", None))
