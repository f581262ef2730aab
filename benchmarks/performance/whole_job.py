"""From views to labels: MGCN-DNS beside scikit-learn's LabelSpreading and GCN fusion.

Every method has its defaults and a process of its own; what takes too long or too much memory is
ended, and the row says so.
"""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from manyview.experiments.limits import Limits
from manyview.methods import find_method
from performance.apart import N_THREADS, Meter, run_apart
from performance.made_data import made_problem, warm_up
from performance.stored import Rows

SIZES = (2000, 10_000, 100_000)
METHODS = ("mgcn-dns", "label-spreading", "gcn-fusion")
LABEL_RATIO = 0.01
LIMITS = Limits(minutes=60, memory_gb=16, n_threads=N_THREADS)
N_ROUNDS = 5
ONE_ROUND_FROM = 50_000


def run(rows: Rows, sizes: Sequence[int] = SIZES, n_rounds: int = N_ROUNDS) -> None:
    for n_samples in sizes:
        for number in range(1 if n_samples >= ONE_ROUND_FROM else n_rounds):
            for method in METHODS:
                rows.measure(
                    {"n_samples": n_samples, "method": method, "round": number},
                    lambda n_samples=n_samples, method=method: run_apart(
                        measure, limits=LIMITS, n_samples=n_samples, method=method
                    ),
                )


def measure(meter: Meter, n_samples: int, method: str) -> dict[str, Any]:
    """Fit once; accuracy is of the samples whose labels were hidden."""
    warm_up(find_method(method)(random_state=0), meter)
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
