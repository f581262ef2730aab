"""Real large data: the default beside a random forest and label spreading, 1% labeled.

Every method runs with its defaults in its own process on two threads. A method that takes too long
or too much memory is terminated, and the row has the reason.
"""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.metrics import balanced_accuracy_score, f1_score

from manyview import hide_labels, load_dataset
from manyview.data.label_values import is_known
from manyview.experiments.limits import Limits
from manyview.methods import METHODS, find_method
from performance.isolated import run_isolated
from performance.meter import Meter
from performance.stored import Rows
from performance.synthetic_data import synthetic_problem

DATASETS = ("mnist-70k", "kdd99")
TITLES = {
    name: METHODS[name].card.title for name in ("manyview", "random-forest", "label-spreading")
}
LABEL_RATIO = 0.01
MINUTES = {"label-spreading": 5}  # it compares all pairs
MOST_MINUTES, MEMORY_GB = 12, 16


def run(rows: Rows, datasets: Sequence[str] = DATASETS) -> None:
    for dataset in datasets:
        for method in TITLES:
            request = {"dataset": dataset, "method": method}
            limits = Limits(
                minutes=MINUTES.get(method, MOST_MINUTES), memory_gb=MEMORY_GB, n_threads=2
            )
            rows.measure(
                request,
                lambda request=request, limits=limits: run_isolated(
                    measure, limits=limits, **request
                ),
            )


def measure(meter: Meter, dataset: str, method: str) -> dict[str, Any]:
    """Label once, after a tiny job to load what is loaded once; scores are on hidden labels."""
    find_method(method)(random_state=0).fit(*synthetic_problem(200, 0.1)[:2])
    data = load_dataset(dataset)
    labels = hide_labels(data.labels, LABEL_RATIO, random_state=0)
    meter.start()
    start, cpu_start = time.perf_counter(), time.process_time()
    model = find_method(method)(random_state=0).fit(data.views, labels)
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu_start
    hidden = ~is_known(labels)
    truth, predicted = np.asarray(data.labels)[hidden], model.transduction_[hidden]
    return {
        "n_samples": len(labels),
        "n_classes": len(model.classes_),
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "peak_mb": meter.peak(),
        "accuracy": float(np.mean(predicted == truth)),
        "balanced_accuracy": float(balanced_accuracy_score(truth, predicted)),
        "macro_f1": float(f1_score(truth, predicted, average="macro")),
    }
