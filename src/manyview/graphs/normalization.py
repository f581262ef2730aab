"""Degree normalization of graphs: renormalization with self-loops, Eq. (2), and Laplacians."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse


def renormalize(graph: sparse.csr_array, present: np.ndarray | None = None) -> sparse.csr_array:
    """Scale a graph with unit self-loops by its degrees: D^-1/2 (A + I) D^-1/2, Eq. (2).

    Existing self-loops are replaced. Samples that are not `present`, [sample] booleans, have no
    edges and get no loop: their rows are zeros.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> renormalize(sparse.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]]))).toarray()
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    loops = np.ones(graph.shape[0]) if present is None else present.astype(np.float64)
    own = graph.diagonal()
    if own.any():
        graph = sparse.csr_array(graph - sparse.diags_array(own))
    renormalized = sparse.csr_array(graph + sparse.diags_array(loops))
    renormalized.eliminate_zeros()
    renormalized.sort_indices()
    roots = _inverse_roots(np.asarray(renormalized.sum(axis=1)).ravel())
    # In place, because a graph may take much of the memory.
    renormalized.data *= np.repeat(roots, np.diff(renormalized.indptr))
    renormalized.data *= roots[renormalized.indices]
    return renormalized


def laplacian(graph: sparse.csr_array) -> sparse.csr_array:
    """Compute the Laplacian of a symmetric graph: D - W; every row sums to 0.

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
    """Compute the normalized Laplacian of a symmetric graph: I - D^-1/2 W D^-1/2.

    An isolated sample gets a row of zeros, including the diagonal. It then adds nothing to
    f^T L f, whatever its label, so a view without its edges neither pulls its label to 0 nor
    counts as less smooth.

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
    # One factor per edge rather than one per side, so that the result is exactly symmetric.
    scaled.data = scaled.data * (inverse_root[scaled.row] * inverse_root[scaled.col])
    return sparse.csr_array(scaled)


def _inverse_roots(degrees: np.ndarray) -> np.ndarray:
    """Return d^-1/2 for each degree, 0 for a degree of 0."""
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
