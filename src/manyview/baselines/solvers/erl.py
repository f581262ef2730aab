"""The alternation of ERL-MVSC between labels, their regularizer and the view weights.

Laplacians -> labels P -> regularizer M -> view weights -> labels ...
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from manyview.baselines.bases.must_link import must_link_graph, precise_smoothed_labels
from manyview.errors import InputError
from manyview.graphs.normalization import scale_by_degrees, weighted_sum
from manyview.numerics import softmax

SMALLEST = 1e-12  # minimum row norm of M, and minimum distance of M to a view


@dataclass(frozen=True)
class Regularizer:
    """The m x m matrix M = entries - left right^T, stored as these parts."""

    entries: sparse.csr_array  # sparse [sample, sample]
    # [sample, rank]
    left: np.ndarray
    right: np.ndarray

    def __matmul__(self, columns: np.ndarray) -> np.ndarray:
        """Return M times the columns."""
        return np.asarray(self.entries @ columns - self.left @ (self.right.T @ columns))

    def diagonal(self) -> np.ndarray:
        """Return M_ii: [sample]."""
        low_rank = np.einsum("ij,ij->i", self.left, self.right)
        return np.asarray(self.entries.diagonal() - low_rank)

    def squared_row_norms(self) -> np.ndarray:
        """Return ||M_i||^2 without forming a row: [sample]."""
        sparse_part = np.asarray(self.entries.multiply(self.entries).sum(axis=1)).ravel()
        cross = np.einsum("ij,ij->i", self.entries @ self.right, self.left)
        low_rank = np.einsum("ij,ij->i", self.left @ (self.right.T @ self.right), self.left)
        return np.asarray(np.maximum(sparse_part - 2 * cross + low_rank, 0.0))

    def square_distance(self, other: sparse.csr_array) -> float:
        """Return ||M - other||_F^2."""
        difference = Regularizer(sparse.csr_array(self.entries - other), self.left, self.right)
        return float(difference.squared_row_norms().sum())

    def with_transpose(self) -> LinearOperator:
        """Return M + M^T as an operator."""
        entries = sparse.csr_array(self.entries + self.entries.T)
        left = np.hstack([self.left, self.right])
        right = np.hstack([self.right, self.left])

        def multiply(columns: np.ndarray) -> np.ndarray:
            return np.asarray(entries @ columns - left @ (right.T @ columns))

        return LinearOperator(entries.shape, matvec=multiply, matmat=multiply, dtype=np.float64)


class LearnedLabels(NamedTuple):
    """Result of `learn_labels`.

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


def view_regularizer(graph: sparse.csr_array, y_encoded: np.ndarray) -> sparse.csr_array:
    """Turn a view's graph and the known labels into its Laplacian S_v.

    The graph is scaled by its degrees. Links between labeled samples are then set to 1 within a
    class, self-loops included, and to 0 between classes. S_v is I minus that graph, again scaled
    by its degrees.
    """
    scaled = sparse.coo_array(scale_by_degrees(graph))
    is_labeled = y_encoded >= 0
    scaled.data[is_labeled[scaled.row] & is_labeled[scaled.col]] = 0.0
    linked = sparse.csr_array(sparse.csr_array(scaled) + must_link_graph(y_encoded))
    laplacian = sparse.csr_array(sparse.eye_array(len(y_encoded)) - scale_by_degrees(linked))
    laplacian.eliminate_zeros()
    return laplacian


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
    """Alternate between the labels P, the regularizer M and the weights of the views.

    M is a sparse matrix minus one of rank c, so an iteration costs (edges + m c) c and no dense
    m x m matrix is formed. Iterations stop when the objective (see `ERLMVSCClassifier`) changes
    by less than `tol`.

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
    regularizer = Regularizer(
        sparse.csr_array(weighted_sum(laplacians, view_weights)), nothing, nothing
    )
    row_norms = np.full(n_samples, 0.5)  # as if every 1 / (2 ||M_i||) were 1
    kappa = smoothness * fidelity / 2 if as_released else smoothness / (2 * fidelity)
    pull = -smoothness / 2 if as_released else smoothness / 2
    objective: list[float] = []
    while len(objective) < max_iter and not has_converged(objective, tol):
        labels = precise_smoothed_labels(
            kappa * regularizer.with_transpose(), kappa * 2 * regularizer.diagonal(), known
        )
        _check_is_minimum(labels, known)
        powers = view_weights**weight_power
        # 1 / (sum_v lambda_v^a + 2 gamma d_i), d_i = 1 / (2 ||M_i||)
        shrinkage = row_norms / (powers.sum() * row_norms + sparsity)
        entries = sparse.diags_array(shrinkage) @ weighted_sum(laplacians, powers)
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
    """Return the weights with sum 1 at which sum_v w_v^power distances_v is stationary.

        w_v ~ distances_v^(1 / (1 - power))

    Above a power of 1 this is the minimum: views near M weigh more. Below 1 the sum is concave
    and this is its maximum: views far from M weigh more.

    Examples
    --------
    >>> stationary_weights(np.array([1.0, 3.0]), power=2.0)
    array([0.75, 0.25])
    >>> stationary_weights(np.array([1.0, 3.0]), power=0.5)
    array([0.1, 0.9])
    """
    logits = np.log(np.maximum(distances, SMALLEST**2)) / (1 - power)
    return softmax(logits[None]).ravel()


def has_converged(objective: Sequence[float], tol: float) -> bool:
    """Return whether the last iteration changed the objective by less than `tol`."""
    return len(objective) > 1 and abs(objective[-1] - objective[-2]) < tol


def _check_is_minimum(labels: np.ndarray, known: np.ndarray) -> None:
    """Refuse a solution along which I + kappa (M + M^T) is not positive: no P is optimal."""
    if np.any(np.sum(labels * known, axis=0) <= 0):
        raise InputError(
            "smoothness is too large relative to fidelity for this many labels: no labels "
            "minimize the objective. Lower smoothness or raise fidelity.",
            parameter="smoothness",
        )
