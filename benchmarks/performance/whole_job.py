"""From views to labels: manyview, neighbor graphs with PyG's GCN, scikit-learn's LabelSpreading.

Every method runs with its defaults in its own process, on one thread for its CPU seconds and on two
for the time that a user waits. One that takes too long or too much memory is terminated, and the
row has the reason.
"""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from manyview.experiments.limits import Limits
from manyview.methods import METHODS, find_method
from performance.isolated import run_isolated
from performance.meter import Meter
from performance.pyg_job import label_with_pyg
from performance.stored import Rows
from performance.synthetic_data import synthetic_problem

SIZES = (2000, 10_000, 100_000)
PYG = "pyg"
TITLES = {
    name: METHODS[name].card.title for name in ("manyview", "label-spreading")
} | {PYG: "graphs and a GCN of PyG"}  # fmt: skip
LABEL_RATIO = 0.01
THREADS = (1, 2)
MINUTES, MEMORY_GB = 60, 16
N_ROUNDS = 3
ONE_ROUND_FROM = 50_000


def run(rows: Rows, sizes: Sequence[int] = SIZES, n_rounds: int = N_ROUNDS) -> None:
    for n_samples in sizes:
        for number in range(1 if n_samples >= ONE_ROUND_FROM else n_rounds):
            for n_threads in THREADS:
                for method in TITLES:
                    request = {"n_samples": n_samples, "method": method}
                    limits = Limits(minutes=MINUTES, memory_gb=MEMORY_GB, n_threads=n_threads)
                    rows.measure(
                        request | {"n_threads": n_threads, "round": number},
                        lambda request=request, limits=limits: run_isolated(
                            measure, limits=limits, **request
                        ),
                    )


def measure(meter: Meter, n_samples: int, method: str) -> dict[str, Any]:
    """Label once, after a tiny job to load what is loaded once; accuracy is on hidden labels."""
    label(method, *synthetic_problem(200, 0.1)[:2])
    meter.start()
    views, labels, classes = synthetic_problem(n_samples, LABEL_RATIO)
    start, cpu_start = time.perf_counter(), time.process_time()
    predicted = label(method, views, labels)
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu_start
    hidden = labels == -1
    return {
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "peak_mb": meter.peak(),
        "accuracy": float(np.mean(predicted[hidden] == classes[hidden])),
    }


def label(method: str, views: Any, labels: np.ndarray) -> np.ndarray:
    """Return a class for every sample."""
    if method == PYG:
        return label_with_pyg([views[name] for name in views.names], labels)
    return np.asarray(find_method(method)(random_state=0).fit(views, labels).transduction_)
