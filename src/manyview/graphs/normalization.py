"""Scale a graph by its degrees: renormalized with self-loops, Eq. (2), and its Laplacians."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse


def renormalize(graph: sparse.csr_array, present: np.ndarray | None = None) -> sparse.csr_array:
    """Scale a graph with unit self-loops by its degrees: D^-1/2 (A + I) D^-1/2, Eq. (2).

    A self-loop the graph already has is replaced, not doubled. Samples that are not `present`,
    [sample] booleans, have no edges and get no loop either: their rows are zeros.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> renormalize(sparse.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]]))).toarray()
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    own = sparse.diags_array(graph.diagonal())
    loops = np.ones(graph.shape[0]) if present is None else present.astype(np.float64)
    with_loops = sparse.csr_array(graph - own + sparse.diags_array(loops))
    with_loops.eliminate_zeros()
    inverse_root = sparse.diags_array(_inverse_roots(np.asarray(with_loops.sum(axis=1)).ravel()))
    renormalized = sparse.csr_array(inverse_root @ with_loops @ inverse_root)
    renormalized.sort_indices()
    return renormalized


def laplacian(graph: sparse.csr_array) -> sparse.csr_array:
    """Subtract a symmetric graph from its degrees: D - W, every row summing to 0.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> laplacian(sparse.csr_array(np.array([[0.0, 2.0], [2.0, 0.0]]))).toarray()
    array([[ 2., -2.],
           [-2.,  2.]])
    """
    return _subtracted_from_diagonal(_degrees(graph), graph)


def normalized_laplacian(graph: sparse.csr_array) -> sparse.csr_array:
    """Subtract a symmetric graph, scaled by its degrees, from 1: I - D^-1/2 W D^-1/2.

    A sample linked to nobody gets a row of zeros, its diagonal included. Its energy
    f^T L f, a sum over edges, is then 0 whatever its label, so a view that leaves it out
    neither pulls its label to 0 nor looks rougher for it.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> normalized_laplacian(sparse.csr_array(np.array([[0.0, 4.0], [4.0, 0.0]]))).toarray()
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    is_linked = _degrees(graph) > 0
    return _subtracted_from_diagonal(is_linked.astype(np.float64), scale_by_degrees(graph))


def scale_by_degrees(graph: sparse.csr_array) -> sparse.csr_array:
    """Scale a symmetric graph by its degrees: D^-1/2 W D^-1/2; rows of zeros stay zeros."""
    inverse_root = _inverse_roots(_degrees(graph))
    scaled = sparse.coo_array(graph, dtype=np.float64)
    # One factor an edge, not one from each side: the same number seen from both ends.
    scaled.data = scaled.data * (inverse_root[scaled.row] * inverse_root[scaled.col])
    return sparse.csr_array(scaled)


def _inverse_roots(degrees: np.ndarray) -> np.ndarray:
    """Return d^-1/2 for each degree, and 0 where it is 0."""
    is_linked = degrees > 0
    roots = np.sqrt(degrees)
    return np.asarray(np.divide(1.0, roots, out=np.zeros_like(roots), where=is_linked))


def weighted_sum(matrices: Sequence[Any], weights: np.ndarray) -> Any:
    """Add graphs or Laplacians, all sparse or all dense, each times its weight."""
    total = weights[0] * matrices[0]
    for weight, matrix in zip(weights[1:], matrices[1:], strict=True):
        total = total + weight * matrix
    return total


def _degrees(graph: sparse.csr_array) -> np.ndarray:
    return np.asarray(graph.sum(axis=1), dtype=np.float64).ravel()


def _subtracted_from_diagonal(diagonal: np.ndarray, graph: sparse.csr_array) -> sparse.csr_array:
    difference = sparse.csr_array(sparse.diags_array(diagonal) - graph)
    difference.eliminate_zeros()
    difference.sort_indices()
    return difference
