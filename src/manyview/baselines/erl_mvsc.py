"""ERL-MVSC: labels smoothed by a regulariser that is itself learned from the views' Laplacians."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple
from warnings import warn

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator
from sklearn.exceptions import ConvergenceWarning

from manyview.baselines.linked_labels import (
    check_links_fit,
    far_smoothed_labels,
    heat_graphs,
    same_class_links,
)
from manyview.contract import MethodCard, MultiViewClassifier
from manyview.data.labels import class_shares, one_hot
from manyview.data.scaled_views import Scaling, scaling_by_view
from manyview.data.views import MultiView
from manyview.distributions import share_out, softmax
from manyview.errors import InputError, check_choice
from manyview.memory import check_max_memory
from manyview.parameters import check_number, check_whole_number, draw_seed

SMALLEST = 1e-12  # length of a row of M, and distance of M to a view, taken for 0


@dataclass(frozen=True)
class Regularizer:
    """The m x m matrix M = entries - left right^T, kept in these parts.

    Attributes
    ----------
    entries
        Sparse [sample, sample].
    left, right
        [sample, any number of columns]
    """

    entries: sparse.csr_array
    left: np.ndarray
    right: np.ndarray

    def __matmul__(self, columns: np.ndarray) -> np.ndarray:
        """Return M times the columns."""
        return np.asarray(self.entries @ columns - self.left @ (self.right.T @ columns))

    def diagonal(self) -> np.ndarray:
        """[sample] M_ii."""
        low_rank = np.einsum("ij,ij->i", self.left, self.right)
        return np.asarray(self.entries.diagonal() - low_rank)

    def squared_row_norms(self) -> np.ndarray:
        """[sample] ||M_i||^2, without forming a row."""
        own = np.asarray(self.entries.multiply(self.entries).sum(axis=1)).ravel()
        mixed = np.einsum("ij,ij->i", self.entries @ self.right, self.left)
        low_rank = np.einsum("ij,ij->i", self.left @ (self.right.T @ self.right), self.left)
        return np.asarray(np.maximum(own - 2 * mixed + low_rank, 0.0))

    def square_distance(self, other: sparse.csr_array) -> float:
        """||M - other||_F^2."""
        difference = Regularizer(sparse.csr_array(self.entries - other), self.left, self.right)
        return float(difference.squared_row_norms().sum())

    def with_transpose(self) -> LinearOperator:
        """M + M^T as an operator."""
        entries = sparse.csr_array(self.entries + self.entries.T)
        left = np.hstack([self.left, self.right])
        right = np.hstack([self.right, self.left])

        def multiply(columns: np.ndarray) -> np.ndarray:
            return np.asarray(entries @ columns - left @ (right.T @ columns))

        return LinearOperator(entries.shape, matvec=multiply, matmat=multiply, dtype=np.float64)


class LearnedLabels(NamedTuple):
    """What `learn_labels` finds.

    Attributes
    ----------
    labels
        P [sample, class].
    view_weights
        lambda [view], sums to 1.
    objective
        After each iteration.
    """

    labels: np.ndarray
    view_weights: np.ndarray
    objective: list[float]


def view_regularizer(graph: sparse.csr_array, codes: np.ndarray) -> sparse.csr_array:
    """Turn a view's graph and the known labels into its Laplacian S_v.

    The graph is scaled by its degrees; then links between labeled samples are replaced by 1
    within a class, each sample with itself included, and 0 between classes; and I minus that,
    again scaled by its degrees, is S_v.
    """
    scaled = sparse.coo_array(scale_by_degrees(graph))
    is_labeled = codes >= 0
    scaled.data[is_labeled[scaled.row] & is_labeled[scaled.col]] = 0.0
    linked = sparse.csr_array(sparse.csr_array(scaled) + same_class_links(codes))
    laplacian = sparse.csr_array(sparse.eye_array(len(codes)) - scale_by_degrees(linked))
    laplacian.eliminate_zeros()
    return laplacian


def scale_by_degrees(graph: sparse.csr_array) -> sparse.csr_array:
    """D^-1/2 A D^-1/2 of a symmetric graph; a sample linked to nobody keeps its zeros."""
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    inverse_root = np.divide(1.0, np.sqrt(degrees), out=np.zeros_like(degrees), where=degrees > 0)
    scaled = sparse.coo_array(graph, dtype=np.float64)
    # One factor an edge, not one from each side: the same number seen from both ends.
    scaled.data = scaled.data * (inverse_root[scaled.row] * inverse_root[scaled.col])
    return sparse.csr_array(scaled)


def learn_labels(
    laplacians: Sequence[sparse.csr_array],
    known: np.ndarray,
    *,
    weight_power: float,
    smoothness: float,
    sparsity: float,
    fidelity: float,
    max_iter: int,
    tol: float,
    as_released: bool = False,
) -> LearnedLabels:
    """Alternate between the labels P, the regulariser M and the weights of the views.

    M is a sparse matrix minus one of rank c, so an iteration costs (edges + m c) c and nothing
    m x m is ever dense. Stops when the objective (see `ERLMVSCClassifier`) changes by less
    than `tol`.

    Parameters
    ----------
    laplacians
        S_v of every view.
    known
        [sample, class] one-hot where labeled, zeros elsewhere.
    """
    n_samples = len(known)
    view_weights = np.full(len(laplacians), 1.0 / len(laplacians))
    nothing = np.empty((n_samples, 0))
    regularizer = Regularizer(_weighted_sum(laplacians, view_weights), nothing, nothing)
    row_norms = np.full(n_samples, 0.5)  # as if every 1 / (2 ||M_i||) were 1
    kappa = smoothness * fidelity / 2 if as_released else smoothness / (2 * fidelity)
    pull = -smoothness / 2 if as_released else smoothness / 2
    objective: list[float] = []
    while len(objective) < max_iter and not is_settled(objective, tol):
        labels = far_smoothed_labels(
            kappa * regularizer.with_transpose(), kappa * 2 * regularizer.diagonal(), known
        )
        _check_is_minimum(labels, known)
        powers = view_weights**weight_power
        # 1 / (sum_v lambda_v^a + 2 gamma d_i), d_i = 1 / (2 ||M_i||)
        shrinkage = row_norms / (powers.sum() * row_norms + sparsity)
        entries = sparse.diags_array(shrinkage) @ _weighted_sum(laplacians, powers)
        regularizer = Regularizer(
            sparse.csr_array(entries), pull * shrinkage[:, None] * labels, labels
        )
        row_norms = np.maximum(np.sqrt(regularizer.squared_row_norms()), SMALLEST)
        distances = np.array([regularizer.square_distance(matrix) for matrix in laplacians])
        view_weights = stationary_weights(distances, weight_power)
        objective.append(
            float(
                np.sum(view_weights**weight_power * distances) / 2
                + smoothness / 2 * np.sum(labels * (regularizer @ labels))
                + sparsity * row_norms.sum()
                + fidelity / 2 * np.sum((labels - known) ** 2)
            )
        )
    return LearnedLabels(labels, view_weights, objective)


def stationary_weights(distances: np.ndarray, power: float) -> np.ndarray:
    """Weights w with sum 1 where sum_v w_v^power distances_v is stationary.

        w_v ~ distances_v^(1 / (1 - power))

    Above a power of 1 this is the minimum, and near views weigh more. Below 1 the sum is concave
    and this is its maximum: far views weigh more.

    Examples
    --------
    >>> stationary_weights(np.array([1.0, 3.0]), power=2.0)
    array([0.75, 0.25])
    >>> stationary_weights(np.array([1.0, 3.0]), power=0.5)
    array([0.1, 0.9])
    """
    logits = np.log(np.maximum(distances, SMALLEST**2)) / (1 - power)
    return softmax(logits[None]).ravel()


def is_settled(objective: Sequence[float], tol: float) -> bool:
    """Whether the last iteration changed the objective by less than `tol`."""
    return len(objective) > 1 and abs(objective[-1] - objective[-2]) < tol


def _weighted_sum(matrices: Sequence[sparse.csr_array], weights: np.ndarray) -> sparse.csr_array:
    total = weights[0] * matrices[0]
    for weight, matrix in zip(weights[1:], matrices[1:], strict=True):
        total = total + weight * matrix
    return sparse.csr_array(total)


def _check_is_minimum(labels: np.ndarray, known: np.ndarray) -> None:
    """Refuse a solution along which I + kappa (M + M^T) curves down: there is no best P."""
    if np.any(np.sum(labels * known, axis=0) <= 0):
        raise InputError(
            "smoothness is so large beside fidelity, and for this many labels, that no labels "
            "minimise the objective. Lower smoothness or raise fidelity."
        )


class ERLMVSCClassifier(MultiViewClassifier):
    """Learn one regulariser from the Laplacians of all views, and smooth the known labels by it.

    Embedding regularizer learning for multi-view semi-supervised classification (ERL-MVSC):

        minimise  1/2 sum_v w_v^a ||M - S_v||_F^2 + beta/2 tr(P^T M P)
                  + gamma ||M||_2,1 + delta/2 ||P - Y||_F^2

    over the labels P [sample, class], the regulariser M [sample, sample] and the weights w of
    the views, which sum to 1. S_v is the normalised Laplacian of view v's graph in which labeled
    samples of the same class are linked fully and those of different classes not at all; Y holds
    the known labels.

    P and M are set to their minima in turn, w to where its derivative is 0. With the published
    a = 0.01 that is a maximum over w, so the objective as a whole need not fall (above a = 1 it
    does). The minima are there only while beta^2 times the labels of a class is small beside
    delta; the defaults are far on the safe side. The released program departs from the objective
    in two places; `as_released` follows it.

    Parameters
    ----------
    weight_power
        a; above 0 and not 1. Below 1 views far from M weigh more, above 1 near ones.
    smoothness
        beta, how much labels must follow M.
    sparsity
        gamma, how strongly rows of M are shrunk.
    fidelity
        delta, how close labels stay to the known ones.
    n_neighbors
        Neighbours in each view's graph; all others where there are fewer.
    scaling
        See `fit_scaler`; one word, or one for each view.
    max_iter
        Iterations at most; two to five are usual.
    tol
        Iterations stop when the objective changes by less.
    as_released
        Solve for P with beta delta / 2 in place of beta / (2 delta), and add beta/2 P P^T to M
        rather than subtract it, as the authors' program does.
    max_memory
        GB that links between labeled samples may take; "auto" for what is free.
    random_state
        Seed of the samples that set the width of the heat kernel, drawn beyond 3,000 samples.

    Attributes
    ----------
    classes_ : [class]
    transduction_ : [sample], a label for every fitted sample
    label_distributions_ : [sample, class], P scaled to probabilities
    view_weights_ : [view], sums to 1
    objective_ : [iteration]
    n_iter_ : int

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = np.repeat(["cat", "dog"], 20)
    >>> centers = np.where(truth == "cat", 2.0, -2.0)[:, None]
    >>> views = {"sound": centers * [1, 1, -1] + rng.normal(size=(40, 3)),
    ...          "shape": centers * [1, -1] + rng.normal(size=(40, 2))}
    >>> labels = np.where(np.arange(40) % 10 == 0, truth, None)
    >>> model = ERLMVSCClassifier(n_neighbors=10).fit(views, labels)
    >>> float((model.transduction_ == truth).mean())
    1.0
    """

    card = MethodCard(
        name="erl-mvsc",
        title="ERL-MVSC",
        paper="Huang, Wang, Zheng, Zhao, Lin: Embedding regularizer learning for multi-view "
        "semi-supervised classification. IEEE TIP",
        year=2021,
        cost="m^2 d for the graphs; (m V k + l^2) c an iteration",
    )
    takes_graphs = True

    def __init__(
        self,
        *,
        weight_power: float = 0.01,
        smoothness: float = 0.01,
        sparsity: float = 0.001,
        fidelity: float = 10.0,
        n_neighbors: int = 20,
        scaling: Scaling = "rows",
        max_iter: int = 40,
        tol: float = 1e-4,
        as_released: bool = False,
        max_memory: float | str = "auto",
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
    ) -> None:
        self.weight_power = weight_power
        self.smoothness = smoothness
        self.sparsity = sparsity
        self.fidelity = fidelity
        self.n_neighbors = n_neighbors
        self.scaling = scaling
        self.max_iter = max_iter
        self.tol = tol
        self.as_released = as_released
        self.max_memory = max_memory
        self.random_state = random_state

    def _check_parameters(self, views: MultiView) -> None:
        check_number("weight_power", self.weight_power, above=0)
        if self.weight_power == 1:
            raise InputError("weight_power must not be 1: the weights would not be determined.")
        for name in ("smoothness", "fidelity"):
            check_number(name, getattr(self, name), above=0)
        for name in ("sparsity", "tol"):
            check_number(name, getattr(self, name), at_least=0)
        for name in ("n_neighbors", "max_iter"):
            check_whole_number(name, getattr(self, name), at_least=1)
        scaling_by_view(self.scaling, views)
        check_choice("as_released", self.as_released, (False, True))
        check_max_memory(self.max_memory)

    def _learn(self, views: MultiView, codes: np.ndarray) -> None:
        n_matrices = len(views.names) + 5  # M, what it is made of, and their difference to S_v
        check_links_fit(codes, n_matrices, self.max_memory, self.card.title)
        graphs = heat_graphs(
            views,
            scaling=self.scaling,
            n_neighbors=self.n_neighbors,
            seed=draw_seed(self.random_state),
        )
        known = one_hot(codes, len(self.classes_))
        found = learn_labels(
            [view_regularizer(graph, codes) for graph in graphs],
            known,
            weight_power=self.weight_power,
            smoothness=self.smoothness,
            sparsity=self.sparsity,
            fidelity=self.fidelity,
            max_iter=self.max_iter,
            tol=self.tol,
            as_released=self.as_released,
        )
        self.label_distributions_ = share_out(found.labels, class_shares(codes))
        self.view_weights_ = found.view_weights
        self.objective_ = found.objective
        self.n_iter_ = len(found.objective)
        if self.max_iter > 1 and not is_settled(self.objective_, self.tol):
            warn(
                f"ERL-MVSC still changed after max_iter={self.max_iter} iterations; raise "
                "max_iter or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )
