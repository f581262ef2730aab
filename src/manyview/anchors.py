"""Where new samples hang on to the fitted ones: their edges in one view.

A view of features links them to their nearest fitted samples; a given graph has their edges.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from manyview.data.scaling import ViewScaler
from manyview.data.views import MultiView, View
from manyview.graphs.neighbors import NOBODY, nearest_neighbors


@dataclass(frozen=True)
class FeatureAnchor:
    """One fitted feature view: where to look for the neighbours of new samples.

    Attributes
    ----------
    features
        Scaled features of the fitted samples.
    degrees
        Degree of each fitted sample in this view's graph, its self-loop counted; 0 for samples
        that lack the view.
    """

    scaler: ViewScaler
    features: View
    degrees: np.ndarray
    n_neighbors: int
    metric: str

    def edges(self, view: View) -> sparse.csr_array:
        """Link new samples to their nearest fitted samples: [new, fitted], 0/1."""
        points, is_present = self.features, self.degrees > 0
        if not is_present.all():
            points = points[is_present]
        found = nearest_neighbors(
            self.scaler(view), points, n_neighbors=self.n_neighbors, metric=self.metric
        ).indices
        is_edge = found.ravel() != NOBODY
        rows = np.repeat(np.arange(len(found)), found.shape[1])[is_edge]
        columns = np.flatnonzero(is_present)[found.ravel()[is_edge]]
        return sparse.csr_array(
            (np.ones(len(rows)), (rows, columns)), shape=(len(found), len(self.degrees))
        )


@dataclass(frozen=True)
class GraphAnchor:
    """One given graph: the columns of new rows that belong to fitted samples."""

    positions: np.ndarray
    degrees: np.ndarray

    def edges(self, view: View) -> sparse.csr_array:
        """Take the given edges of new samples to fitted ones that have the view: [new, fitted]."""
        edges = sparse.csr_array(sparse.csr_array(view)[:, self.positions])
        return sparse.csr_array(edges @ sparse.diags_array((self.degrees > 0).astype(np.float64)))


def renormalized_edges(
    anchor: FeatureAnchor | GraphAnchor, views: MultiView, name: str
) -> tuple[sparse.csr_array, np.ndarray]:
    """Renormalise the edges of new samples in one view, Eq. (2): [new, fitted], and degrees [new].

    A degree counts the self-loop; it is infinite for samples that lack the view.
    """
    edges = _edges_of(anchor, views, name)
    degree = np.asarray(edges.sum(axis=1)).ravel() + 1.0
    scaled = (
        sparse.diags_array(degree**-0.5)
        @ edges
        @ sparse.diags_array(np.where(anchor.degrees > 0, anchor.degrees, np.inf) ** -0.5)
    )
    is_present = views.present[:, views.names.index(name)]
    return sparse.csr_array(scaled), np.where(is_present, degree, np.inf)


def _edges_of(anchor: FeatureAnchor | GraphAnchor, views: MultiView, name: str) -> sparse.csr_array:
    """Edges of new samples in one view: [new, fitted]; none for samples that lack it."""
    rows = views.rows_with(name)
    if rows is None:
        return anchor.edges(views[name])
    shape = (len(views), len(anchor.degrees))
    if not len(rows):
        return sparse.csr_array(shape)
    own = sparse.coo_array(anchor.edges(views[name][rows]))
    return sparse.csr_array((own.data, (rows[own.row], own.col)), shape=shape)
