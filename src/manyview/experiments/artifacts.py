"""Artifacts of a trial, stored besides its scores: training curve, view weights and graphs."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
from scipy import sparse

from manyview.callbacks.context import observe_epochs

ARTIFACTS = ("curve", "weights", "graphs")
N_TILES = 60  # per side of the image that a graph is stored as


@contextmanager
def record_test_accuracy(
    artifacts: tuple[str, ...], truth: np.ndarray, hidden: np.ndarray
) -> Iterator[list[float]]:
    """Collect the accuracy on the hidden labels after each epoch, if the curve is an artifact.

    The method does not see the labels: its predictions are read, and nothing is returned to it.
    """
    accuracy: list[float] = []

    def score(predictions: np.ndarray) -> None:
        accuracy.append(round(float((predictions[hidden] == truth[hidden]).mean()), 5))

    with observe_epochs(score) if "curve" in artifacts else nullcontext():
        yield accuracy


def collect_artifacts(
    model: Any, artifacts: tuple[str, ...], truth: np.ndarray, test_accuracy: list[float]
) -> dict[str, Any]:
    """Return the artifacts of a fitted model as plain values."""
    found: dict[str, Any] = {}
    summary = model.fit_summary()
    curve = summary.training_curve
    if "curve" in artifacts and curve is not None:
        found["curve"] = {
            "loss": [round(value, 5) for value in curve.loss],
            "labeled_accuracy": [round(value, 5) for value in curve.labeled_accuracy],
            "test_accuracy": test_accuracy[-curve.n_epochs :],  # of the last network alone
        }
    if "weights" in artifacts and summary.view_importance is not None:
        found["view_importance"] = np.round(model.view_importance_, 5).tolist()
        found["mixing_weights"] = np.round(model.mixing_weights_, 5).tolist()
        found["view_names"] = list(model.view_names_)
    if "graphs" in artifacts and "selected" in summary.graphs:
        order = np.argsort(truth, kind="stable")
        graphs = summary.graphs
        found["graphs"] = {name: tile_weights(graph, order) for name, graph in graphs.items()}
        found["graph_edges"] = {name: int((graph.data > 0).sum()) for name, graph in graphs.items()}
    return found


def tile_weights(graph: sparse.csr_array, order: np.ndarray) -> list[list[float]]:
    """Sum the weights of a graph in tiles, with the samples sorted by class."""
    n_samples = len(order)
    n_tiles = min(N_TILES, n_samples)
    tile_of = np.empty(n_samples, dtype=np.int64)
    tile_of[order] = np.arange(n_samples) * n_tiles // n_samples
    parts = graph.tocoo()
    place = tile_of[parts.row] * n_tiles + tile_of[parts.col]
    sums = np.bincount(place, weights=parts.data, minlength=n_tiles**2)
    return [[float(f"{value:.4g}") for value in row] for row in sums.reshape(n_tiles, n_tiles)]
