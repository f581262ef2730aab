"""Runs of several processes that tests start from the command line."""

import csv
import os
import sys

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


def _predictions(folder):
    with (folder / "predictions.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return [row["label"] for row in rows], np.array([float(row["probability"]) for row in rows])
