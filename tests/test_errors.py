"""Warnings point at the line of the user; errors keep the parameter at fault."""

import warnings

import pytest

from manyview.errors import (
    CalibrationWarning,
    InputError,
    is_out_of_memory,
    out_of_memory,
    warn_user,
)
from manyview.estimators.calibration import calibrate_or_warn


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


def test_error_keeps_the_parameter_at_fault():
    error = InputError("tau must be above 0; got -1.", parameter="tau")
    assert (str(error), error.parameter) == ("tau must be above 0; got -1.", "tau")
    assert InputError("views must hold at least one view; got none.").parameter is None


def test_lack_of_memory_is_told_from_other_errors():
    missing = ImportError("No module named 'x'")
    unmapped = ImportError("x.so: failed to map segment from shared object")
    in_torch = RuntimeError("std::bad_alloc")
    assert all(map(is_out_of_memory, (MemoryError(), unmapped, in_torch)))
    assert not is_out_of_memory(missing)
    assert out_of_memory(MemoryError()).startswith("There is not enough memory for this command. ")
    assert "(x.so: failed to map" in out_of_memory(unmapped)
