"""One epoch of MGCN-DNS against the literal dense implementation, in time and memory.

Both get the same graphs of samples of MNIST-10K, or of synthetic data where its file is missing.
Each measurement runs in its own process. Memory is its peak above the level after a tiny fit, once
overall (data and neighbor search included), once from the finished graphs on.
"""

import os
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from dense_reference import DenseMGCNDNS
from torch import nn

from manyview.data.catalog.load import load_dataset
from manyview.data.splits import hide_labels
from manyview.estimators.mgcn_dns import MGCNDNSClassifier
from manyview.estimators.parameters import NeighborGraph
from manyview.system.memory import free_memory
from performance.isolated import run_isolated
from performance.meter import Meter
from performance.stored import Rows, summary
from performance.synthetic_data import synthetic_views, warm_up
from performance.training import catch_training

SIZES = (1000, 2000, 5000, 10_000)
FEW_EPOCHS_FROM = 10_000
N_NEIGHBORS = 20
LABEL_RATIO = 0.1
DENSE_COPIES = 28  # m x m float32 matrices alive at the dense peak


def run(rows: Rows, sizes: Sequence[int] = SIZES) -> None:
    for n_samples in sizes:
        rows.measure({"n_samples": n_samples}, lambda n_samples=n_samples: compare(n_samples))


def compare(n_samples: int) -> dict[str, Any]:
    """Measure both at one size; skip the dense one where it does not fit into memory."""
    row = {"ours": run_isolated(measure, kind="ours", n_samples=n_samples, n_epochs=10)}
    needed, free = 4 * DENSE_COPIES * n_samples**2 / 2**30, free_memory()
    if needed > free:
        reason = f"needs {needed:.1f} GB, {free:.1f} GB are free"
        return row | {"dense": {"status": "out of memory", "reason": reason}}
    few = n_samples >= FEW_EPOCHS_FROM
    row["dense"] = run_isolated(
        measure, kind="dense", n_samples=n_samples, n_epochs=1 if few else 3
    )
    if any(one["status"] != "done" for one in row.values()):
        return row
    ours, dense = row["ours"], row["dense"]
    return row | {
        "times_faster": dense["seconds"]["median"] / ours["seconds"]["median"],
        "times_less_memory": dense["training_mb"] / ours["training_mb"],
        "times_less_memory_over_all": dense["peak_mb"] / ours["peak_mb"],
    }


def measure(meter: Meter, kind: str, n_samples: int, n_epochs: int) -> dict[str, Any]:
    """Time epochs after one to warm up, and measure memory from the finished graphs on."""
    warm_up(MGCNDNSClassifier(max_epochs=2, random_state=0), meter)
    views, classes, data = problem(n_samples)
    labels = hide_labels(classes, LABEL_RATIO, random_state=0)
    model = MGCNDNSClassifier(graph=NeighborGraph(n_neighbors=N_NEIGHBORS), random_state=0)
    training = catch_training(model, views, labels)
    meter.restart()
    if kind == "ours":
        seconds = training.epochs(n_epochs)
    else:
        seconds = dense_epochs(training.inputs, model, labels, n_epochs)
    return {
        "data": data,
        "seconds": summary(seconds),
        "training_mb": meter.peak_of_stretch(),
        "peak_mb": meter.peak(),
    }


def problem(n_samples: int) -> tuple[list[np.ndarray], np.ndarray, str]:
    """Draw samples of MNIST-10K, or make synthetic ones where its file is missing."""
    if os.environ.get("MANYVIEW_DATA"):
        dataset = load_dataset("mnist-10k")
        drawn = np.sort(np.random.default_rng(0).permutation(len(dataset.labels))[:n_samples])
        views = [view[drawn] for _, view in dataset.views.items()]
        return views, dataset.labels[drawn], dataset.name
    return *synthetic_views(n_samples), "synthetic"


def dense_epochs(
    inputs: Any, model: MGCNDNSClassifier, labels: np.ndarray, n_epochs: int
) -> list[float]:
    """Train the dense network on the same input; return seconds of each epoch after the first."""
    support, view_weights, features, center = inputs
    graphs = torch.stack(
        [torch.from_numpy(support.matrix_of(one).toarray()).float() for one in view_weights.T]
    )
    features = features if center is None else features - center
    classes, y_encoded = np.unique(labels, return_inverse=True)
    is_labeled = torch.from_numpy(classes[y_encoded] != -1)
    known = torch.from_numpy(y_encoded)[is_labeled] - 1  # -1 sorts first
    widths = [features.shape[1], model.hidden, len(classes) - 1]
    with torch.random.fork_rng():
        torch.manual_seed(0)
        gamma = model.parameter_group("graph_learning").gamma
        tau = model.parameter_group("node_selection").tau
        network = DenseMGCNDNS(support.n_samples, len(graphs), widths, gamma, tau)
    optimizer = torch.optim.Adam(network.parameters(), lr=model.learning_rate)
    stamps = []
    for _ in range(n_epochs + 1):
        stamps.append(time.perf_counter())
        optimizer.zero_grad()
        logits = network(graphs, features)[is_labeled]
        nn.functional.cross_entropy(logits, known).backward()
        optimizer.step()
    return np.diff([*stamps, time.perf_counter()])[1:].tolist()
