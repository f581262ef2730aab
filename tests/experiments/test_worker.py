"""A worker: errors become outcomes, and a process serves several trials."""

import os
import resource
import signal
import subprocess
import sys
import time

import pytest

from manyview.errors import InputError
from manyview.experiments import worker as module
from manyview.experiments.limits import Limits
from manyview.experiments.trial import Trial
from manyview.experiments.worker import Worker, attempt


def test_user_error_becomes_the_outcome(shapes):
    trial = Trial(str(shapes), "mgcn-dns", {"node_selection__tau": -1.0}, 0.2)
    outcome = attempt(trial, None, None)
    assert outcome == {"status": "failed", "reason": "tau must be above 0; got -1.0."}


def test_internal_error_becomes_the_outcome_with_its_place(shapes, monkeypatch):
    def fail(*_):
        raise RuntimeError("our mistake")

    monkeypatch.setattr("manyview.experiments.worker.run_trial", fail)
    outcome = attempt(Trial(str(shapes), "knn"), None, None)
    assert outcome["status"] == "failed"
    assert outcome["reason"].startswith("RuntimeError: our mistake (test_worker.py, line ")


def test_worker_runs_one_trial_after_the_other(shapes, tmp_path):
    worker = Worker(None, tmp_path / "cache", Limits())
    try:
        outcomes = [worker.run(Trial(str(shapes), "knn", seed=seed)) for seed in (0, 1)]
    finally:
        worker.stop()
    assert [outcome["status"] for outcome in outcomes] == ["done", "done"]


@pytest.fixture
def worker():
    worker = Worker(None, None, Limits(memory_gb=64))
    yield worker
    worker.stop()


def wait_until(condition, seconds=120.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)


def outcome_after(worker, trial, number):
    """Send a signal to the process of a trial, and wait for the outcome."""
    worker.give("key", trial)
    wait_until(lambda: worker.outcome() is None and worker._is_ready)
    os.kill(worker._process.pid, number)
    outcomes = []
    wait_until(lambda: outcomes.append(worker.outcome()) or outcomes[-1] is not None)
    return outcomes[-1]


SLOW = {"training__tol": 0.0, "max_epochs": 100_000}


def test_signal_that_ends_a_trial_is_named_and_no_cause_is_guessed(worker, shapes):
    trial = Trial(str(shapes), "mgcn-dns", SLOW, 0.2)
    for number, name in ((signal.SIGKILL, "SIGKILL"), (signal.SIGSEGV, "SIGSEGV")):
        outcome = outcome_after(worker, trial, number)
        assert outcome["status"] == "failed"
        assert outcome["reason"].startswith(f"its process ended with signal {name} (peak memory ")
        assert outcome["reason"].endswith(" GB, limit 64 GB)")
    assert worker.run(Trial(str(shapes), "knn"))["status"] == "done"


def test_kill_by_the_system_for_lack_of_memory_is_out_of_memory(worker, shapes, monkeypatch):
    counts = iter([3, 4])
    monkeypatch.setattr(module, "oom_kills", lambda: next(counts))
    outcome = outcome_after(worker, Trial(str(shapes), "mgcn-dns", SLOW, 0.2), signal.SIGKILL)
    assert outcome["status"] == "out of memory"
    assert "the system killed its process for lack of memory" in outcome["reason"]


@pytest.mark.parametrize(
    "error", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory: 9")]
)
def test_memory_that_was_refused_is_out_of_memory(shapes, monkeypatch, error):
    def fail(*_):
        raise error

    monkeypatch.setattr(module, "run_trial", fail)
    assert attempt(Trial(str(shapes), "knn"), None, None)["status"] == "out of memory"


def test_interruptions_of_a_whole_job_leave_the_trial_running(worker, shapes):
    worker.give("key", Trial(str(shapes), "knn", seed=1))
    wait_until(lambda: worker.outcome() is None and worker._is_ready)
    worker.give("key", Trial(str(shapes), "knn"))
    for number in (signal.SIGINT, signal.SIGTERM):
        os.kill(worker._process.pid, number)
    outcomes = []
    wait_until(lambda: outcomes.append(worker.outcome()) or outcomes[-1] is not None)
    assert outcomes[-1]["status"] == "done"


def test_process_killed_while_it_starts_is_started_again(worker, shapes):
    worker.give("key", Trial(str(shapes), "knn"))
    worker._process.kill()
    outcomes = []
    wait_until(lambda: outcomes.append(worker.outcome()) or outcomes[-1] is not None)
    assert outcomes[-1]["status"] == "done"


def test_process_that_cannot_start_is_one_clear_sentence(shapes, monkeypatch):
    monkeypatch.setattr(module, "START", module.START.replace("main\n", "nothing\n", 1))
    worker = Worker(None, None, Limits())
    with pytest.raises(InputError, match="does not start: ImportError: cannot import name"):
        worker.run(Trial(str(shapes), "knn"))
    worker.stop()
    monkeypatch.setattr(module, "START", "raise SystemExit(3)")
    worker = Worker(None, None, Limits())
    with pytest.raises(InputError, match=r"does not start: it ended with code 3\. Use fewer"):
        worker.run(Trial(str(shapes), "knn"))
    worker.stop()


def test_too_few_file_handles_are_one_line_and_exit_2(write_plan, tmp_path):
    plan = write_plan()
    command = [sys.executable, "-m", "manyview", "bench", "run", str(plan), "--out", "store"]
    done = subprocess.run(
        [*command, "--jobs", "4"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (12, 12)),
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "Too many open files" in done.stderr
    again = subprocess.run(
        [*command, "--quiet"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (again.returncode, again.stderr) == (0, "")
