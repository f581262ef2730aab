"""Exact nearest neighbors, in bounded memory.

features -> nearest_neighbors -> neighbor_graph -> (renormalize, GraphSupport)
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy import sparse
from sklearn.utils.extmath import safe_sparse_dot

from manyview.data.rows import View, row_blocks
from manyview.distributed.blocks import Blocks, even_blocks
from manyview.distributed.world import ALONE, World
from manyview.graphs.nearest_columns import (
    CosineProducts,
    EuclideanProducts,
    InnerProducts,
    nearest_columns,
    square_distances,
)

BLOCK_BYTES = 64 * 2**20  # one block of distances; bounds the memory
POINT_BYTES = 2**28  # points converted to float64 at a time
PAIR_BYTES = 2**20  # one block of differences; fits the processor's cache
NO_NEIGHBOR = -1


@dataclass(frozen=True)
class Neighbors:
    """The nearest points of each query, nearest first."""

    indices: np.ndarray  # [query, rank] row of the point; -1 where a query has fewer neighbors
    # [query, rank] 1 - cosine, or the squared Euclidean distance; inf where the index is -1
    distances: np.ndarray
    recall: float = 1.0  # fraction of the true neighbors that were found; 1 for an exact search

    def among(self, rows: np.ndarray, n_samples: int) -> "Neighbors":
        """Renumber a search among the samples in `rows` to row numbers among all samples.

        Samples outside `rows` get no neighbors.

        Examples
        --------
        >>> found = Neighbors(np.array([[1], [0]]), np.array([[0.5], [0.5]]))
        >>> found.among(np.array([0, 2]), 3).indices.ravel()
        array([ 2, -1,  0])
        """
        shape = (n_samples, self.indices.shape[1])
        indices = np.full(shape, NO_NEIGHBOR, dtype=np.int64)
        distances = np.full(shape, np.inf, dtype=self.distances.dtype)
        indices[rows] = np.where(self.indices == NO_NEIGHBOR, NO_NEIGHBOR, rows[self.indices])
        distances[rows] = self.distances
        return Neighbors(indices, distances, self.recall)


def gather_neighbors(
    world: World, blocks: Blocks, indices: np.ndarray, distances: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Join the neighbors that each process found for its block of queries; collective.

    Shapes
    ------
    indices, distances : [own query, rank]
    returns : [query, rank] each
    """
    if not world.is_shared:
        return indices, distances
    joined, reach = (
        world.gather_rows(torch.from_numpy(np.ascontiguousarray(part)), blocks.counts).numpy()
        for part in (indices.astype(np.int32), distances)
    )
    return joined.astype(np.int64), reach


def nearest_neighbors(
    queries: View,
    points: View | None = None,
    *,
    n_neighbors: int,
    metric: str = "cosine",
    world: World = ALONE,
) -> Neighbors:
    """Find the exact nearest points of each query; ties are ordered by row number.

    Without `points` the queries are searched among themselves, each without itself. Under cosine,
    rows of zeros have no neighbors and are neighbors of none; orthogonal points are no neighbors.

    Distances are computed in float64, set to 0 if they are 0 up to rounding, and compared in
    float32, so that duplicates tie exactly and the order does not depend on the last bit of a
    matrix product.

    Several processes divide the queries by the blocks that one process would multiply, so every
    product is the same, and all get the neighbors of all queries. They are given the same matrices.

    Examples
    --------
    >>> import numpy as np
    >>> nearest_neighbors(np.array([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0]]), n_neighbors=1).indices
    array([[1],
           [0],
           [1]])
    """
    among_themselves = points is None
    points = queries if points is None else points
    n_queries, n_points = queries.shape[0], points.shape[0]
    n_kept = min(n_neighbors, n_points - among_themselves)
    indices = np.full((n_queries, n_neighbors), NO_NEIGHBOR, dtype=np.int64)
    distances = np.full((n_queries, n_neighbors), np.inf, dtype=np.float32)
    origin = _origin(queries, points) if metric == "euclidean" else None
    rounding = _rounding(points)
    for columns in row_blocks(points, POINT_BYTES):
        part = _prepared(points[columns], metric, origin)
        part_norms, transposed = square_norms(part), _transposed(part)
        block = max(1, BLOCK_BYTES // (8 * part.shape[0]))
        blocks = even_blocks(n_queries, world.size, multiple_of=block)
        own_rows = blocks.slice_of(world.rank)
        buffer = np.empty((min(block, n_queries), part.shape[0]))
        for start in range(own_rows.start, own_rows.stop, block):
            rows = slice(start, min(start + block, own_rows.stop))
            asked = _prepared(queries[rows], metric, origin)
            product = _product(asked, transposed, buffer)
            if among_themselves:
                own = np.arange(max(rows.start, columns.start), min(rows.stop, columns.stop))
                product[own - rows.start, own - columns.start] = -np.inf
            products: InnerProducts = CosineProducts(product, rounding)
            if metric != "cosine":
                products = EuclideanProducts(product, square_norms(asked), part_norms, rounding)
            found, reach = nearest_columns(products, min(n_kept, part.shape[0]))
            found, reach = _nearer(
                (indices[rows], distances[rows]), (found + columns.start, reach), n_kept
            )
            indices[rows, :n_kept], distances[rows, :n_kept] = found, reach
        indices, distances = gather_neighbors(world, blocks, indices[own_rows], distances[own_rows])
    indices[np.isinf(distances)] = NO_NEIGHBOR
    return Neighbors(indices, distances)


def distances_on_pairs(features: View, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Compute the squared Euclidean distance of the pairs (rows[i], columns[i]), in float64.

    Computed from differences, so that there is no cancellation far from 0 and duplicates have a
    distance of exactly 0.

    Examples
    --------
    >>> import numpy as np
    >>> points = np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 4.0]])
    >>> distances_on_pairs(points, np.array([0, 1]), np.array([1, 2]))
    array([25.,  0.])
    """
    distances = np.empty(len(rows))
    for pairs in _pair_blocks(features, len(rows)):
        difference = _float64(features[rows[pairs]]) - _float64(features[columns[pairs]])
        distances[pairs] = square_norms(difference)
    return distances


def cosine_distances_on_pairs(
    features: View, scales: np.ndarray, rows: np.ndarray, columns: np.ndarray
) -> np.ndarray:
    """Compute 1 - cosine of the pairs (rows[i], columns[i]), by the rules of the search.

    Duplicates are at exactly 0; orthogonal pairs and rows of zeros at inf.

    Parameters
    ----------
    scales
        [sample] as from `row_scales`.
    """
    distances, rounding = np.empty(len(rows)), _rounding(features)
    for pairs in _pair_blocks(features, len(rows)):
        one, other = _float64(features[rows[pairs]]), _float64(features[columns[pairs]])
        product = inner_products(one, other) * (scales[rows[pairs]] * scales[columns[pairs]])
        distances[pairs] = 1.0 - product
        distances[pairs][distances[pairs] < rounding] = 0.0
        distances[pairs][np.abs(product) < rounding] = np.inf
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
    point_norms, transposed = square_norms(features), _transposed(features)
    block = max(1, BLOCK_BYTES // (8 * n_samples))
    buffer = np.empty((min(block, n_samples), n_samples))
    total = 0.0
    for start in range(0, n_samples, block):
        queries = features[start : start + block]
        scale = square_norms(queries)[:, None] + point_norms
        product = _product(queries, transposed, buffer)
        total += float(np.sqrt(square_distances(scale, product, _rounding(features))).sum())
    return float(total / n_samples**2)


def square_norms(features: View) -> np.ndarray:
    """Squared length of each row."""
    return inner_products(features, features)


def inner_products(one: Any, other: Any) -> np.ndarray:
    """Inner product of each row of one matrix with the same row of the other."""
    if isinstance(one, sparse.csr_array):
        return np.asarray(one.multiply(other).sum(axis=1)).ravel()
    return np.asarray(np.einsum("ij,ij->i", one, other))


def row_scales(features: View) -> np.ndarray:
    """Inverse length of each row, in float64; 0 for rows of zeros."""
    norms = np.sqrt(np.concatenate([square_norms(block) for block in _float64_blocks(features)]))
    return np.asarray(np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0))


def _prepared(features: View, metric: str, origin: np.ndarray | None) -> View:
    """Scale rows to unit length under cosine, or subtract the origin if there is one."""
    features = _float64(features)
    if origin is not None:
        return np.asarray(features - origin)
    if metric != "cosine":
        return features
    inverse = row_scales(features)
    if isinstance(features, sparse.csr_array):
        return sparse.csr_array(sparse.diags_array(inverse) @ features)
    return np.asarray(features * inverse[:, None])


def _origin(queries: View, points: View) -> np.ndarray | None:
    """Mean of the points; without centering, distances far from 0 lose precision."""
    if isinstance(queries, sparse.csr_array) or isinstance(points, sparse.csr_array):
        return None
    total = sum(block.sum(axis=0) for block in _float64_blocks(points))
    return np.asarray(total / points.shape[0])


def _pair_blocks(features: View, n_pairs: int) -> Iterator[slice]:
    """Split pairs into blocks whose rows fit the processor's cache."""
    width = features.shape[1]
    if isinstance(features, sparse.csr_array):
        width = 4 * int(np.diff(features.indptr).max(initial=0))  # two rows, with their columns
    block = max(1, PAIR_BYTES // (8 * max(width, 1)))
    for start in range(0, n_pairs, block):
        yield slice(start, start + block)


def _float64_blocks(features: View) -> Iterator[View]:
    for rows in row_blocks(features, POINT_BYTES):
        yield _float64(features[rows])


def _float64(features: View) -> View:
    return features.astype(np.float64)


def _transposed(points: View) -> View:
    """Transpose once what is multiplied many times."""
    if isinstance(points, sparse.csr_array):
        return sparse.csr_array(points.T)
    return points.T


def _product(queries: View, transposed: View, buffer: np.ndarray) -> np.ndarray:
    """Multiply queries with transposed points; dense, in the buffer if both are dense.

    Memory that is new in every block would take half as long again as the product.
    """
    if isinstance(queries, np.ndarray) and isinstance(transposed, np.ndarray):
        return np.matmul(queries, transposed, out=buffer[: len(queries)])
    return np.asarray(safe_sparse_dot(queries, transposed, dense_output=True))


def _rounding(points: View) -> float:
    return float((points.shape[1] + 8) * np.finfo(np.float64).eps)


def _nearer(
    before: tuple[np.ndarray, np.ndarray], new: tuple[np.ndarray, np.ndarray], n_kept: int
) -> tuple[np.ndarray, np.ndarray]:
    """Merge the neighbors from two blocks of points; ties keep the earlier block first."""
    indices, reach = (np.concatenate(pair, axis=1) for pair in zip(before, new, strict=True))
    order = np.argsort(reach, axis=1, kind="stable")[:, :n_kept]
    return np.take_along_axis(indices, order, axis=1), np.take_along_axis(reach, order, axis=1)
