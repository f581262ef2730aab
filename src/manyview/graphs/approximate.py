"""Approximate nearest neighbors for very many samples, with the measured recall.

features -> approximate_neighbors -> neighbor_graph
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import Any

import numpy as np
import torch
from scipy import sparse

from manyview.data.views import View
from manyview.distributed.world import ALONE, World
from manyview.errors import InputError
from manyview.graphs.equal_rows import EqualRows
from manyview.graphs.inverted_file import (
    KINDS,
    MIN_GAIN,
    InvertedFile,
    divide_rows,
    has_faiss,
    probe_counts,
)
from manyview.graphs.neighbors import (
    NO_NEIGHBOR,
    Neighbors,
    cosine_distances_on_pairs,
    distances_on_pairs,
    gather_neighbors,
    nearest_neighbors,
    row_scales,
)

EXACT_UP_TO = 30_000  # samples; beyond, comparing all pairs takes minutes to hours
MIN_RECALL = 0.9
N_MEASURED = 500  # samples whose neighbors are also searched exactly
# Neighbors that pynndescent keeps during the search as a multiple of k, and the recall with which
# an attempt is accepted. Fewer are faster: 1.25 k take half the time of 2 k where they find 99%
# instead of 99.9%.
ATTEMPTS = ((1.25, 0.95), (2.0, MIN_RECALL), (4.0, MIN_RECALL))
N_SPARE = 4  # candidates ranked beyond k: the sample itself, near ties
MIN_SEARCHED = 20  # neighbors kept during the search, at least
BLOCK_PAIRS, BLOCK_ROWS = 2**20, 2**16  # candidates ranked, rows converted to float32, at a time


def approximate_neighbors(
    features: View,
    *,
    n_neighbors: int,
    metric: str = "cosine",
    seed: int = 0,
    world: World = ALONE,
) -> Neighbors:
    """Find most of the nearest neighbors of each sample.

    Dense views are searched by faiss (see `InvertedFile`) where it can be used, all others by
    pynndescent. Equal rows of a dense view are searched once (see `EqualRows`). Rows of zeros and
    right angles are treated as in `nearest_neighbors`, and the candidates are ranked by the same
    distances.

    Recall is measured on 500 samples drawn with `seed`: the fraction of their k nearest that were
    found, where any sample no farther than the k-th nearest counts. faiss searches as many
    clusters as 0.9 takes. pynndescent is run again with more effort below 0.95, and below 0.9
    once more.

    Results are reproducible for the same seed and number of threads.

    Several processes with the same features get the same result. Each searches a block of the
    samples with faiss; pynndescent runs in the first process.

    Warns
    -----
    UserWarning
        When the recall of the last attempt is below 0.9.
    """
    scales = row_scales(features) if metric == "cosine" else None
    searched = np.arange(features.shape[0])
    if scales is not None:
        searched = world.from_first(partial(np.flatnonzero, scales))
    if len(searched) <= 8 * n_neighbors:  # the search would visit as many
        return nearest_neighbors(features, n_neighbors=n_neighbors, metric=metric, world=world)
    is_whole = len(searched) == features.shape[0]
    samples = _Samples.of(features if is_whole else features[searched], metric)
    rows = None
    if isinstance(samples.points, np.ndarray):
        rows = world.from_first(partial(EqualRows.of, samples.points))
    if rows is None or rows.are_distinct:
        found = _search(samples, n_neighbors, seed, world)
    else:
        among = _among_few(samples[rows.first], n_neighbors, seed, world)
        found = rows.spread(among, n_neighbors, seed)
    return found if is_whole else found.among(searched, features.shape[0])


@dataclass(frozen=True)
class _Samples:
    """Samples to search: as they are for the ranking, and as points for the library."""

    features: View
    scales: np.ndarray | None  # of the rows, under cosine
    points: View  # float32
    metric: str

    @classmethod
    def of(cls, features: View, metric: str) -> "_Samples":
        scales = row_scales(features) if metric == "cosine" else None
        return cls(features, scales, _points(features, scales), metric)

    def __getitem__(self, rows: np.ndarray) -> "_Samples":
        scales = None if self.scales is None else self.scales[rows]
        return _Samples(self.features[rows], scales, self.points[rows], self.metric)

    def __len__(self) -> int:
        return int(self.points.shape[0])


def _among_few(samples: _Samples, n_neighbors: int, seed: int, world: World) -> Neighbors:
    """Search exactly where there are few samples."""
    if len(samples) > EXACT_UP_TO:
        return _search(samples, n_neighbors, seed, world)
    return nearest_neighbors(
        samples.features, n_neighbors=n_neighbors, metric=samples.metric, world=world
    )


def _search(samples: _Samples, n_neighbors: int, seed: int, world: World) -> Neighbors:
    points, everyone = samples.points, np.arange(len(samples))
    rng = np.random.default_rng(seed)
    measured = np.sort(rng.choice(everyone, size=min(N_MEASURED, len(samples)), replace=False))
    reach = _exact_reach(samples, measured, n_neighbors, world)
    if not (isinstance(points, np.ndarray) and all(world.gather_objects(has_faiss()))):
        return world.from_first(partial(_descend, samples, measured, reach, seed))
    ranked = partial(_ranked, samples, n_neighbors=n_neighbors)
    index, n_probes, recall = _probed(points, measured, reach, ranked, seed, world)
    blocks = divide_rows(len(samples), world)
    own = blocks.slice_of(world.rank)
    candidates = index.search(points[own], n_neighbors + N_SPARE, n_probes)
    found = ranked(everyone[own], candidates)
    return Neighbors(*gather_neighbors(world, blocks, found.indices, found.distances), recall)


def _descend(samples: _Samples, measured: np.ndarray, reach: np.ndarray, seed: int) -> Neighbors:
    """Search by pynndescent, with more effort until the recall suffices."""
    points, everyone, n_neighbors = samples.points, np.arange(len(samples)), reach.shape[1]
    ranked = partial(_ranked, samples, n_neighbors=n_neighbors)
    for n_searched, min_recall in attempts_for(n_neighbors, len(samples)).items():
        candidates = _candidates(points, n_searched, samples.metric, seed)
        found = ranked(everyone, candidates[:, : n_neighbors + N_SPARE])
        recall = recall_of(found.distances[measured], reach)
        if recall >= min_recall:
            break
    else:
        warnings.warn(
            f"the approximate search found {recall:.0%} of the nearest neighbors, less than "
            f"{MIN_RECALL:.0%}. Its graph is worse than an exact one; if time allows, use "
            "search='exact'.",
            UserWarning,
            stacklevel=3,
        )
    return Neighbors(found.indices, found.distances, recall)


def _probed(
    points: np.ndarray,
    measured: np.ndarray,
    reach: np.ndarray,
    ranked: Callable[[np.ndarray, np.ndarray], Neighbors],
    seed: int,
    world: World,
) -> tuple[InvertedFile, int, float]:
    """Index the points; find the number of clusters to search, and the recall it gives.

    The last index stores the points as they are, and the last number is that of all clusters, so
    that the recall is reached in any case. Of several processes, the first measures the recall.
    """

    def recall_with(index: InvertedFile, n_probes: int) -> float:
        candidates = index.search(points[measured], n_candidates, n_probes)
        return recall_of(ranked(measured, candidates).distances, reach)

    n_candidates = reach.shape[1] + N_SPARE
    for kind in KINDS:
        index, before = InvertedFile(points, kind, seed=seed, world=world), 0.0
        for n_probes in probe_counts(index.n_clusters):
            recall = world.from_first(partial(recall_with, index, n_probes))
            if recall >= MIN_RECALL:
                return index, n_probes, recall
            if kind != KINDS[-1] and recall < before + MIN_GAIN:
                break
            before = recall
    return index, n_probes, recall


def attempts_for(n_neighbors: int, n_samples: int) -> dict[int, float]:
    """Return the neighbors kept in each attempt, and the recall with which it is accepted.

    Examples
    --------
    >>> attempts_for(20, 1000)
    {25: 0.95, 40: 0.9, 80: 0.9}
    >>> attempts_for(10, 1000)
    {20: 0.9, 40: 0.9}
    """
    return {
        min(max(ceil(effort * n_neighbors), MIN_SEARCHED), n_samples - 1): min_recall
        for effort, min_recall in ATTEMPTS
    }


def recall_of(distances: np.ndarray, reach: np.ndarray) -> float:
    """Compute the fraction of the true neighbors that were found, from distances alone.

    Any sample no farther than the last true neighbor counts, so ties are equally good.

    Parameters
    ----------
    distances, reach
        [query, rank] distances of the neighbors found and of the true ones; inf for none.

    Examples
    --------
    >>> import numpy as np
    >>> recall_of(np.array([[1.0, 5.0]]), reach=np.array([[1.0, 2.0]]))
    0.5
    """
    is_true = np.isfinite(reach)
    if not is_true.any():
        return 1.0
    last = np.where(is_true, reach, -np.inf).max(axis=1, keepdims=True)
    return float((distances <= last).sum() / is_true.sum())


def check_installed(n_samples: int) -> None:
    """Refuse an approximate search if none of its libraries is installed."""
    if not has_faiss():
        import_pynndescent(n_samples)


def import_pynndescent(n_samples: int) -> Any:
    """Import pynndescent, which only the approximate search needs (extra `scale`)."""
    try:
        import pynndescent
    except ImportError as error:
        raise InputError(
            f"the approximate neighbor search among {n_samples:,} samples needs pynndescent, which "
            "is not installed. Install it with: pip install 'manyview[scale]', or use "
            "search='exact', which compares all pairs."
        ) from error
    return pynndescent


def _points(features: View, scales: np.ndarray | None) -> View:
    """Convert to float32: rows of unit length under cosine, else centered."""
    if isinstance(features, sparse.csr_array):
        scaled: Any = features if scales is None else sparse.diags_array(scales) @ features
        points = sparse.csr_array(scaled.tocsr().astype(np.float32))
        points.sort_indices()
        return points
    origin = features.mean(axis=0, dtype=np.float64) if scales is None else 0.0
    converted = np.empty(features.shape, dtype=np.float32)
    for start in range(0, len(features), BLOCK_ROWS):
        rows = slice(start, start + BLOCK_ROWS)
        block = features[rows].astype(np.float64) - origin
        converted[rows] = block if scales is None else block * scales[rows, None]
    return converted


def _candidates(points: View, n_searched: int, metric: str, seed: int) -> np.ndarray:
    """Run nearest neighbor descent: [point, rank] points near each, including itself."""
    n_threads = torch.get_num_threads()
    pynndescent = import_pynndescent(points.shape[0])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the recall is measured below
            index = pynndescent.NNDescent(
                points,
                metric=metric,
                n_neighbors=n_searched,
                random_state=seed % 2**32,
                compressed=False,
            )
    finally:
        # The library sets OpenMP to all cores, which slows down parallel processes.
        torch.set_num_threads(n_threads)
    return np.asarray(index.neighbor_graph[0])


def _ranked(
    samples: _Samples, queries: np.ndarray, candidates: np.ndarray, *, n_neighbors: int
) -> Neighbors:
    """Rank the candidates of each query by distance, without the query itself."""
    indices = np.full((len(queries), n_neighbors), NO_NEIGHBOR, dtype=np.int64)
    distances = np.full((len(queries), n_neighbors), np.inf, dtype=np.float32)
    block = max(1, BLOCK_PAIRS // candidates.shape[1])
    for start in range(0, len(queries), block):
        rows = queries[start : start + block]
        chosen = candidates[start : start + block].astype(np.int64)
        columns = np.sort(np.where(chosen < 0, rows[:, None], chosen), axis=1)
        reach = _pair_distances(samples, rows, columns)
        reach[columns == rows[:, None]] = np.inf
        order = np.argsort(reach, axis=1, kind="stable")[:, :n_neighbors]
        place = slice(start, start + len(rows)), slice(order.shape[1])
        distances[place] = np.take_along_axis(reach, order, axis=1)
        indices[place] = np.take_along_axis(columns, order, axis=1)
    indices[np.isinf(distances)] = NO_NEIGHBOR
    return Neighbors(indices, distances)


def _exact_reach(samples: _Samples, rows: np.ndarray, n_neighbors: int, world: World) -> np.ndarray:
    """Compute the distances of the true neighbors of some samples: [row, rank], ascending."""
    features = samples.features
    found = nearest_neighbors(
        features[rows], features, n_neighbors=n_neighbors + 1, metric=samples.metric, world=world
    )
    is_missing = found.indices == NO_NEIGHBOR
    reach = _pair_distances(samples, rows, np.where(is_missing, rows[:, None], found.indices))
    reach[is_missing | (found.indices == rows[:, None])] = np.inf
    return np.sort(reach, axis=1)[:, :n_neighbors]


def _pair_distances(samples: _Samples, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Compute the distance of each row to its columns, in float32 as in the exact search."""
    pairs = np.repeat(rows, columns.shape[1]), columns.ravel()
    if samples.scales is None:
        distances = distances_on_pairs(samples.features, *pairs)
    else:
        distances = cosine_distances_on_pairs(samples.features, samples.scales, *pairs)
    return distances.reshape(columns.shape).astype(np.float32)
