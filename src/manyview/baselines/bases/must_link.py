"""Common parts of ERL-MVSC and DSRL: heat kernel graphs, must-links and label smoothing."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from manyview.baselines.bases.baseline import POSITIVE_INT, Baseline
from manyview.data.scaling import Scaling, fit_scalers, scale_views
from manyview.data.views import MultiView
from manyview.graphs.harmonic import regularized_labels
from manyview.graphs.precomputed import precomputed_graph
from manyview.graphs.weighted_neighbors import heat_kernel_graph
from manyview.system.memory import GB, check_memory
from manyview.validation import Constraint, draw_seed

PAIR_BYTES = 16  # weight and column of a stored link, with room for the row pointers
MAX_SWEEPS = 500
SWEEP_TOLERANCE = 1e-6  # relative change of every entry below which the sweeps stop


@dataclass(kw_only=True, eq=False, repr=False)
class MustLinkClassifier(Baseline):
    """Base of the methods on heat kernel graphs with links between samples of the same class.

    Parameters
    ----------
    n_neighbors
        Neighbors in each view's graph; all other samples where there are fewer. A view given as
        a graph is used unchanged.
    scaling
        See `Baseline`; "rows" standardizes each sample.
    random_state
        Seed of the samples that set the width of the heat kernel, drawn beyond 3,000 samples.
    """

    n_neighbors: int
    scaling: Scaling = "rows"

    _parameter_constraints: ClassVar[dict[str, Constraint]] = {"n_neighbors": POSITIVE_INT}

    def _heat_kernel_graphs(self, views: MultiView) -> list[sparse.csr_array]:
        seed = draw_seed(self.random_state)
        return heat_kernel_graphs(
            views, scaling=self.scaling, n_neighbors=self.n_neighbors, seed=seed
        )


def heat_kernel_graphs(
    views: MultiView, *, scaling: Scaling, n_neighbors: int, seed: int
) -> list[sparse.csr_array]:
    """Build the graph of every view; a view that is already a graph is used unchanged.

    With `n_neighbors` or fewer samples, every sample is linked to all others.
    """
    features = scale_views(views, fit_scalers(views, scaling))
    n_neighbors = min(n_neighbors, len(views) - 1)
    return [
        precomputed_graph(views, name)
        if name in views.graph_names
        else heat_kernel_graph(features[name], n_neighbors=n_neighbors, seed=seed)
        for name in views.names
    ]


def must_link_graph(y_encoded: np.ndarray) -> sparse.csr_array:
    """Link labeled samples of the same class, and each with itself, with a weight of 1.

    Examples
    --------
    >>> must_link_graph(np.array([0, -1, 0, 1])).toarray()
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


def check_must_link_memory(y_encoded: np.ndarray, n_matrices: int, title: str) -> None:
    """Refuse so many known labels that the links between them would not fit in memory."""
    n_links = float(np.sum(np.bincount(y_encoded[y_encoded >= 0]).astype(float) ** 2))
    check_memory(
        n_matrices * PAIR_BYTES * n_links / GB,
        f"{title} with {n_links:,.0f} links between labeled samples of the same class",
        "Give fewer labels",
    )


def precise_smoothed_labels(
    roughness: sparse.csr_array | LinearOperator, diagonal: np.ndarray, known: np.ndarray
) -> np.ndarray:
    """Return (I + K)^-1 Y with a small relative error in every entry, not only in the largest.

    Each edge away from a label shrinks an entry by a large factor, so a few edges away it is
    below the absolute error of `regularized_labels`. The class of a sample depends on the entries
    of its own row alone, so these must be precise too. Jacobi sweeps, which pass each entry on
    to its neighbors, correct the entries one edge further per sweep.

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
        if largest > last:  # the sweeps diverge
            break
        labels, last = labels + change, largest
        if np.all(np.abs(change) <= SWEEP_TOLERANCE * np.abs(labels)):
            break
    return labels
