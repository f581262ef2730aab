"""Edge overlap between graphs: a label-free measure of how informative each view is.

Samples of the same class tend to be neighbors in several views. A view of noise links samples at
random, so few of its edges occur in other views.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from scipy import sparse

MIN_WEIGHT = 1e-3  # relative to the largest, so that no sum of weights is 0


def edge_overlap(graph: sparse.csr_array, others: Sequence[sparse.csr_array]) -> float:
    """Compute the fraction of a graph's edges that other graphs have, averaged over them.

    0 if there are no edges or no other graphs.

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
    """Weight graphs by their edge overlap with the others, beyond chance: [graph], sum to 1.

        weight_g ~ mean over the others h of (e_gh - d_h) / (1 - d_h)

    e_gh is the fraction of the edges of g that are in h, d_h the fraction of all pairs of samples
    that are edges of h, which is the overlap expected by chance. Self-loops do not count.

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
    n_edges = np.array([graph.count_nonzero() for graph in off])
    chances = np.minimum(n_edges / n_pairs, 1 - MIN_WEIGHT)
    shared = np.zeros((len(off), len(off)))
    for one, other in combinations(range(len(off)), 2):
        shared[one, other] = shared[other, one] = off[one].multiply(off[other]).count_nonzero()
    overlap = shared / np.maximum(n_edges, 1)[:, None]  # of each graph with each other one
    excess = (overlap - chances) / (1 - chances)
    found = np.ones(len(off))
    for number in range(len(off) if len(off) > 1 else 0):
        found[number] = max(np.delete(excess[number], number).mean(), 0.0)
    found = np.maximum(found, MIN_WEIGHT * max(found.max(), MIN_WEIGHT))
    return np.asarray(found / found.sum())
