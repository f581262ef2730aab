"""The map: samples as points on a plane, near their neighbors in the graph.

features -> first_places -> move_places -> (labels) -> move_places -> ...

Neighbors attract and random pairs repel each other, as in UMAP (L. McInnes, J. Healy, J. Melville,
2018). After each fit the points move on from where they were: neighbors of different predicted
classes attract each other less, so that classes separate as the model learns.
"""

import numpy as np
from scipy import sparse

ATTRACTION, REPULSION = 1.0, 5.0  # size of a step
N_REPELLED = 6  # random samples that repel each sample per epoch
MAX_STEP = 0.4
BETWEEN_CLASSES = 0.15  # weight of an edge between two predicted classes
EXTENT = 10.0  # of the first map


def first_places(features: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Place samples by the two main directions of their features: [sample, 2]."""
    from sklearn.utils.extmath import randomized_svd

    centered = features - features.mean(axis=0)
    n_directions = min(2, *centered.shape)
    left, sizes, _ = randomized_svd(
        centered, n_directions, random_state=int(rng.integers(2**31)), n_iter=4
    )
    places = np.zeros((len(features), 2))
    places[:, :n_directions] = left * sizes
    ranks = places.argsort(axis=0, kind="stable").argsort(axis=0)  # spread evenly
    spread = EXTENT * (ranks / max(len(places) - 1, 1) - 0.5)
    return np.asarray(spread + rng.normal(scale=0.05, size=spread.shape), dtype=np.float32)


def move_places(
    places: np.ndarray,
    graph: sparse.csr_array,
    rng: np.random.Generator,
    *,
    n_epochs: int,
    predictions: np.ndarray | None = None,
) -> np.ndarray:
    """Move samples towards their neighbors and away from random others.

    Shapes
    ------
    places, returns : [sample, 2]
    graph : [sample, sample], symmetric
    predictions : [sample] class numbers; None before the first fit
    """
    edges = sparse.coo_array(sparse.triu(graph, 1))
    heads, tails = edges.coords
    degrees = np.bincount(np.concatenate([heads, tails]), minlength=len(places))
    weights = 1 / np.sqrt(np.maximum(degrees[heads] * degrees[tails], 1))
    if predictions is not None:
        weights = weights * np.where(predictions[heads] == predictions[tails], 1, BETWEEN_CLASSES)
    weights = (ATTRACTION * weights).astype(np.float32)[:, None]
    at = places.astype(np.float32)
    everyone = np.arange(len(at))
    for epoch in range(n_epochs):
        rate = np.float32(1 - epoch / n_epochs)
        apart = at[heads] - at[tails]
        squared = (apart * apart).sum(axis=1, keepdims=True)
        pull = weights * apart * (2 / (1 + squared))
        step = _added(tails, pull, len(at)) - _added(heads, pull, len(at))
        for _ in range(N_REPELLED):
            others = np.roll(everyone, int(rng.integers(1, max(len(at), 2))))
            apart = at - at[others]
            squared = (apart * apart).sum(axis=1, keepdims=True)
            step += REPULSION / N_REPELLED * apart * (2 / ((0.05 + squared) * (1 + squared)))
        length = np.sqrt((step * step).sum(axis=1, keepdims=True))
        at = at + rate * step * np.minimum(1, MAX_STEP / np.maximum(length, 1e-6))
    return np.asarray(at, dtype=np.float32)


def turn_like(places: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Shift and turn a map so that it lies on the one before (Procrustes)."""
    centered, target = places - places.mean(axis=0), before - before.mean(axis=0)
    left, _, right = np.linalg.svd(centered.T @ target)
    return np.asarray(centered @ (left @ right) + before.mean(axis=0), dtype=np.float32)


def _added(rows: np.ndarray, values: np.ndarray, n_rows: int) -> np.ndarray:
    columns = [np.bincount(rows, weights=column, minlength=n_rows) for column in values.T]
    return np.stack(columns, axis=1).astype(np.float32)
