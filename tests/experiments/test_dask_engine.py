"""The Dask engine, with a real scheduler and two worker processes."""

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress

import pytest

from manyview.errors import InputError
from manyview.experiments.dask_engine import run_on_dask
from manyview.experiments.limits import Limits

TEXT = """
title = "Dask"
datasets = ["{data}"]
label_ratios = [0.2]
seeds = [0, 1, 2, 3, 4, 5]

[methods.knn]
[methods.ssgcn]
"""


def start(*arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_worker", *arguments]
        if arguments[0].startswith("tcp")
        else [sys.executable, "-m", "distributed.cli.dask_scheduler", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        start_new_session=True,
    )


@pytest.fixture
def cluster(tmp_path):
    """A scheduler and two workers, each a process group of its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    here = ("--host", "127.0.0.1", "--port", str(port), "--no-dashboard", "--no-show")
    scheduler = start(*here)
    options = ("--nthreads", "1", "--no-dashboard", "--local-directory", str(tmp_path / "dask"))
    workers = [start(address, *options) for _ in range(2)]
    yield address, workers
    for process in (*workers, scheduler):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def test_all_trials_run_once_although_a_worker_is_killed(cluster, open_study):
    address, workers = cluster
    study = open_study(TEXT)
    seen = []

    def kill_a_worker_at_the_third_record(record):
        seen.append(record["key"])
        if len(seen) == 3:
            os.killpg(workers[0].pid, signal.SIGKILL)

    finished = run_on_dask(
        study,
        study.pending(),
        scheduler=address,
        limits=Limits(minutes=2),
        on_record=kill_a_worker_at_the_third_record,
    )
    assert workers[0].wait(5) == -signal.SIGKILL
    assert finished.n_recorded == 12
    assert len(set(seen)) == 12
    progress = study.progress()
    assert (progress.n_done, progress.n_failed, progress.n_running) == (12, 0, 0)


def test_scheduler_that_does_not_answer_is_one_clear_sentence(open_study, monkeypatch):
    monkeypatch.setattr("manyview.experiments.dask_engine.CONNECT_SECONDS", 1)
    study = open_study()
    started = time.monotonic()
    with pytest.raises(InputError, match="no Dask scheduler answers at tcp://"):
        run_on_dask(study, study.pending(), scheduler="tcp://127.0.0.1:9", limits=Limits())
    assert time.monotonic() - started < 20
    assert study.store.running() == {}
