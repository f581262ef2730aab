"""The local engine: each trial runs once, whatever happens to runners and workers."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time

import pytest

from manyview.experiments.engines import run_locally
from manyview.experiments.limits import Limits
from manyview.experiments.store import RECORDS_NAME, Store
from manyview.experiments.worker import attempt

LIMITS = Limits()
SLOW = """
title = "Slow"
datasets = ["{data}"]
label_ratios = [0.2]
seeds = [0, 1, 2]

[methods.mgcn-dns]
params = { tol = 0.0, max_epochs = 100000 }
"""


def lines_of(store):
    return [json.loads(line) for line in (store.folder / RECORDS_NAME).read_text().splitlines()]


def test_all_trials_run_once_and_the_second_call_has_nothing_to_do(open_study):
    study = open_study()
    seen = []
    finished = run_locally(study, study.pending(), n_jobs=2, limits=LIMITS, on_record=seen.append)
    assert (finished.n_recorded, finished.interrupted) == (4, False)
    assert len(seen) == 4
    assert study.pending() == {}
    progress = study.progress()
    assert (progress.n_done, progress.n_failed, progress.n_running) == (4, 0, 0)
    assert all(record["status"] == "done" for record in lines_of(study.store))
    assert run_locally(study, study.pending(), n_jobs=2, limits=LIMITS).n_recorded == 0
    for key, (_, trial) in study.keys.items():  # a worker predicts as this process does
        here = attempt(trial, None, None)
        assert here["predictions"] == study.store.records()[key]["predictions"]
    changed = open_study(
        'title = "t"\ndatasets = ["{data}"]\nlabel_ratios = [0.2]\nseeds = [0, 1]\n'
        "[methods.knn]\nparams = { n_neighbors = 3 }\n[methods.svm]\n"
    )
    assert {trial.method for trial in changed.pending().values()} == {"knn"}
    assert len(changed.pending()) == 2  # exactly what depends on the change


def test_two_runners_on_one_store_never_run_a_trial_twice(open_study):
    text = (
        'title = "t"\ndatasets = ["{data}"]\nlabel_ratios = [0.2]\nseeds = [0, 1, 2, 3, 4, 5]\n'
        "[methods.knn]\n[methods.svm]\n"
    )
    studies = [open_study(text), open_study(text)]
    counts = []

    def work(study):
        finished = run_locally(study, study.pending(), n_jobs=1, limits=LIMITS)
        counts.append(finished.n_recorded)

    threads = [threading.Thread(target=work, args=(study,)) for study in studies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    keys = [record["key"] for record in lines_of(studies[0].store)]
    assert len(keys) == len(set(keys)) == sum(counts) == 12


def test_failed_trial_is_recorded_with_its_reason_and_the_others_run(open_study):
    study = open_study(
        'title = "t"\ndatasets = ["{data}"]\nlabel_ratios = [0.2]\nseeds = [0]\n'
        "[methods.mgcn-dns]\nparams = { tau = -1.0 }\n[methods.knn]\n"
    )
    run_locally(study, study.pending(), n_jobs=1, limits=LIMITS)
    failed = list(study.failed())
    assert len(failed) == 1
    assert failed[0]["reason"] == "tau must be above 0; got -1.0."
    assert study.progress().n_done == 1
    assert study.pending() == {}
    assert len(study.pending(retry_failed=True)) == 1
    key = failed[0]["key"]
    study.store.add({"key": key, "status": "failed", "reason": "bad luck"})
    retried = {key: study.store.records()[key]}
    again = dict.fromkeys([key], next(t for _, t in study.keys.values() if t.method == "knn"))
    run_locally(study, again, retried=retried, n_jobs=1, limits=LIMITS)
    assert study.progress().n_failed == 0  # the new record replaces the old one


@pytest.mark.parametrize(
    ("limits", "status", "reason"),
    [
        (Limits(minutes=0.02), "out of time", "it took more than 0.02 minutes"),
        (Limits(memory_gb=0.05), "out of memory", "it took more than 0.05 GB of memory"),
    ],
)
def test_trial_over_a_limit_is_stopped(open_study, limits, status, reason):
    study = open_study(SLOW)
    first = dict(list(study.pending().items())[:1])
    run_locally(study, first, n_jobs=1, limits=limits)
    (record,) = study.failed()
    assert (record["status"], record["reason"]) == (status, reason)


def start_runner(plan, store, *options):
    command = [sys.executable, "-m", "manyview", "bench", "run", str(plan), "--out", str(store)]
    return subprocess.Popen(
        [*command, "--jobs", "1", *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, env=os.environ | {"OMP_NUM_THREADS": "1"},
    )  # fmt: skip


def children_of(pid):
    listed = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False
    )
    return [int(line) for line in listed.stdout.split()]


def wait_until(condition, seconds=30.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.05)


def test_runner_killed_at_random_moments_loses_at_most_the_running_trials(
    write_plan, open_study, tmp_path
):
    text = (
        'title = "t"\ndatasets = ["{data}"]\nlabel_ratios = [0.2]\n'
        "seeds = [0, 1, 2, 3, 4, 5, 6, 7]\n[methods.knn]\n[methods.ssgcn]\n"
    )
    plan, folder = write_plan(text), tmp_path / "store"
    rng, seen = random.Random(1), {}
    for _ in range(3):
        with start_runner(plan, folder, "--quiet") as runner:
            time.sleep(rng.uniform(0.5, 5.0))
            workers = children_of(runner.pid)
            runner.send_signal(signal.SIGKILL)
            runner.communicate()
        for key, record in seen.items():
            assert Store(folder).records()[key] == record
        seen = dict(Store(folder).records())
        for pid in workers:  # none is left behind
            wait_until(lambda pid=pid: not os.path.exists(f"/proc/{pid}"))  # noqa: PTH110
    study = open_study(text)
    run_locally(study, study.pending(), n_jobs=2, limits=LIMITS)
    records = lines_of(study.store)
    assert len(records) == len({record["key"] for record in records}) == 16
    assert all(record["status"] == "done" for record in records)


def test_ctrl_c_stops_cleanly_and_releases_the_trials(write_plan, tmp_path):
    plan, folder = write_plan(SLOW), tmp_path / "store"
    with start_runner(plan, folder) as runner:
        wait_until(lambda: (folder / "running").is_dir() and any((folder / "running").iterdir()))
        time.sleep(1.0)
        runner.send_signal(signal.SIGINT)
        _, errors = runner.communicate(timeout=30)
    assert runner.returncode == 130
    assert "Traceback" not in errors
    assert "Interrupted after 0 trials, which are recorded; the same command continues." in errors
    assert "nothing was written" not in errors
    assert Store(folder).running() == {}
    assert Store(folder).claim(["anything"]) == "anything"
