"""What ERL-MVSC and DSRL share: heat kernel graphs, links between known labels, their smoothing."""

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from manyview.data.scaling import Scaling, fit_scalers, scale_views
from manyview.data.views import MultiView
from manyview.graphs.harmonic import regularized_labels
from manyview.graphs.precomputed import precomputed_graph
from manyview.graphs.weighted_neighbors import heat_kernel_graph
from manyview.system.memory import GB, check_memory

PAIR_BYTES = 16  # weight and column of a stored link, and some room for the row
MAX_SWEEPS = 500
SETTLED = 1e-6  # share of an entry below which a sweep that changes it is the last


def heat_graphs(
    views: MultiView, *, scaling: Scaling, n_neighbors: int, seed: int
) -> list[sparse.csr_array]:
    """Build the graph of every view; a view that is a graph already is taken as given.

    With `n_neighbors` or fewer samples all are linked to all.
    """
    features = scale_views(views, fit_scalers(views, scaling))
    return [
        precomputed_graph(views, name)
        if name in views.graph_names
        else heat_kernel_graph(
            features[name], n_neighbors=min(n_neighbors, len(views) - 1), seed=seed
        )
        for name in views.names
    ]


def same_class_links(y_encoded: np.ndarray) -> sparse.csr_array:
    """Link labeled samples of the same class, each with itself too, with a weight of 1.

    Examples
    --------
    >>> same_class_links(np.array([0, -1, 0, 1])).toarray()
    array([[1., 0., 1., 0.],
           [0., 0., 0., 0.],
           [1., 0., 1., 0.],
           [0., 0., 0., 1.]])
    """
    is_labeled = y_encoded >= 0
    n_classes = int(y_encoded.max(initial=-1)) + 1
    place = (np.flatnonzero(is_labeled), y_encoded[is_labeled])
    members = sparse.csr_array(
        (np.ones(is_labeled.sum()), place), shape=(len(y_encoded), n_classes)
    )
    links = sparse.csr_array(members @ members.T)
    links.sort_indices()
    return links


def check_links_fit(y_encoded: np.ndarray, n_matrices: int, title: str) -> None:
    """Refuse so many known labels that the links between them would not fit in memory."""
    n_links = float(np.sum(np.bincount(y_encoded[y_encoded >= 0]).astype(float) ** 2))
    check_memory(
        n_matrices * PAIR_BYTES * n_links / GB,
        f"{title} with {n_links:,.0f} links between labeled samples of the same class",
        "Give fewer labels",
    )


def far_smoothed_labels(
    roughness: sparse.csr_array | LinearOperator, diagonal: np.ndarray, known: np.ndarray
) -> np.ndarray:
    """Return (I + K)^-1 Y with every entry precise, however small beside the largest.

    Each step away from a label shrinks an entry by a large factor, so a few steps away it is
    smaller than the error that `regularized_labels` leaves. Yet a sample gets its class from its
    own entries alone. Jacobi sweeps, which pass each entry on to its neighbors, make them
    precise one step after the other.

    Parameters
    ----------
    roughness, diagonal
        K, and its diagonal.
    known
        Y [sample, class]
    """
    labels = regularized_labels(roughness, known)
    scale = 1.0 / (1.0 + diagonal)[:, None]
    last = np.inf
    for _ in range(MAX_SWEEPS):
        change = scale * (known - labels - roughness @ labels)
        largest = np.abs(change).max()
        if largest > last:  # sweeps do not converge here
            break
        labels, last = labels + change, largest
        if np.all(np.abs(change) <= SETTLED * np.abs(labels)):
            break
    return labels
