"""MLAN: one graph for all views, learned together with the labels on it."""

from collections.abc import Sequence
from typing import NamedTuple
from warnings import warn

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from manyview.base.classifier import MethodCard, MultiViewClassifier
from manyview.baselines.amgl import is_settled
from manyview.callbacks.context import FitContext
from manyview.data.labels import class_frequencies
from manyview.data.network_input import side_by_side
from manyview.data.scaling import Scaling, fit_scalers, scale_views, scaling_by_view
from manyview.data.views import MultiView, View
from manyview.graphs.harmonic import harmonic_labels
from manyview.graphs.neighbors import distances_on_pairs, nearest_neighbors
from manyview.graphs.normalization import laplacian
from manyview.graphs.prepare import check_n_neighbors
from manyview.graphs.weighted_neighbors import adaptive_weights
from manyview.numerics import normalize_rows, project_to_simplex
from manyview.validation import check_choice, check_number, check_whole_number

# Shares of the typical distance below which duplicates would divide by zero.
LEAST_SPREAD = 1e-10
LEAST_EVENNESS = 1e-8


class CandidateEdges(NamedTuple):
    """The edges that a learned graph may have, and what it starts from.

    Attributes
    ----------
    neighbors
        [sample, rank] the nearest in the mean of all views, nearest first.
    distances
        [view, sample, rank] squared distances to them.
    weights
        [sample, rank] the first S; rows sum to 1.
    evenness
        alpha, the weight of ||S||^2: how evenly a sample spreads over its neighbors.
    """

    neighbors: np.ndarray
    distances: np.ndarray
    weights: np.ndarray
    evenness: float


class LearnedGraph(NamedTuple):
    """What `learn_graph_and_labels` finds.

    Attributes
    ----------
    labels
        F [sample, class], one-hot where the label is known; rows of 0 where no label reaches.
    weights
        S [sample, rank], the weight of each candidate edge; rows sum to 1.
    view_weights
        [view] 1 / (2 sqrt(sum_ij d^v_ij s_ij)), those of the last S.
    objective
        The objective after each iteration (see `MLANClassifier`).
    """

    labels: np.ndarray
    weights: np.ndarray
    view_weights: np.ndarray
    objective: list[float]


def candidate_edges(features: Sequence[View], *, n_neighbors: int) -> CandidateEdges:
    """List each sample's nearest by the mean squared distance d over the views, and weigh them.

        s_ij = (d_{i,k+1} - d_ij) / (k d_{i,k+1} - sum_{h<=k} d_ih)
        alpha = mean_i (k d_{i,k+1} - sum_{h<=k} d_ih) / 2

    The first S minimizes the objective without labels and with equal view weights.
    """
    joined = side_by_side(features)
    n_samples = joined.shape[0]
    n_listed = min(n_neighbors + 1, n_samples - 1)
    found = nearest_neighbors(joined, n_neighbors=n_listed, metric="euclidean").indices
    rows = np.repeat(np.arange(n_samples), n_listed)
    distances = np.array(
        [distances_on_pairs(view, rows, found.ravel()).reshape(found.shape) for view in features]
    )
    # The search compares in float32: what ties there may be out of order here.
    order = np.argsort(distances.mean(axis=0), axis=1, kind="stable")
    found = np.take_along_axis(found, order, axis=1)
    distances = np.take_along_axis(distances, order[None], axis=2)
    mean = distances.mean(axis=0)
    if n_listed == n_neighbors:  # nobody lies beyond the last: it sets the scale itself
        mean = np.hstack([mean, mean[:, -1:]])
    farthest = mean[:, -1]
    evenness = 0.5 * float(np.mean(n_neighbors * farthest - mean[:, :-1].sum(axis=1)))
    return CandidateEdges(
        found[:, :n_neighbors],
        distances[:, :, :n_neighbors],
        adaptive_weights(mean),
        max(evenness, LEAST_EVENNESS * float(farthest.mean())) or 1.0,
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
    """Let view weights, graph and labels take turns until the objective stands still.

    Each turn is the exact minimum over one of them, so the objective never rises (unless
    `compound_weights`, which is no minimum of anything).

    Parameters
    ----------
    y_encoded
        [sample] class number, -1 where unknown.
    smoothness
        lambda, the weight of the labels in the choice of edges.
    compound_weights
        Weigh the distances that the last round weighed already, as the released program does.
    """
    neighbors, distances, weights, evenness = edges
    n_samples, n_neighbors = neighbors.shape
    rows = np.repeat(np.arange(n_samples), n_neighbors)
    least_spread = LEAST_SPREAD * distances.mean(axis=2).sum(axis=1).max()
    least_spread = max(least_spread, np.finfo(np.float64).tiny)

    def spread_and_labels() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        spread = np.sum(distances * weights, axis=(1, 2))  # [view]
        labels = harmonic_labels(laplacian(graph_of(neighbors, weights)), y_encoded, n_classes)
        gaps = distances_on_pairs(labels, rows, neighbors.ravel()).reshape(neighbors.shape)
        return spread, labels, gaps

    spread, labels, gaps = spread_and_labels()
    objective: list[float] = []
    while len(objective) < max_iter and not is_settled(objective, tol):
        view_weights = 0.5 / np.sqrt(np.maximum(spread, least_spread))
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
    view_weights = 0.5 / np.sqrt(np.maximum(spread, least_spread))
    return LearnedGraph(labels, weights, view_weights, objective)


def graph_of(neighbors: np.ndarray, weights: np.ndarray) -> sparse.csr_array:
    """Lay the weights of listed neighbors out as a graph: (S + S^T) / 2.

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


class MLANClassifier(MultiViewClassifier):
    """Learn which of their neighbors samples keep, from all views and the labels at once.

    Multi-view learning with adaptive neighbors (MLAN), its semi-supervised form:

        minimize  sum_v sqrt(sum_ij d^v_ij s_ij) + alpha ||S||^2 + 2 lambda tr(F^T L_S F)

    over the graph S, each row >= 0 with a sum of 1, and the labels F [sample, class], known
    rows held at Y. d^v is the squared distance in view v and L_S the Laplacian of
    (S + S^T) / 2. The square root weighs the views; alpha follows from `n_neighbors`. Edges
    between samples whose labels come to differ lose their weight, which frees the labels.

    As in the authors' program, each sample chooses among its `n_neighbors` nearest in all views
    together, a list that stays as it is.

    Parameters
    ----------
    n_neighbors
        Neighbors a sample may choose from.
    smoothness
        lambda, how much labels count against distances in the choice of neighbors. The
        authors' program draws a whole number from 1 to 30; 10 is a later release's.
    scaling
        "rows" standardizes each sample, as the authors do (see `fit_scaler`); one word, or one
        for each view.
    max_iter
        Rounds at most; the authors' program ends after 30, where 10 to 60 are usual.
    tol
        Rounds stop when the objective falls by less than this share.
    compound_weights
        Multiply each round's view weights onto those of the rounds before, as the released
        program does by writing over its distances.
    random_state
        Unused; nothing is drawn. For one contract.

    Attributes
    ----------
    classes_ : [class]
    transduction_ : [sample], a label for every fitted sample
    label_distributions_ : [sample, class], F scaled to probabilities
    learned_graph_ : CSR, (S + S^T) / 2
    view_weights_ : [view], share of each view; sums to 1
    objective_ : [round]
    n_iter_ : int, number of rounds

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = np.repeat(["cat", "dog"], 20)
    >>> side = np.where(truth == "cat", 2.0, -2.0)[:, None]
    >>> views = {"sound": side * [1, 0, -1] + rng.normal(size=(40, 3)),
    ...          "shape": side * [0, 1, 1, 0] + rng.normal(size=(40, 4))}
    >>> labels = np.where(np.arange(40) % 10 == 0, truth, None)
    >>> model = MLANClassifier().fit(views, labels)
    >>> float((model.transduction_ == truth).mean())
    1.0
    """

    card = MethodCard(
        name="mlan",
        title="MLAN",
        paper="Nie, Cai, Li: Multi-view clustering and semi-supervised classification with "
        "adaptive neighbors. AAAI",
        year=2017,
        cost="m^2 d for the neighbors; a sparse linear system of m k entries a round",
    )
    takes_graphs = False

    def __init__(
        self,
        *,
        n_neighbors: int = 9,
        smoothness: float = 10.0,
        scaling: Scaling = "rows",
        max_iter: int = 100,
        tol: float = 1e-8,
        compound_weights: bool = False,
        random_state: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.smoothness = smoothness
        self.scaling = scaling
        self.max_iter = max_iter
        self.tol = tol
        self.compound_weights = compound_weights
        self.random_state = random_state

    def _check_parameters(self, views: MultiView) -> None:
        check_n_neighbors(self.n_neighbors, len(views), auto=False)
        check_number("smoothness", self.smoothness, at_least=0)
        scaling_by_view(self.scaling, views)
        check_whole_number("max_iter", self.max_iter, at_least=1)
        check_number("tol", self.tol, at_least=0)
        check_choice("compound_weights", self.compound_weights, (True, False))

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
        self.objective_ = found.objective
        self.n_iter_ = len(found.objective)
        self.label_distributions_ = normalize_rows(found.labels, class_frequencies(y_encoded))
        if self.max_iter > 2 and not is_settled(self.objective_, self.tol):
            warn(
                f"MLAN still changed after max_iter={self.max_iter} rounds; raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )
