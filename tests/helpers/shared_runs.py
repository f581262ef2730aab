"""Runs of several processes that tests start from the command line."""

import csv
import os
import sys
import time

import numpy as np


def shell_environment():
    """Return that of a fresh shell: this package can be imported, one thread per process."""
    path = os.pathsep.join(sys.path)
    return {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}


def assert_equal_runs(folder, other):
    """Compare the files and the predictions of two runs."""
    assert {path.name for path in folder.iterdir()} == {path.name for path in other.iterdir()}
    (labels, probabilities), (other_labels, others) = _predictions(folder), _predictions(other)
    assert other_labels == labels
    assert np.allclose(others, probabilities, atol=0.01)  # single precision, many epochs


def assert_identical_runs(folder, other):
    """Compare what two runs learned and predict, to the bit."""
    for name in ("predictions.csv", "history.csv", "model.safetensors"):
        assert (other / name).read_bytes() == (folder / name).read_bytes(), name


def wait_for_checkpoint(out, n_trainings, rank, seconds=120):
    """Wait until a process has kept the state of a training after so many others."""
    deadline = time.monotonic() + seconds
    states = f"{out.name}.checkpoint/fit-*/*-0*-{rank}.safetensors"
    while not any(int(one.name.split("-")[0]) >= n_trainings for one in out.parent.glob(states)):
        assert time.monotonic() < deadline, "there is no checkpoint"
        assert not out.exists(), "the fit has ended before it could be killed"
        time.sleep(0.02)


def _predictions(folder):
    with (folder / "predictions.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return [row["label"] for row in rows], np.array([float(row["probability"]) for row in rows])
