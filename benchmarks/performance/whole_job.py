"""From views to labels: MGCN-DNS beside scikit-learn's LabelSpreading and GCN fusion.

Every method has its defaults and a process of its own; what takes too long or too much memory is
ended, and the row says so.
"""

import time
from pathlib import Path
from typing import Any

import numpy as np

from manyview.experiments.limits import Limits
from manyview.methods import find_method
from performance.apart import N_THREADS, Meter, run_apart
from performance.made_data import made_problem
from performance.stored import FOLDER, Rows

SIZES = (2000, 10_000, 100_000)
METHODS = ("mgcn-dns", "label-spreading", "gcn-fusion")
LABEL_RATIO = 0.01
LIMITS = Limits(minutes=60, memory_gb=16, n_threads=N_THREADS)
N_REPEATS_BELOW = {20_000: 5, 200_000: 1}


def run(sizes: tuple[int, ...] = SIZES, folder: Path = FOLDER, *, again: bool = False) -> None:
    rows = Rows("whole-job", folder, again=again)
    for n_samples in sizes:
        n_repeats = next((n for size, n in N_REPEATS_BELOW.items() if n_samples < size), 1)
        for repeat in range(n_repeats):  # methods take turns
            for method in METHODS:
                rows.measure(
                    {"n_samples": n_samples, "method": method, "repeat": repeat},
                    lambda n_samples=n_samples, method=method: run_apart(
                        measure, limits=LIMITS, n_samples=n_samples, method=method
                    ),
                )


def measure(meter: Meter, n_samples: int, method: str) -> dict[str, Any]:
    """Fit once; accuracy is of the samples whose labels were hidden."""
    views, labels, classes = made_problem(n_samples, LABEL_RATIO)
    model = find_method(method)(random_state=0)
    start = time.perf_counter()
    model.fit(views, labels)
    seconds = time.perf_counter() - start
    hidden = labels == -1
    curve = getattr(model, "training_curve_", None)
    return {
        "seconds": seconds,
        "peak_mb": meter.peak(),
        "accuracy": float(np.mean(model.transduction_[hidden] == classes[hidden])),
        "n_iter": curve.n_epochs if curve else model.n_iter_,
    }
