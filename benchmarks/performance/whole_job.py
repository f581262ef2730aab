"""From views to labels: manyview, scikit-learn's LabelSpreading, GCN fusion.

Every method runs with its defaults in its own process; one that takes too long or too much memory
is terminated, and the row has the reason.
"""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from manyview.experiments.limits import Limits
from manyview.methods import find_method
from performance.isolated import N_THREADS, run_isolated
from performance.meter import Meter
from performance.stored import Rows
from performance.synthetic_data import synthetic_problem, warm_up

SIZES = (2000, 10_000, 100_000)
METHODS = ("manyview", "label-spreading", "gcn-fusion")
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
                    lambda n_samples=n_samples, method=method: run_isolated(
                        measure, limits=LIMITS, n_samples=n_samples, method=method
                    ),
                )


def measure(meter: Meter, n_samples: int, method: str) -> dict[str, Any]:
    """Fit once; accuracy is on the samples with hidden labels."""
    warm_up(find_method(method)(random_state=0), meter)
    views, labels, classes = synthetic_problem(n_samples, LABEL_RATIO)
    model = find_method(method)(random_state=0)
    start = time.perf_counter()
    model.fit(views, labels)
    seconds = time.perf_counter() - start
    hidden = labels == -1
    return {
        "seconds": seconds,
        "peak_mb": meter.peak(),
        "accuracy": float(np.mean(model.transduction_[hidden] == classes[hidden])),
        "n_iter": model.fit_summary().n_iter,
    }
