"""Limits of a trial: what is refused and measured."""

import os

import pytest

from manyview.errors import InputError
from manyview.experiments.limits import Limits, memory_of, thread_variables


@pytest.mark.parametrize("limits", [Limits(minutes=0), Limits(memory_gb=-1)])
def test_limits_that_are_not_above_0_are_refused(limits):
    with pytest.raises(InputError, match="must be above 0"):
        limits.check()


def test_memory_of_this_process_is_measured():
    assert 0.01 < memory_of(os.getpid()) < 100
    assert memory_of(2**22 + 1) is None


def test_threads_are_limited_by_environment_variables():
    assert thread_variables(3)["OMP_NUM_THREADS"] == "3"
