"""The nearest points of each query, from the inner products of a block of queries with all points.

Sorting or partitioning every row of distances takes several times as long as the inner products.
Nearly all points are too far away to be neighbors, which a bound shows: the points are divided into
groups, and the k-th best of the groups' best points is at least as far as the k-th nearest. Only
points within this bound are ranked, by their distances in float32 with ties by column.

inner products -> scores -> bound of each query -> candidates -> distances -> nearest columns
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

CHUNK_BYTES = 2**22  # scores searched at a time; fits the processor's cache
GROUPS_PER_NEIGHBOR, MIN_GROUPS = 4, 128  # more give a tighter bound and longer group maxima
MIN_GROUP_SIZE = 4  # with smaller groups, all distances are ranked
CANDIDATES_PER_NEIGHBOR, MIN_CANDIDATES = 3, 32  # rows with more, because of ties, are ranked whole
EPS = float(np.finfo(np.float64).eps)


class InnerProducts(Protocol):
    """Inner products of queries with points, and the distances that follow from them."""

    @property
    def product(self) -> np.ndarray:
        """[query, point] in float64; -inf for a query with itself."""

    def scores(self, rows: slice, buffer: np.ndarray) -> np.ndarray:
        """Return values that decrease with the distance, [row, point], maybe in the buffer."""

    def lowest_scores(self, rows: slice, score: np.ndarray) -> np.ndarray:
        """Return the lowest score of a point not farther than one of `score`, [row].

        It may be too low, never too high, and is not finite if scores do not order a row's points.
        """

    def distances(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Compute distances in float32 for rows and columns of the product, broadcast."""


@dataclass(frozen=True)
class CosineProducts:
    """1 - cosine of unit rows; 0 for duplicates, inf for points at a right angle."""

    product: np.ndarray
    rounding: float

    def scores(self, rows: slice, buffer: np.ndarray) -> np.ndarray:
        """Return the cosines."""
        return self.product[rows]

    def lowest_scores(self, rows: slice, score: np.ndarray) -> np.ndarray:
        """Bound the cosine; NaN where it reaches right angles, which are no neighbors."""
        farthest = np.maximum(_next_float32(1.0 - score), self.rounding)
        lowest = 1.0 - farthest - EPS
        return np.where(lowest > self.rounding, lowest, np.nan)

    def distances(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Compute 1 - cosine."""
        product = self.product[rows, columns]
        distance = 1.0 - product
        distance[distance < self.rounding] = 0.0  # duplicates
        distance[np.abs(product) < self.rounding] = np.inf
        return np.asarray(distance, dtype=np.float32)


@dataclass(frozen=True)
class EuclideanProducts:
    """Squared Euclidean distances; 0 for duplicates."""

    product: np.ndarray
    query_norms: np.ndarray  # [query] squared
    point_norms: np.ndarray  # [point] squared
    rounding: float

    def scores(self, rows: slice, buffer: np.ndarray) -> np.ndarray:
        """Return the inner product less half the point's squared norm."""
        product = self.product[rows]
        return np.asarray(np.subtract(product, self._half_norms, out=buffer[: len(product)]))

    def lowest_scores(self, rows: slice, score: np.ndarray) -> np.ndarray:
        """Bound the score by the distance, up to the rounding errors of both."""
        norms = self.query_norms[rows]
        largest = norms + self._largest_norm
        error = 16 * EPS * largest
        farthest = _next_float32(np.maximum(norms - 2 * score + error, 0.0))
        farthest = np.maximum(farthest, self.rounding * largest)
        return np.asarray((norms - farthest - error) / 2)

    def distances(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Compute squared distances."""
        scale = self.query_norms[rows] + self.point_norms[columns]
        distance = square_distances(scale, self.product[rows, columns], self.rounding)
        return np.asarray(distance, dtype=np.float32)

    @cached_property
    def _half_norms(self) -> np.ndarray:
        return self.point_norms / 2

    @cached_property
    def _largest_norm(self) -> float:
        return float(self.point_norms.max(initial=0.0))


def square_distances(scale: np.ndarray, product: np.ndarray, rounding: float) -> np.ndarray:
    """Compute squared distances from sums of squared norms and inner products."""
    distance = scale - 2.0 * product
    distance[distance < rounding * scale] = 0.0  # duplicates
    return np.asarray(distance)


def nearest_columns(products: InnerProducts, n_kept: int) -> tuple[np.ndarray, np.ndarray]:
    """Find the columns of each row's nearest points, nearest first; ties are ordered by column.

    Returns
    -------
    Columns and float32 distances, both [row, rank].
    """
    n_rows, n_columns = products.product.shape
    found = np.empty((n_rows, n_kept), dtype=np.int64)
    reach = np.empty((n_rows, n_kept), dtype=np.float32)
    rows, columns = _candidates(products, n_kept)
    counts = np.bincount(rows, minlength=n_rows)
    is_ranked = (counts >= n_kept) & (counts <= _max_candidates(n_kept)) & (counts > 0)
    if is_ranked.any():
        is_chosen = is_ranked[rows]
        found[is_ranked], reach[is_ranked] = _ranked(
            products, rows[is_chosen], columns[is_chosen], counts[is_ranked], n_kept
        )
    rest = np.flatnonzero(~is_ranked)
    if len(rest):
        distance = products.distances(rest[:, None], np.arange(n_columns))
        found[rest], reach[rest] = _smallest(distance, n_kept)
    return found, reach


def _max_candidates(n_kept: int) -> int:
    return max(CANDIDATES_PER_NEIGHBOR * n_kept, MIN_CANDIDATES)


def _candidates(products: InnerProducts, n_kept: int) -> tuple[np.ndarray, np.ndarray]:
    """Find all points that may be among a row's nearest: row and column of each, ascending.

    Rows whose points must all be ranked get none.
    """
    n_rows, n_columns = products.product.shape
    n_groups = max(GROUPS_PER_NEIGHBOR * n_kept, MIN_GROUPS)
    if n_columns < MIN_GROUP_SIZE * n_groups:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    places = []
    chunk = max(1, CHUNK_BYTES // (8 * n_columns))
    buffer = np.empty((chunk, n_columns))  # new memory would take longer than the scores
    for start in range(0, n_rows, chunk):
        rows = slice(start, start + chunk)
        with np.errstate(invalid="ignore", over="ignore"):
            scores = products.scores(rows, buffer)
            lowest = products.lowest_scores(rows, _reached_scores(scores, n_kept, n_groups))
        lowest[~np.isfinite(lowest)] = np.inf
        places.append(np.flatnonzero(scores >= lowest[:, None]) + start * n_columns)
    rows_found, columns = np.divmod(np.concatenate(places), n_columns)
    return rows_found, columns


def _reached_scores(scores: np.ndarray, n_kept: int, n_groups: int) -> np.ndarray:
    """Return a score that at least `n_kept` points of each row reach."""
    n_rows, n_columns = scores.shape
    n_grouped = n_columns - n_columns % n_groups
    best = scores[:, :n_grouped].reshape(n_rows, -1, n_groups).max(axis=1)
    if n_grouped < n_columns:
        best = np.column_stack([best, scores[:, n_grouped:].max(axis=1)])
    return np.asarray(np.partition(best, -n_kept, axis=1)[:, -n_kept])


def _ranked(
    products: InnerProducts, rows: np.ndarray, columns: np.ndarray, counts: np.ndarray, n_kept: int
) -> tuple[np.ndarray, np.ndarray]:
    """Rank candidates, `counts` of them in each of the rows."""
    starts = np.cumsum(counts) - counts
    numbers = np.repeat(np.arange(len(counts)), counts)
    positions = np.arange(len(rows)) - starts[numbers]
    shape = (len(counts), int(counts.max()))
    padded_columns = np.zeros(shape, dtype=np.int64)
    padded_distances = np.full(shape, np.inf, dtype=np.float32)
    padded_columns[numbers, positions] = columns
    padded_distances[numbers, positions] = products.distances(rows, columns)
    order = np.argsort(padded_distances, axis=1, kind="stable")[:, :n_kept]
    return (
        np.take_along_axis(padded_columns, order, axis=1),
        np.take_along_axis(padded_distances, order, axis=1),
    )


def _smallest(distance: np.ndarray, n_kept: int) -> tuple[np.ndarray, np.ndarray]:
    """Find each row's smallest entries, sorted; ties are ordered by column."""
    picked = np.argpartition(distance, n_kept - 1, axis=1)[:, :n_kept]
    picked.sort(axis=1)
    reach = np.take_along_axis(distance, picked, axis=1)
    last = reach.max(axis=1, keepdims=True, initial=-np.inf)
    is_tied = np.isfinite(last[:, 0]) & ((distance <= last).sum(axis=1) > n_kept)
    if is_tied.any():  # of those tied for the last places, take the lowest columns
        below, equal = distance[is_tied] < last[is_tied], distance[is_tied] == last[is_tied]
        n_open = n_kept - below.sum(axis=1, keepdims=True)
        kept = below | (equal & (np.cumsum(equal, axis=1, dtype=np.int32) <= n_open))
        picked[is_tied] = np.nonzero(kept)[1].reshape(-1, n_kept)
        reach = np.take_along_axis(distance, picked, axis=1)
    order = np.argsort(reach, axis=1, kind="stable")
    return np.take_along_axis(picked, order, axis=1), np.take_along_axis(reach, order, axis=1)


def _next_float32(values: np.ndarray) -> np.ndarray:
    """Return the next larger float32 of each value's float32: all that round to it are below."""
    rounded = np.asarray(values, dtype=np.float32)
    return np.nextafter(rounded, np.float32(np.inf)).astype(np.float64)
