"""The regressions of MVAR, one per view, fitted in alternation with their common labels.

labels -> sample weights -> regressions -> view weights -> labels ...
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from manyview.baselines.solvers.ridge import center_products, inner_products, solve_positive
from manyview.data.labels import UNKNOWN, one_hot
from manyview.data.network_input import side_by_side
from manyview.data.views import View
from manyview.numerics import softmax

# |r| is smoothed to sqrt(r^2 + SMOOTH^2) - SMOOTH, so residuals far below SMOOTH count as 0.
# With a much smaller value, labeled samples that fit exactly would make the systems singular.
SMOOTH = 1e-4
N_COMPARED = 6  # objective values that must agree before the loop stops
DUAL_FROM = 0.55  # features per sample from which m^3 / 3 is below m d^2 + d^3 / 3


@dataclass(frozen=True)
class AdaptiveRegression:
    """Result of `adaptive_regression`; names as in `MVARClassifier`.

    `scores` [sample, class] are the views' weighted predictions behind the last labels.
    """

    scores: np.ndarray
    view_weights: np.ndarray
    coefficients: list[np.ndarray]
    objective: list[float]


def adaptive_regression(
    features: Sequence[View],
    y_encoded: np.ndarray,
    n_classes: int,
    *,
    ridge: float,
    labeled_weight: float,
    power: float,
    max_iter: int,
    tol: float,
) -> AdaptiveRegression:
    """Alternate between the missing labels, the regressions and the view weights."""
    is_labeled = y_encoded != UNKNOWN
    given = one_hot(y_encoded[is_labeled], n_classes)
    base_weights = np.where(is_labeled, labeled_weight, 1.0)  # s
    fitted = [first_predictions(view, is_labeled, given, ridge) for view in features]
    systems = [_system(view, ridge) for view in features]
    view_weights = np.full(len(features), 1.0 / len(features))
    sample_weights = [np.ones(len(y_encoded))] * len(features)  # beta of each view
    objective: list[float] = []
    while len(objective) < max_iter and not _has_converged(objective, tol):
        scores = weighted_prediction(fitted, view_coefficients(view_weights, power), sample_weights)
        labels = one_hot(scores.argmax(axis=1), n_classes)
        labels[is_labeled] = given
        sample_weights = [base_weights / (2 * _smooth_norms(f - labels)) for f in fitted]
        losses = np.empty(len(features))
        for number, (system, weights) in enumerate(zip(systems, sample_weights, strict=True)):
            fitted[number], square_norm = system.solve(weights, labels)
            norms = _smooth_norms(fitted[number] - labels) - SMOOTH
            losses[number] = base_weights @ norms + ridge * square_norm
        view_weights = best_view_weights(losses, power)
        objective.append(float(view_weights**power @ losses))
    coefficients = [system.coefficients() for system in systems]
    return AdaptiveRegression(scores, view_weights, coefficients, objective)


def view_coefficients(view_weights: np.ndarray, power: float) -> np.ndarray:
    """Return alpha_v^power relative to the largest, so that the powers do not underflow."""
    return np.asarray((view_weights / view_weights.max()) ** power)


def weighted_prediction(
    fitted: Sequence[np.ndarray], coefficients: np.ndarray, sample_weights: Sequence[np.ndarray]
) -> np.ndarray:
    """Average the views' predictions, weighted by view and by sample."""
    weights = coefficients[:, None] * np.array(sample_weights)  # [view, sample]
    weights /= weights.sum(axis=0)
    return np.asarray(np.einsum("vi,vic->ic", weights, np.array(fitted)))


def best_view_weights(losses: np.ndarray, power: float) -> np.ndarray:
    """Return the weights alpha that minimize sum_v alpha_v^power loss_v and sum to 1.

    Examples
    --------
    >>> best_view_weights(np.array([1.0, 3.0]), power=2.0)
    array([0.75, 0.25])
    """
    logs = np.log(np.maximum(losses, np.finfo(float).tiny)) / (1.0 - power)
    return np.asarray(softmax(logs[None])[0])


def first_predictions(
    view: View, is_labeled: np.ndarray, given: np.ndarray, ridge: float
) -> np.ndarray:
    """Predict by ridge regression on the labeled samples, the intercept not penalized."""
    known = view[is_labeled].astype(np.float64)
    mean = np.asarray(known.mean(axis=0)).ravel()
    targets = given - given.mean(axis=0)
    if known.shape[1] < len(given):
        centered = (known.toarray() if isinstance(known, sparse.csr_array) else known) - mean
        coefficients = solve_positive(centered.T @ centered, ridge, centered.T @ targets)
    else:
        products, _ = center_products(inner_products(known))
        # The columns of the solution sum to 0, so these rows need not be centered.
        coefficients = known.T @ solve_positive(products, ridge, targets)
    return np.asarray(view @ coefficients - mean @ coefficients + given.mean(axis=0))


class _WideSystem:
    """Solve (X X^T + ridge diag(1 / beta)) A = F for W = X^T A; computes X X^T once."""

    def __init__(self, table: View, ridge: float) -> None:
        self.table, self.ridge = table, ridge
        self.products = inner_products(table)
        self.dual = np.zeros((0, 0))

    def solve(self, weights: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, float]:
        self.dual = solve_positive(self.products, self.ridge / weights, labels)
        fitted = self.products @ self.dual
        return fitted, float(np.sum(self.dual * fitted))

    def coefficients(self) -> np.ndarray:
        return np.asarray(self.table.T @ self.dual)


class _LongSystem:
    """Solve (X^T diag(beta) X + ridge I) W = X^T diag(beta) F for W."""

    def __init__(self, table: View, ridge: float) -> None:
        self.table, self.ridge = table, ridge
        self.primal = np.zeros((0, 0))

    def solve(self, weights: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, float]:
        if isinstance(self.table, sparse.csr_array):
            gram = (self.table.T @ sparse.diags_array(weights) @ self.table).toarray()
        else:
            weighted = self.table * np.sqrt(weights)[:, None]
            gram = weighted.T @ weighted
        self.primal = solve_positive(gram, self.ridge, self.table.T @ (weights[:, None] * labels))
        return np.asarray(self.table @ self.primal), float(np.sum(self.primal**2))

    def coefficients(self) -> np.ndarray:
        return self.primal


def _system(view: View, ridge: float) -> _WideSystem | _LongSystem:
    n_samples, n_features = view.shape
    ones = np.ones((n_samples, 1))
    table = side_by_side(
        [view, sparse.csr_array(ones) if isinstance(view, sparse.csr_array) else ones]
    ).astype(np.float64)
    kind = _WideSystem if is_wide(n_samples, n_features) else _LongSystem
    return kind(table, ridge)


def is_wide(n_samples: int, n_features: int) -> bool:
    """Return whether the system of the samples is cheaper than that of the features."""
    return n_features > DUAL_FROM * n_samples


def _has_converged(objective: Sequence[float], tol: float) -> bool:
    last = objective[-N_COMPARED:]
    return len(last) == N_COMPARED and max(last) - min(last) < tol * max(last)


def _smooth_norms(residuals: np.ndarray) -> np.ndarray:
    return np.asarray(np.sqrt(np.einsum("ic,ic->i", residuals, residuals) + SMOOTH**2))
