"""MLAN: one graph for all views, learned together with the labels on it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from manyview.baselines.amgl import has_converged
from manyview.baselines.bases.baseline import FLAG, NON_NEGATIVE, NeighborBaseline
from manyview.baselines.bases.cards import CARDS
from manyview.callbacks.context import FitContext
from manyview.data.labels import class_frequencies
from manyview.data.network_input import side_by_side
from manyview.data.scaling import Scaling, fit_scalers, scale_views
from manyview.data.views import MultiView, View
from manyview.graphs.harmonic import harmonic_labels
from manyview.graphs.neighbors import distances_on_pairs, nearest_neighbors
from manyview.graphs.normalization import laplacian
from manyview.graphs.weighted_neighbors import adaptive_weights
from manyview.numerics import normalize_rows, project_to_simplex
from manyview.validation import Constraint

# Minima relative to the typical distance; without them, duplicates would divide by zero.
MIN_SPREAD = 1e-10
MIN_EVENNESS = 1e-8


class CandidateEdges(NamedTuple):
    """Candidate edges of the learned graph, and their initial weights.

    Attributes
    ----------
    neighbors
        [sample, rank] the nearest samples by the mean over all views, nearest first.
    distances
        [view, sample, rank] their squared distances.
    weights
        [sample, rank] the initial S; rows sum to 1.
    evenness
        alpha, the weight of ||S||^2: the larger, the more even the weights of the neighbors.
    """

    neighbors: np.ndarray
    distances: np.ndarray
    weights: np.ndarray
    evenness: float


class LearnedGraph(NamedTuple):
    """Result of `learn_graph_and_labels`.

    Attributes
    ----------
    labels
        F [sample, class], as in `AutoWeightedLabels`.
    weights
        S [sample, rank], the weight of each candidate edge; rows sum to 1.
    view_weights
        [view] 1 / (2 sqrt(sum_ij d^v_ij s_ij)) for the last S.
    objective
        The objective after each iteration (see `MLANClassifier`).
    """

    labels: np.ndarray
    weights: np.ndarray
    view_weights: np.ndarray
    objective: list[float]


def candidate_edges(features: Sequence[View], *, n_neighbors: int) -> CandidateEdges:
    """Find each sample's nearest by the mean squared distance d over the views, and weight them.

        s_ij = (d_{i,k+1} - d_ij) / (k d_{i,k+1} - sum_{h<=k} d_ih)
        alpha = mean_i (k d_{i,k+1} - sum_{h<=k} d_ih) / 2

    The initial S minimizes the objective without labels and with equal view weights.
    """
    table = side_by_side(features)
    n_samples = table.shape[0]
    n_listed = min(n_neighbors + 1, n_samples - 1)
    found = nearest_neighbors(table, n_neighbors=n_listed, metric="euclidean").indices
    rows = np.repeat(np.arange(n_samples), n_listed)
    distances = np.array(
        [distances_on_pairs(view, rows, found.ravel()).reshape(found.shape) for view in features]
    )
    # The search compares in float32: ties there may be out of order in float64.
    order = np.argsort(distances.mean(axis=0), axis=1, kind="stable")
    found = np.take_along_axis(found, order, axis=1)
    distances = np.take_along_axis(distances, order[None], axis=2)
    mean = distances.mean(axis=0)
    if n_listed == n_neighbors:  # no sample lies beyond the last, which then sets the scale
        mean = np.hstack([mean, mean[:, -1:]])
    farthest = mean[:, -1]
    evenness = 0.5 * float(np.mean(n_neighbors * farthest - mean[:, :-1].sum(axis=1)))
    return CandidateEdges(
        found[:, :n_neighbors],
        distances[:, :, :n_neighbors],
        adaptive_weights(mean),
        max(evenness, MIN_EVENNESS * float(farthest.mean())) or 1.0,
    )


def learn_graph_and_labels(
    edges: CandidateEdges,
    y_encoded: np.ndarray,
    n_classes: int,
    *,
    smoothness: float,
    max_iter: int,
    tol: float,
    compound_weights: bool = False,
) -> LearnedGraph:
    """Alternate between view weights, graph and labels until the objective converges.

    Each step is the exact minimum over one of them, so the objective never rises (except with
    `compound_weights`, whose steps are not minima).

    Parameters
    ----------
    y_encoded
        [sample] class number, -1 where unknown.
    smoothness
        lambda, the weight of the labels in the choice of edges.
    compound_weights
        Weight the distances as already weighted by the last iteration, as the released program
        does.
    """
    neighbors, distances, weights, evenness = edges
    n_samples, n_neighbors = neighbors.shape
    rows = np.repeat(np.arange(n_samples), n_neighbors)
    min_spread = MIN_SPREAD * distances.mean(axis=2).sum(axis=1).max()
    min_spread = max(min_spread, np.finfo(np.float64).tiny)

    def spread_and_labels() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        spread = np.sum(distances * weights, axis=(1, 2))  # [view]
        labels = harmonic_labels(laplacian(graph_of(neighbors, weights)), y_encoded, n_classes)
        gaps = distances_on_pairs(labels, rows, neighbors.ravel()).reshape(neighbors.shape)
        return spread, labels, gaps

    spread, labels, gaps = spread_and_labels()
    objective: list[float] = []
    while len(objective) < max_iter and not has_converged(objective, tol):
        view_weights = 0.5 / np.sqrt(np.maximum(spread, min_spread))
        weighted = view_weights[:, None, None] * distances
        if compound_weights:
            distances = weighted
        costs = weighted.sum(axis=0) + smoothness * gaps
        weights = project_to_simplex(-costs / (2 * evenness))
        spread, labels, gaps = spread_and_labels()
        objective.append(
            float(
                np.sqrt(spread).sum()
                + evenness * np.sum(weights**2)
                + smoothness * np.sum(gaps * weights)  # = 2 lambda tr(F^T L_S F)
            )
        )
    view_weights = 0.5 / np.sqrt(np.maximum(spread, min_spread))
    return LearnedGraph(labels, weights, view_weights, objective)


def graph_of(neighbors: np.ndarray, weights: np.ndarray) -> sparse.csr_array:
    """Return the graph (S + S^T) / 2 of the neighbors' weights S.

    Examples
    --------
    >>> graph_of(np.array([[1], [0], [1]]), np.ones((3, 1))).toarray()
    array([[0. , 1. , 0. ],
           [1. , 0. , 0.5],
           [0. , 0.5, 0. ]])
    """
    n_samples, n_neighbors = neighbors.shape
    rows = np.repeat(np.arange(n_samples), n_neighbors)
    directed = sparse.csr_array(
        (weights.ravel(), (rows, neighbors.ravel())), shape=(n_samples, n_samples)
    )
    graph = sparse.csr_array((directed + directed.T) / 2)
    graph.eliminate_zeros()
    graph.sort_indices()
    return graph


@dataclass(kw_only=True, eq=False, repr=False)
class MLANClassifier(NeighborBaseline):
    """Learn one graph among neighbors in all views, together with the labels on it.

    Multi-view learning with adaptive neighbors (MLAN), its semi-supervised form:

        minimize  sum_v sqrt(sum_ij d^v_ij s_ij) + alpha ||S||^2 + 2 lambda tr(F^T L_S F)

    over the graph S, each row >= 0 with a sum of 1, and the labels F [sample, class], known
    rows fixed at Y. d^v is the squared distance in view v and L_S the Laplacian of
    (S + S^T) / 2. The square root implies the view weights; alpha follows from `n_neighbors`.
    Edges between samples with different labels lose their weight.

    As in the authors' program, each sample chooses among its `n_neighbors` nearest in all views
    together, a list that does not change. The method draws nothing.

    Parameters
    ----------
    n_neighbors
        Candidate neighbors per sample.
    smoothness
        lambda, the weight of the labels against the distances in the choice of neighbors. The
        authors' program draws a whole number from 1 to 30; a later release uses 10.
    max_iter
        Maximum number of iterations; the authors' program stops after 30, where 10 to 60 are
        usual.
    tol
        Iterations stop when the objective decreases by less than this fraction.
    compound_weights
        Multiply the view weights of each iteration onto those of the iterations before, as the
        released program does by overwriting its distances.
    scaling
        See `Baseline`; "rows" standardizes each sample, as the authors do.

    Attributes
    ----------
    label_distributions_ : [sample, class], F with rows normalized
    learned_graph_ : CSR, (S + S^T) / 2
    view_weights_ : [view], sums to 1
    objective_ : [iteration]
    n_iter_ : int, number of iterations

    Examples
    --------
    >>> points = np.random.default_rng(0).normal(size=(30, 2)) + np.repeat([[0], [9]], 15, axis=0)
    >>> labels = np.full(30, -1)
    >>> labels[[0, 15]] = 0, 1
    >>> model = MLANClassifier(scaling="none").fit([points, points[:, :1]], labels)
    >>> model.learned_graph_[:15, 15:].nnz, np.bincount(model.transduction_)
    (0, array([15, 15]))
    """

    n_neighbors: int = 9
    smoothness: float = 10.0
    max_iter: int = 100
    tol: float = 1e-8
    compound_weights: bool = False
    scaling: Scaling = "rows"

    card = CARDS["mlan"]
    takes_graphs = False
    _parameter_constraints: ClassVar[dict[str, Constraint]] = {
        **NeighborBaseline._parameter_constraints,
        "smoothness": NON_NEGATIVE,
        "compound_weights": FLAG,
    }

    def _fit(self, views: MultiView, y_encoded: np.ndarray, context: FitContext) -> None:
        features = list(scale_views(views, fit_scalers(views, self.scaling)).values())
        edges = candidate_edges(features, n_neighbors=self.n_neighbors)
        found = learn_graph_and_labels(
            edges,
            y_encoded,
            len(self.classes_),
            smoothness=self.smoothness,
            max_iter=self.max_iter,
            tol=self.tol,
            compound_weights=self.compound_weights,
        )
        self.learned_graph_ = graph_of(edges.neighbors, found.weights)
        self.view_weights_ = found.view_weights / found.view_weights.sum()
        self.objective_, self.n_iter_ = found.objective, len(found.objective)
        self.label_distributions_ = normalize_rows(found.labels, class_frequencies(y_encoded))
        if self.max_iter > 2 and not has_converged(self.objective_, self.tol):
            self._warn_not_converged(self.max_iter)
