"""The graph of a view: each sample linked to its nearest, found exactly or approximately.

features -> find_neighbors -> neighbor_graph -> (renormalize, GraphSupport)
"""

import numpy as np
from scipy import sparse

from manyview.data.views import View
from manyview.graphs.approximate import approximate_neighbors, import_pynndescent
from manyview.graphs.neighbors import NO_NEIGHBOR, Neighbors, nearest_neighbors
from manyview.validation import check_choice

SEARCHES = ("auto", "exact", "approximate")
EXACT_UP_TO = 30_000  # samples; beyond, comparing all pairs takes minutes and then hours
PRUNED_AT_ONCE = 2**24  # two-step paths counted in one block


def find_neighbors(
    features: View, *, n_neighbors: int, metric: str, search: str = "auto", seed: int = 0
) -> Neighbors:
    """Find the nearest others of each sample; "auto" is exact up to 30,000 samples."""
    if is_approximate(search, features.shape[0]):
        return approximate_neighbors(features, n_neighbors=n_neighbors, metric=metric, seed=seed)
    return nearest_neighbors(features, n_neighbors=n_neighbors, metric=metric)


def is_approximate(search: str, n_samples: int) -> bool:
    """Say whether a search of this name among so many samples is approximate."""
    return search == "approximate" or (search == "auto" and n_samples > EXACT_UP_TO)


def check_search(search: object, n_samples: int) -> None:
    """Refuse an unknown search, and an approximate one where its library is not installed."""
    check_choice("neighbor_search", search, SEARCHES)
    if is_approximate(str(search), n_samples):
        import_pynndescent(n_samples)


def knn_graph(
    features: View,
    *,
    n_neighbors: int,
    metric: str = "cosine",
    symmetry: str = "union",
    min_common_neighbors: int = 0,
) -> sparse.csr_array:
    """Link each sample to its exact nearest (see `neighbor_graph`)."""
    found = nearest_neighbors(features, n_neighbors=n_neighbors, metric=metric)
    return neighbor_graph(found, symmetry=symmetry, min_common_neighbors=min_common_neighbors)


def neighbor_graph(
    found: Neighbors, *, symmetry: str = "union", min_common_neighbors: int = 0
) -> sparse.csr_array:
    """Link each sample to those found for it: a symmetric 0/1 graph without self-loops.

    `symmetry="union"` keeps an edge when either end chose the other, `"mutual"` when both
    did. Edges whose ends share fewer than `min_common_neighbors` neighbors are then
    removed, all at once.
    """
    n_samples = len(found.indices)
    is_edge = found.indices != NO_NEIGHBOR
    starts = np.concatenate([[0], np.cumsum(is_edge.sum(axis=1))])
    columns = found.indices[is_edge].astype(np.int32)
    directed = sparse.csr_array(
        (np.ones(len(columns)), columns, starts.astype(np.int32)), shape=(n_samples, n_samples)
    )
    graph = directed.maximum(directed.T) if symmetry == "union" else directed.minimum(directed.T)
    graph = sparse.csr_array(graph)
    if min_common_neighbors > 0:
        graph = _pruned(graph, min_common_neighbors)
    graph.eliminate_zeros()
    graph.sort_indices()
    return graph


def _pruned(graph: sparse.csr_array, min_common_neighbors: int) -> sparse.csr_array:
    """Keep the edges whose ends share enough neighbors, counted over blocks of rows."""
    n_samples = graph.shape[0]
    n_paths = int((np.diff(graph.indptr).astype(np.int64) ** 2).sum())  # of two steps
    n_blocks = max(1, min(n_samples, -(-n_paths // PRUNED_AT_ONCE)))
    kept = []
    for rows in np.array_split(np.arange(n_samples), n_blocks):
        own = graph[rows]
        n_common = sparse.csr_array((own @ graph).multiply(own))
        n_common.data = (n_common.data >= min_common_neighbors).astype(np.float64)
        kept.append(n_common)
    return sparse.csr_array(sparse.vstack(kept, format="csr"))
