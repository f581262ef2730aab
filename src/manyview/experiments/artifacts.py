"""What a trial may store besides its scores: its training curve, view weights and graphs."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
from scipy import sparse

from manyview.callbacks.context import observe_epochs

KEEPABLE = ("curve", "weights", "graphs")
N_TILES = 60  # a graph is kept as a picture of this many tiles a side


@contextmanager
def watch_test_accuracy(
    keep: tuple[str, ...], truth: np.ndarray, hidden: np.ndarray
) -> Iterator[list[float]]:
    """Collect the accuracy on the hidden labels after every epoch, where the curve is kept.

    The method never sees the labels: it hands out its predictions and gets nothing back.
    """
    accuracy: list[float] = []

    def score(predictions: np.ndarray) -> None:
        accuracy.append(round(float((predictions[hidden] == truth[hidden]).mean()), 5))

    with observe_epochs(score) if "curve" in keep else nullcontext():
        yield accuracy


def keep_from(
    model: Any, keep: tuple[str, ...], truth: np.ndarray, test_accuracy: list[float]
) -> dict[str, Any]:
    """Take what is to be kept from a fitted model, as plain values."""
    kept: dict[str, Any] = {}
    summary = model.fit_summary()
    curve = summary.training_curve
    if "curve" in keep and curve is not None:
        kept["curve"] = {
            "loss": [round(value, 5) for value in curve.loss],
            "labeled_accuracy": [round(value, 5) for value in curve.labeled_accuracy],
            "test_accuracy": test_accuracy[-curve.n_epochs :],  # of the last network alone
        }
    if "weights" in keep and summary.view_importance is not None:
        kept["view_importance"] = np.round(model.view_importance_, 5).tolist()
        kept["mixing_weights"] = np.round(model.mixing_weights_, 5).tolist()
        kept["view_names"] = list(model.view_names_)
    if "graphs" in keep and "selected" in summary.graphs:
        order = np.argsort(truth, kind="stable")
        graphs = summary.graphs
        kept["graphs"] = {name: _tiles(graph, order) for name, graph in graphs.items()}
        kept["graph_edges"] = {name: int((graph.data > 0).sum()) for name, graph in graphs.items()}
    return kept


def _tiles(graph: sparse.csr_array, order: np.ndarray) -> list[list[float]]:
    """Sum the weights in tiles of a graph whose samples are sorted by class."""
    n_samples = len(order)
    n_tiles = min(N_TILES, n_samples)
    tile_of = np.empty(n_samples, dtype=np.int64)
    tile_of[order] = np.arange(n_samples) * n_tiles // n_samples
    parts = graph.tocoo()
    place = tile_of[parts.row] * n_tiles + tile_of[parts.col]
    sums = np.bincount(place, weights=parts.data, minlength=n_tiles**2)
    return [[float(f"{value:.4g}") for value in row] for row in sums.reshape(n_tiles, n_tiles)]
