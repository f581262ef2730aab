"""Exact nearest neighbours and the graph of each view, in bounded memory.

features -> nearest_neighbors -> knn_graph -> (renormalize, GraphSupport)
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from manyview.data.views import View

BLOCK_BYTES = 64 * 2**20  # one block of distances; bounds the memory at any number of samples
PAIR_BYTES = 2**20  # one block of differences; stays in the cache
NOBODY = -1


@dataclass(frozen=True)
class Neighbors:
    """The nearest points of each query, nearest first.

    Attributes
    ----------
    indices
        [query, rank] row of the point; -1 where a query has fewer neighbours.
    distances
        [query, rank] 1 - cosine, or the squared Euclidean distance; inf beside -1.
    """

    indices: np.ndarray
    distances: np.ndarray


def nearest_neighbors(
    queries: View,
    points: View | None = None,
    *,
    n_neighbors: int,
    metric: str = "cosine",
) -> Neighbors:
    """Find the exact nearest points of each query, equal distances in order of row number.

    Without `points` the queries are searched among themselves and nobody is their own
    neighbour. Under cosine, rows of zeros have no direction: they have no neighbours and
    are nobody's; points at a right angle share nothing and are no neighbours either.

    Distances are computed in float64, made 0 where they are 0 up to rounding, and compared
    in float32, so that duplicates tie exactly and the order never hangs on the last bit of a
    matrix product.

    Examples
    --------
    >>> import numpy as np
    >>> nearest_neighbors(np.array([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0]]), n_neighbors=1).indices
    array([[1],
           [0],
           [1]])
    """
    among_themselves = points is None
    queries = _prepared(queries, metric)
    points = queries if points is None else _prepared(points, metric)
    if metric == "euclidean" and not (
        isinstance(queries, sparse.csr_array) or isinstance(points, sparse.csr_array)
    ):
        origin = points.mean(axis=0)  # far from 0, distances drown in the rounding of norms
        queries, points = queries - origin, points - origin
    n_queries, n_points = queries.shape[0], points.shape[0]
    point_norms = square_norms(points)
    n_kept = min(n_neighbors, n_points - among_themselves)
    indices = np.full((n_queries, n_neighbors), NOBODY, dtype=np.int64)
    distances = np.full((n_queries, n_neighbors), np.inf, dtype=np.float32)
    block = max(1, BLOCK_BYTES // (8 * n_points))
    for start in range(0, n_queries, block):
        rows = slice(start, min(start + block, n_queries))
        distance = _distances(queries[rows], points, point_norms, metric)
        if among_themselves:
            distance[np.arange(len(distance)), np.arange(rows.start, rows.stop)] = np.inf
        found, reach = _smallest(distance, n_kept)
        indices[rows, :n_kept], distances[rows, :n_kept] = found, reach
    indices[np.isinf(distances)] = NOBODY
    return Neighbors(indices, distances)


def distances_on_pairs(features: View, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Squared Euclidean distance of the pairs (rows[i], columns[i]) of samples, in float64.

    Taken from differences, so that near samples far from 0 keep their digits and equal ones
    are at exactly 0.

    Examples
    --------
    >>> import numpy as np
    >>> points = np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 4.0]])
    >>> distances_on_pairs(points, np.array([0, 1]), np.array([1, 2]))
    array([25.,  0.])
    """
    width = features.shape[1]
    if isinstance(features, sparse.csr_array):
        width = 4 * int(np.diff(features.indptr).max(initial=0))  # two rows, with their columns
    block = max(1, PAIR_BYTES // (8 * max(width, 1)))
    distances = np.empty(len(rows))
    for start in range(0, len(rows), block):
        pairs = slice(start, start + block)
        difference = _float64(features[rows[pairs]]) - _float64(features[columns[pairs]])
        distances[pairs] = square_norms(difference)
    return distances


def mean_distance(features: View) -> float:
    """Average the Euclidean distance over all pairs of samples, each with itself included.

    Examples
    --------
    >>> import numpy as np
    >>> mean_distance(np.array([[0.0], [4.0]]))
    2.0
    """
    features = _float64(features)
    if isinstance(features, np.ndarray):
        features = features - features.mean(axis=0)
    n_samples = features.shape[0]
    point_norms = square_norms(features)
    block = max(1, BLOCK_BYTES // (8 * n_samples))
    total = 0.0
    for start in range(0, n_samples, block):
        queries = features[start : start + block]
        total += float(np.sqrt(_square_distances(queries, features, point_norms)).sum())
    return float(total / n_samples**2)


def knn_graph(
    features: View,
    *,
    n_neighbors: int,
    metric: str = "cosine",
    symmetry: str = "union",
    min_common_neighbors: int = 0,
) -> sparse.csr_array:
    """Link each sample to its nearest: a symmetric 0/1 graph without self-loops.

    `symmetry="union"` keeps an edge when either end chose the other, `"mutual"` when both
    did. Edges whose ends share fewer than `min_common_neighbors` neighbours are then
    removed, all at once.
    """
    chosen = nearest_neighbors(features, n_neighbors=n_neighbors, metric=metric).indices
    n_samples = len(chosen)
    row = np.repeat(np.arange(n_samples), chosen.shape[1])
    is_edge = chosen.ravel() != NOBODY
    row, column = row[is_edge], chosen.ravel()[is_edge]
    directed = sparse.csr_array((np.ones(len(row)), (row, column)), shape=(n_samples, n_samples))
    graph = directed.maximum(directed.T) if symmetry == "union" else directed.minimum(directed.T)
    graph = sparse.csr_array(graph)
    if min_common_neighbors > 0:
        graph = _prune(graph, min_common_neighbors)
    graph.eliminate_zeros()
    graph.sort_indices()
    return graph


def _prune(graph: sparse.csr_array, min_common_neighbors: int) -> sparse.csr_array:
    n_common = sparse.csr_array((graph @ graph).multiply(graph))
    n_common.data = (n_common.data >= min_common_neighbors).astype(np.float64)
    return n_common


def square_norms(features: View) -> np.ndarray:
    """Squared length of each row."""
    if isinstance(features, sparse.csr_array):
        return np.asarray(features.multiply(features).sum(axis=1)).ravel()
    return np.asarray(np.einsum("ij,ij->i", features, features))


def _prepared(features: View, metric: str) -> View:
    features = _float64(features)
    if metric != "cosine":
        return features
    norms = np.sqrt(square_norms(features))
    inverse = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    if isinstance(features, sparse.csr_array):
        return sparse.csr_array(sparse.diags_array(inverse) @ features)
    return np.asarray(features * inverse[:, None])


def _float64(features: View) -> View:
    return features.astype(np.float64)


def _distances(queries: View, points: View, point_norms: np.ndarray, metric: str) -> np.ndarray:
    if metric == "cosine":
        product, rounding = _product(queries, points), _rounding(points)
        distance = 1.0 - product
        distance[distance < rounding] = 0.0  # duplicates
        distance[np.abs(product) < rounding] = np.inf
        return np.asarray(distance, dtype=np.float32)
    return np.asarray(_square_distances(queries, points, point_norms), dtype=np.float32)


def _square_distances(queries: View, points: View, point_norms: np.ndarray) -> np.ndarray:
    scale = square_norms(queries)[:, None] + point_norms
    distance = scale - 2.0 * _product(queries, points)
    distance[distance < _rounding(points) * scale] = 0.0  # duplicates
    return np.asarray(distance)


def _product(queries: View, points: View) -> np.ndarray:
    product: Any = queries @ points.T
    return product if isinstance(product, np.ndarray) else np.asarray(product.toarray())


def _rounding(points: View) -> float:
    return float((points.shape[1] + 8) * np.finfo(np.float64).eps)


def _smallest(distance: np.ndarray, n_kept: int) -> tuple[np.ndarray, np.ndarray]:
    """Pick each row's smallest entries, sorted; among equals the lower column first."""
    picked = np.argpartition(distance, n_kept - 1, axis=1)[:, :n_kept]
    picked.sort(axis=1)
    reach = np.take_along_axis(distance, picked, axis=1)
    last = reach.max(axis=1, keepdims=True, initial=-np.inf)
    for i in np.flatnonzero((distance <= last).sum(axis=1) > n_kept):  # a tie at the border
        below = np.flatnonzero(distance[i] < last[i])
        equal = np.flatnonzero(distance[i] == last[i])[: n_kept - len(below)]
        picked[i] = np.sort(np.concatenate([below, equal]))
        reach[i] = distance[i, picked[i]]
    order = np.argsort(reach, axis=1, kind="stable")
    return np.take_along_axis(picked, order, axis=1), np.take_along_axis(reach, order, axis=1)
