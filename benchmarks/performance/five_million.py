"""Five million samples on one machine: views and rarely needed arrays on disk.

The views are `.npy` files, which are memory-mapped; the fit has a `scratch_dir`.
`anonymous_mb` is the memory that only this process can free; pages of mapped files, which the
system takes back when it needs memory, are in `mapped_mb`.
"""

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from manyview import config_context, hide_labels, read_views
from manyview.estimators.manyview import ManyviewClassifier
from performance.isolated import ROOT, run_isolated
from performance.memory import memory_watched
from performance.meter import Meter
from performance.stored import Rows, summary
from performance.synthetic_data import synthetic_problem, synthetic_views
from performance.training import FitClock

SIZES = (5_000_000,)
LABEL_RATIO = 0.01
MAX_EPOCHS, N_NEIGHBORS = 30, 10


def run(rows: Rows, sizes: Sequence[int] = SIZES) -> None:
    for n_samples in sizes:
        rows.measure(
            {"n_samples": n_samples},
            lambda n_samples=n_samples: run_isolated(measure, n_samples=n_samples),
        )


def write_views(folder: Path, n_samples: int) -> np.ndarray:
    """Write three views of 32 columns as `.npy` files; return the classes."""
    views, classes = synthetic_views(n_samples)
    for name, view in views.items():
        np.save(folder / f"{name}.npy", view)
    return classes


def measure(meter: Meter, n_samples: int) -> dict[str, Any]:
    """Fit the default's network once; return time by step, memory, and the accuracy."""
    ManyviewClassifier(random_state=0).fit(*synthetic_problem(200, 0.1)[:2])  # loads what is needed
    clock = FitClock()
    model = ManyviewClassifier(cross_fit=False, random_state=0)
    model.set_params(estimator__max_epochs=MAX_EPOCHS, graph__n_neighbors=N_NEIGHBORS)
    with tempfile.TemporaryDirectory(dir=ROOT) as name:
        folder = Path(name)
        (folder / "views").mkdir()
        classes = write_views(folder / "views", n_samples)
        labels = hide_labels(classes, LABEL_RATIO, random_state=0)
        views = read_views(folder / "views").views
        with (
            config_context(scratch_dir=folder / "scratch"),
            clock.watching(),
            memory_watched() as peaks,
        ):
            start, cpu_start = time.perf_counter(), time.process_time()
            model.fit(views, labels)
            end, cpu_end = time.perf_counter(), time.process_time()
    hidden = labels == -1
    return {
        "n_neighbors": N_NEIGHBORS,
        "max_epochs": MAX_EPOCHS,
        "n_edges": int(model.fused_graph_.nnz),
        "n_epochs": {"fixed": len(clock.fixed), "learned": len(clock.learned)},
        "seconds": {"graphs": clock.graphs_end - start, "whole": end - start},
        "cpu_seconds": cpu_end - cpu_start,
        "fixed_epoch": summary(clock.fixed),
        "epoch": summary(clock.learned),
        "anonymous_mb": peaks["RssAnon"],
        "mapped_mb": peaks["RssFile"],
        "resident_mb": peaks["VmRSS"],
        "recall": model.neighbor_recall_,
        "accuracy": float(np.mean(model.transduction_[hidden] == classes[hidden])),
        "label_ratio": LABEL_RATIO,
    }
