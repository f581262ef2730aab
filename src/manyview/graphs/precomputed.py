"""Views that are graphs already: checked, and cut to the fitted samples."""

import numpy as np
from scipy import sparse

from manyview.data.rows import scatter_rows
from manyview.data.views import MultiView
from manyview.errors import InputError


def given_graph(views: MultiView, name: str) -> sparse.csr_array:
    """Take a given graph between the samples of `views`: symmetric, >= 0, no self-loops.

    An edge given in one direction only counts for both, with the larger weight. Samples that
    lack the view have no edges.
    """
    graph = check_given_graph(views, name, views.n_original)[:, views.positions]
    if views.rows_with(name) is not None:
        kept = views.present[:, views.names.index(name)].astype(np.float64)
        graph = sparse.csr_array(graph @ sparse.diags_array(kept))
    graph = sparse.csr_array(graph.maximum(graph.T))
    graph = sparse.csr_array(graph - sparse.diags_array(graph.diagonal()))
    graph.eliminate_zeros()
    graph.sort_indices()
    return graph


def check_given_graph(views: MultiView, name: str, n_columns: int) -> sparse.csr_array:
    """Check the rows of a given graph: one column for each of `n_columns` samples, >= 0.

    Rows of samples that lack the view become zeros.
    """
    graph = sparse.csr_array(views[name]).astype(np.float64)
    rows = views.rows_with(name)
    if rows is not None:
        kept = sparse.csr_array(graph[rows])
        graph = sparse.csr_array(scatter_rows(kept, rows, len(views)))
    if graph.shape[1] != n_columns:
        raise InputError(
            f"view {name!r} is a graph and must have one column for each of the {n_columns} "
            f"samples it was given with; got {graph.shape[1]} columns."
        )
    if graph.nnz and graph.data.min() < 0:
        raise InputError(
            f"view {name!r} is a graph and must have weights of 0 or more; "
            f"got {graph.data.min():g}."
        )
    return graph
