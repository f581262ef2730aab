"""The kNN graph of a view, from an exact or approximate neighbor search.

features -> find_neighbors -> neighbor_graph -> (renormalize, GraphSupport)
"""

from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from manyview.data.views import View
from manyview.distributed.world import ALONE, World
from manyview.graphs.approximate import EXACT_UP_TO, approximate_neighbors, check_installed
from manyview.graphs.equal_rows import EqualRows
from manyview.graphs.neighbors import NO_NEIGHBOR, Neighbors, nearest_neighbors
from manyview.validation import check_choice

MAX_DISTINCT = 0.5  # fraction of distinct rows up to which only these are searched
SEARCHES = ("auto", "exact", "approximate")
BLOCK_PATHS = 2**24  # two-step paths counted at a time


def find_neighbors(
    features: View,
    *,
    n_neighbors: int,
    metric: str,
    search: str = "auto",
    seed: int = 0,
    world: World = ALONE,
) -> Neighbors:
    """Find the nearest neighbors of each sample; "auto" is exact up to 30,000 samples.

    The processes of a `world` divide the search, and all get the same neighbors.
    """
    settings: dict[str, Any] = {"n_neighbors": n_neighbors, "metric": metric, "world": world}
    if is_approximate(search, features.shape[0]):
        return approximate_neighbors(features, seed=seed, **settings)
    return _exact_neighbors(features, **settings)


def _exact_neighbors(features: View, n_neighbors: int, metric: str, world: World) -> Neighbors:
    """Search exactly; where most rows repeat, among the distinct ones, with the same result."""
    if isinstance(features, np.ndarray):
        rows = world.from_first(partial(EqualRows.of, features))
        if len(rows.sizes) <= MAX_DISTINCT * len(features):
            distinct = features[rows.first]
            found = nearest_neighbors(distinct, n_neighbors=n_neighbors, metric=metric, world=world)
            is_linked = distinct.any(axis=1) if metric == "cosine" else np.ones(len(distinct), bool)
            return rows.spread_exactly(found, n_neighbors, is_linked)
    return nearest_neighbors(features, n_neighbors=n_neighbors, metric=metric, world=world)


def is_approximate(search: str, n_samples: int) -> bool:
    """Return whether this kind of search is approximate for the number of samples."""
    return search == "approximate" or (search == "auto" and n_samples > EXACT_UP_TO)


def check_search(search: object, n_samples: int) -> None:
    """Refuse an unknown search, and an approximate one if its library is not installed."""
    check_choice("search", search, SEARCHES)
    if is_approximate(str(search), n_samples):
        check_installed(n_samples)


def knn_graph(
    features: View,
    *,
    n_neighbors: int,
    metric: str = "cosine",
    symmetry: str = "union",
    min_common_neighbors: int = 0,
) -> sparse.csr_array:
    """Link each sample to its exact nearest neighbors (see `neighbor_graph`)."""
    found = nearest_neighbors(features, n_neighbors=n_neighbors, metric=metric)
    return neighbor_graph(found, symmetry=symmetry, min_common_neighbors=min_common_neighbors)


def neighbor_graph(
    found: Neighbors, *, symmetry: str = "union", min_common_neighbors: int = 0
) -> sparse.csr_array:
    """Link each sample to its neighbors: a symmetric 0/1 graph without self-loops.

    `symmetry="union"` keeps an edge if either end is a neighbor of the other, `"mutual"` if both
    are. Edges whose ends have fewer than `min_common_neighbors` neighbors in common are then
    removed.
    """
    n_samples = len(found.indices)
    is_edge = found.indices != NO_NEIGHBOR
    starts = np.concatenate([[0], np.cumsum(is_edge.sum(axis=1))])
    columns = found.indices[is_edge].astype(np.int32)
    ones = np.ones(len(columns), dtype=np.int8)  # a byte per edge until the graph is made
    directed = sparse.csr_array(
        (ones, columns, starts.astype(np.int32)), shape=(n_samples, n_samples)
    )
    graph = directed.maximum(directed.T) if symmetry == "union" else directed.minimum(directed.T)
    graph = sparse.csr_array(graph).astype(np.float64)
    if min_common_neighbors > 0:
        graph = _pruned(graph, min_common_neighbors)
    graph.eliminate_zeros()
    graph.sort_indices()
    return graph


def _pruned(graph: sparse.csr_array, min_common_neighbors: int) -> sparse.csr_array:
    """Remove edges whose ends have too few common neighbors, in blocks of rows."""
    n_samples = graph.shape[0]
    n_paths = int((np.diff(graph.indptr).astype(np.int64) ** 2).sum())  # of two steps
    n_blocks = max(1, min(n_samples, -(-n_paths // BLOCK_PATHS)))
    kept = []
    for rows in np.array_split(np.arange(n_samples), n_blocks):
        own = graph[rows]
        n_common = sparse.csr_array((own @ graph).multiply(own))
        n_common.data = (n_common.data >= min_common_neighbors).astype(np.float64)
        kept.append(n_common)
    return sparse.csr_array(sparse.vstack(kept, format="csr"))
