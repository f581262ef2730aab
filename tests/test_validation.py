"""Checks of numbers: what passes, what does not."""

import numpy as np
import pytest

from manyview.errors import InputError
from manyview.validation import check_number, check_whole_number


@pytest.mark.parametrize("value", [1, 0.5, np.float32(2), np.int64(3)])
def test_numbers_within_bounds_pass(value):
    check_number("tau", value, above=0)


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), "1", None, True])
def test_everything_else_is_refused(value):
    with pytest.raises(InputError, match="tau must be"):
        check_number("tau", value, above=0)


@pytest.mark.parametrize("value", [0, 1.0, "3", None, True])
def test_whole_numbers_must_be_whole_and_large_enough(value):
    with pytest.raises(InputError, match="hidden must be a whole number of at least 1"):
        check_whole_number("hidden", value, at_least=1)
