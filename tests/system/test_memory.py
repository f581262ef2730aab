"""Memory: what is free, the peak of a process, and work refused before it starts."""

import subprocess
import sys

import pytest

from manyview.errors import InputError
from manyview.system.config import config_context
from manyview.system.memory import check_memory, free_memory


def test_free_memory_is_a_sensible_number_of_gb():
    assert 0.01 < free_memory() < 100_000


def test_work_within_the_limit_passes():
    check_memory(0.0, "this", "Do less")
    with config_context(max_memory=2.0):
        check_memory(2.0, "this", "Do less")


def test_work_above_the_limit_is_refused_with_the_estimate():
    with pytest.raises(InputError) as error:
        check_memory(1e9, "this", "Do less")
    assert "this needs about 1000000000.0 GB of memory, and " in str(error.value)
    assert str(error.value).endswith(
        " GB may be used. Do less, or raise max_memory (manyview.config_context)."
    )
    with config_context(max_memory=2.0), pytest.raises(InputError, match=r"2\.0 GB may be used"):
        check_memory(2.1, "this", "Do less")


def test_only_a_fraction_of_the_free_memory_may_be_used(monkeypatch):
    monkeypatch.setattr("manyview.system.memory.free_memory", lambda: 8.0)
    check_memory(4.0, "this", "Do less", free_fraction=0.5)
    with pytest.raises(InputError, match=r"4\.0 GB may be used"):
        check_memory(4.1, "this", "Do less", free_fraction=0.5)


def test_peak_memory_counts_memory_that_was_freed():
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
