"""How far graphs confirm each other, without a label: edges of one that others have, too.

Samples that belong together are neighbors in several views. A view of noise links samples by
chance, and hardly any of its edges is found elsewhere.
"""

from collections.abc import Sequence

import numpy as np
from scipy import sparse

LEAST_SHARE = 1e-3  # of a graph beside the best, so that sums never are 0


def edge_overlap(graph: sparse.csr_array, others: Sequence[sparse.csr_array]) -> float:
    """Share of a graph's edges that other graphs have, as a mean over these; 0 without edges.

    Examples
    --------
    >>> chain = sparse.csr_array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
    >>> pair = sparse.csr_array([[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    >>> edge_overlap(chain, [pair, chain])
    0.75
    """
    n_edges = graph.count_nonzero()
    if n_edges == 0 or not others:
        return 0.0
    n_shared = [graph.multiply(other).count_nonzero() for other in others]
    return float(np.mean(n_shared) / n_edges)


def overlap_weights(graphs: Sequence[sparse.csr_array]) -> np.ndarray:
    """Weigh graphs by how far the others confirm their edges, beyond chance: [graph], sum to 1.

        share_g ~ mean over the others h of (e_gh - d_h) / (1 - d_h)

    e is the share of the edges of g that h has, d the share of all pairs of samples that are edges
    of h: what any other edges would have. Self-loops do not count. A single graph has all.

    Examples
    --------
    >>> one = sparse.csr_array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    >>> other = sparse.csr_array([[0, 0, 1, 0], [0, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]])
    >>> overlap_weights([one, one, other]).round(3)
    array([0.5, 0.5, 0. ])
    """
    off = [sparse.csr_array(sparse.triu(graph, k=1)) for graph in graphs]
    n_samples = off[0].shape[0]
    n_pairs = max(n_samples * (n_samples - 1) / 2, 1)
    found = np.zeros(len(off))
    for number, graph in enumerate(off):
        excess = []
        for other in (one for place, one in enumerate(off) if place != number):
            chance = min(other.count_nonzero() / n_pairs, 1 - LEAST_SHARE)
            excess.append((edge_overlap(graph, [other]) - chance) / (1 - chance))
        found[number] = max(np.mean(excess), 0.0) if excess else 1.0
    found = np.maximum(found, LEAST_SHARE * max(found.max(), LEAST_SHARE))
    return np.asarray(found / found.sum())
