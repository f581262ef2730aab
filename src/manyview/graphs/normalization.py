"""Renormalise a graph with self-loops, Eq. (2)."""

import numpy as np
from scipy import sparse


def renormalize(graph: sparse.csr_array) -> sparse.csr_array:
    """Scale a graph with unit self-loops by its degrees: D^-1/2 (A + I) D^-1/2, Eq. (2).

    A self-loop the graph already has is replaced, not doubled.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> renormalize(sparse.csr_array(np.array([[0.0, 1.0], [1.0, 0.0]]))).toarray()
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    n_samples = graph.shape[0]
    own = sparse.diags_array(graph.diagonal())
    with_loops = sparse.csr_array(graph - own + sparse.eye_array(n_samples))
    with_loops.eliminate_zeros()
    inverse_root = sparse.diags_array(1.0 / np.sqrt(np.asarray(with_loops.sum(axis=1)).ravel()))
    renormalized = sparse.csr_array(inverse_root @ with_loops @ inverse_root)
    renormalized.sort_indices()
    return renormalized
