"""Memory: what is free, what was used, and refusals in time."""

import subprocess
import sys

import pytest

from manyview.errors import InputError
from manyview.system.memory import (
    check_max_memory,
    check_memory,
    free_memory,
)


def test_free_memory_is_a_sensible_number_of_gb():
    assert 0.01 < free_memory() < 100_000


def test_work_that_fits_passes_and_work_that_does_not_is_refused_with_the_estimate():
    check_memory(1.0, 2.0, "this", "Do less")
    check_memory(0.0, "auto", "this", "Do less")
    with pytest.raises(InputError) as error:
        check_memory(1e9, "auto", "this", "Do less")
    assert "this needs about 1000000000.0 GB of memory, and " in str(error.value)
    assert str(error.value).endswith(" GB may be used. Do less, or raise max_memory.")


@pytest.mark.parametrize("wrong", [0, -1.0, "much", None, float("nan")])
def test_a_limit_that_is_no_number_is_refused(wrong):
    with pytest.raises(InputError, match="max_memory"):
        check_max_memory(wrong)


def test_peak_memory_sees_what_came_and_went():
    # In a process of its own: this one may hold freed memory, which a new block would fill first.
    script = """
import numpy as np
from manyview.system.memory import peak_memory, reset_peak_memory
reset_peak_memory()
before = peak_memory()
block = np.ones(2**24)  # 128 MB
del block
print(peak_memory() - before)
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert float(run.stdout) >= 100
