"""Limits of a trial: what is refused and measured."""

import os

import pytest

from manyview.errors import InputError
from manyview.experiments import limits as module
from manyview.experiments.limits import Limits, memory_of, oom_kills, thread_variables


@pytest.mark.parametrize("limits", [Limits(minutes=0), Limits(memory_gb=-1)])
def test_limits_that_are_not_above_0_are_refused(limits):
    with pytest.raises(InputError, match="must be above 0"):
        limits.check()


def test_memory_of_this_process_is_measured():
    assert 0.01 < memory_of(os.getpid()) < 100
    assert memory_of(2**22 + 1) is None


def test_threads_are_limited_by_environment_variables():
    assert thread_variables(3)["OMP_NUM_THREADS"] == "3"


@pytest.mark.parametrize(
    ("own", "file", "text", "count"),
    [
        ("0::/job/step\n", "job/step/memory.events", "low 0\noom 3\noom_kill 2\n", 2),
        ("0::/\n", "memory.events", "oom_kill 7\n", 7),
        ("0::/of/the/host\n", "memory.events", "oom_kill 1\n", 1),
        ("2:cpu:/\n4:memory:/job\n", "memory/job/memory.oom_control", "oom_kill 4\n", 4),
        ("4:memory:/job\n", "memory/memory.oom_control", "under_oom 0\noom_kill 5\n", 5),
        ("0::/\n", "memory.events", "oom_kill\n", None),
        ("0::/\n", "other", "oom_kill 1\n", None),
        (None, "memory.events", "oom_kill 1\n", None),
    ],
)
def test_kills_for_lack_of_memory_are_counted(tmp_path, monkeypatch, own, file, text, count):
    monkeypatch.setattr(module, "CGROUPS", tmp_path)
    monkeypatch.setattr(module, "OWN_CGROUP", tmp_path / "own")
    if own is not None:
        (tmp_path / "own").write_text(own)
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text(text)
    assert oom_kills() == count
