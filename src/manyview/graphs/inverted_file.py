"""Nearest points by an inverted file: points in clusters, of which the nearest are searched.

The index is faiss's. It finds what pynndescent finds, compiles nothing, and each query is
independent of the others, so that a few queries tell the recall of all.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import numpy as np
import torch

from manyview.distributed.blocks import Blocks, even_blocks
from manyview.distributed.world import ALONE, World

POINTS_PER_CLUSTER = 256
TRAINED_PER_CLUSTER, N_TRAINING_STEPS = 64, 5  # points that k-means sees, and its steps
KINDS = ("SQ8", "Flat")  # a byte per value; where that is too coarse, the values themselves
MIN_GAIN = 0.002  # in recall, of the next number of probes; below it, points are too coarse
BLOCK_QUERIES = 2**16  # searched at a time, so that Ctrl-C does not wait long
MULTIPLIED_ROWS = 2**12  # that faiss multiplies with the centroids at a time


def has_faiss() -> bool:
    """Return whether faiss can be used: on Linux, where it and torch run in one process.

    On macOS and Windows each brings its own OpenMP, and the second one ends the process.
    """
    return sys.platform == "linux" and find_spec("faiss") is not None


class InvertedFile:
    """Points in clusters, searched by squared Euclidean distance.

    Parameters
    ----------
    points
        [point, column] float32.
    kind
        How points are stored: "SQ8" with one byte per value, "Flat" as they are.
    seed
        Of k-means.
    world
        Processes that build the same index, all from the same points. The first runs k-means, and
        each finds the clusters of a block of points.
    """

    def __init__(
        self, points: np.ndarray, kind: str = "SQ8", *, seed: int = 0, world: World = ALONE
    ) -> None:
        import faiss

        self.n_clusters = max(1, len(points) // POINTS_PER_CLUSTER)
        build: Any = faiss.index_factory
        self._index = build(points.shape[1], f"IVF{self.n_clusters},{kind}")
        clustering = self._index.cp
        clustering.niter, clustering.seed = N_TRAINING_STEPS, seed % 2**31
        clustering.min_points_per_centroid = 1
        clustering.max_points_per_centroid = TRAINED_PER_CLUSTER
        with _torch_threads(faiss):
            if world.is_shared:
                self._build_shared(points, world)
            else:
                self._index.train(points)
                self._index.add(points)

    def _build_shared(self, points: np.ndarray, world: World) -> None:
        import faiss

        def train() -> np.ndarray:
            self._index.train(points)
            return np.asarray(faiss.serialize_index(self._index))

        self._index = faiss.deserialize_index(world.from_first(train))
        blocks = divide_rows(len(points), world)
        nearest = self._index.quantizer.assign(points[blocks.slice_of(world.rank)], 1)
        found = torch.from_numpy(nearest.reshape(-1).astype(np.int32))
        clusters = world.gather_rows(found, blocks.counts).numpy().astype(np.int64)
        to_c = faiss.swig_ptr
        self._index.add_core(len(points), to_c(points), None, to_c(clusters))

    def search(self, queries: np.ndarray, n_found: int, n_probes: int) -> np.ndarray:
        """Return the nearest points in the nearest clusters: [query, rank], -1 for none."""
        import faiss

        self._index.nprobe = min(n_probes, self.n_clusters)
        found = np.empty((len(queries), n_found), dtype=np.int64)
        with _torch_threads(faiss):
            for start in range(0, len(queries), BLOCK_QUERIES):
                block = slice(start, start + BLOCK_QUERIES)
                found[block] = self._index.search(queries[block], n_found)[1]
        return found


def divide_rows(n_rows: int, world: World) -> Blocks:
    """Divide points or queries such that faiss computes the same products as in one process.

    Examples
    --------
    >>> divide_rows(10_000, World(0, 2)).counts
    [4096, 5904]
    """
    return even_blocks(n_rows, world.size, multiple_of=MULTIPLIED_ROWS)


def probe_counts(n_clusters: int) -> list[int]:
    """Return the numbers of clusters to try, each about 1.2 times the one before, then all.

    Examples
    --------
    >>> probe_counts(30)
    [4, 5, 6, 7, 8, 10, 11, 13, 16, 19, 23, 27, 30]
    """
    counts = []
    exponent = 8
    while (count := round(2 ** (exponent / 4))) < n_clusters:
        counts.append(count)
        exponent += 1
    return [*counts, n_clusters]


@contextmanager
def _torch_threads(faiss: Any) -> Iterator[None]:
    """Give faiss as many threads as torch has within a block."""
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(torch.get_num_threads())
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)
