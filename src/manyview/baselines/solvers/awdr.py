"""The regression of AWDR, with a margin per sample and a weight per view.

It alternates three closed forms: the slack M, the view weights delta, and W with b. The linear
systems have the size of the features or of the samples, whichever is smaller.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from manyview.baselines.solvers.ridge import center_products, inner_products, solve_positive
from manyview.data.views import View

MIN_WEIGHT = 1e-12


@dataclass(frozen=True)
class Regression:
    """Result of `discriminative_regression`; names as in `AWDRClassifier`."""

    coefficients: list[np.ndarray]
    intercept: np.ndarray
    view_weights: np.ndarray
    objective: list[float]
    has_converged: bool


def discriminative_regression(
    features: Sequence[View],
    signs: np.ndarray,
    *,
    ridge: float,
    max_iter: int,
    tol: float,
    form: str = "auto",
) -> Regression:
    """Learn W, b and the view weights delta from labeled samples.

    Parameters
    ----------
    features
        One [labeled sample, feature] table per view.
    signs
        Y: [labeled sample, class], +1 for its class and -1 for the others.
    form
        "primal" solves for W, in the number of features; "dual" solves for A in
        W_v = delta_v X_v^T A, in the number of samples; "auto" takes the smaller system.
    """
    n_features = sum(view.shape[1] for view in features)
    if form == "auto":
        form = "primal" if n_features < len(signs) else "dual"
    system = _Primal(features, ridge) if form == "primal" else _Dual(features, ridge)
    solution, intercept = system.solve(np.full(len(features), 1.0 / len(features)), signs)
    weights = _best_view_weights(np.sqrt(system.square_norms(solution)))
    objective: list[float] = []
    has_converged = False
    while not has_converged and len(objective) < max_iter:
        fitted = system.fitted(solution) + intercept
        targets = signs + signs * np.maximum(signs * (fitted - signs), 0.0)
        old = weights, solution, intercept
        weights = _best_view_weights(np.sqrt(system.square_norms(solution)))
        solution, intercept = system.solve(weights, targets)
        square_norms = system.square_norms(solution)
        errors = system.fitted(solution) + intercept - targets
        objective.append(float(np.sum(errors**2) + ridge * np.sum(square_norms / weights)))
        steps = [new - before for new, before in zip(solution, old[1], strict=True)]
        change = (
            system.square_norms(steps).sum()
            + np.sum((intercept - old[2]) ** 2)
            + np.sum((weights - old[0]) ** 2)
        )
        has_converged = bool(change < tol)
    return Regression(system.coefficients(solution), intercept, weights, objective, has_converged)


class _Dual:
    """Solve for B_v in W_v = X_v^T B_v, X_v centered, from Gram matrices of the samples.

    B_v = delta_v (sum_u delta_u K_u + ridge I)^-1 R,  K_v = X_v X_v^T
    """

    def __init__(self, features: Sequence[View], ridge: float) -> None:
        self.features, self.ridge = features, ridge
        self.grams, self.mean_products = [], []
        for view in features:
            gram, mean_products = center_products(inner_products(view))
            self.grams.append(gram)
            self.mean_products.append(mean_products)

    def solve(
        self, weights: np.ndarray, targets: np.ndarray
    ) -> tuple[list[np.ndarray], np.ndarray]:
        gram = np.zeros_like(self.grams[0])
        for weight, view_gram in zip(weights, self.grams, strict=True):
            gram += weight * view_gram
        means = targets.mean(axis=0)
        common = solve_positive(gram, self.ridge, targets - means)
        solution = [weight * common for weight in weights]
        return solution, means - self._at_mean(solution)

    def fitted(self, solution: Sequence[np.ndarray]) -> np.ndarray:
        """Return sum_v X_v W_v with X_v not centered."""
        products = [gram @ b for gram, b in zip(self.grams, solution, strict=True)]
        return np.asarray(sum(products) + self._at_mean(solution))

    def square_norms(self, solution: Sequence[np.ndarray]) -> np.ndarray:
        pairs = zip(self.grams, solution, strict=True)
        return np.array([max(np.sum(b * (gram @ b)), 0.0) for gram, b in pairs])

    def coefficients(self, solution: Sequence[np.ndarray]) -> list[np.ndarray]:
        # Columns of B_v sum to 0, so the rows of X_v need not be centered.
        return [v.astype(np.float64).T @ b for v, b in zip(self.features, solution, strict=True)]

    def _at_mean(self, solution: Sequence[np.ndarray]) -> np.ndarray:
        products = [k @ b for k, b in zip(self.mean_products, solution, strict=True)]
        return np.asarray(np.sum(products, axis=0))


class _Primal:
    """Solve for W: sqrt(Delta) (sqrt(Delta) X^T X sqrt(Delta) + ridge I)^-1 sqrt(Delta) X^T R."""

    def __init__(self, features: Sequence[View], ridge: float) -> None:
        self.ridge = ridge
        self.widths = [view.shape[1] for view in features]
        dense = [v.toarray() if isinstance(v, sparse.csr_array) else v for v in features]
        self.table = np.hstack(dense).astype(np.float64)
        self.mean = self.table.mean(axis=0)
        centered = self.table - self.mean
        self.gram = centered.T @ centered

    def solve(
        self, weights: np.ndarray, targets: np.ndarray
    ) -> tuple[list[np.ndarray], np.ndarray]:
        roots = np.sqrt(np.repeat(weights, self.widths))
        system = roots[:, None] * self.gram * roots
        means = targets.mean(axis=0)
        right = roots[:, None] * (self.table.T @ (targets - means))
        whole = roots[:, None] * solve_positive(system, self.ridge, right)
        return np.split(whole, np.cumsum(self.widths)[:-1]), means - self.mean @ whole

    def fitted(self, solution: Sequence[np.ndarray]) -> np.ndarray:
        return np.asarray(self.table @ np.vstack(solution))

    def square_norms(self, solution: Sequence[np.ndarray]) -> np.ndarray:
        return np.array([np.sum(w**2) for w in solution])

    def coefficients(self, solution: Sequence[np.ndarray]) -> list[np.ndarray]:
        return list(solution)


def _best_view_weights(norms: np.ndarray) -> np.ndarray:
    """Return delta_v = |W_v| / sum_u |W_u|, the minimizer for a given W."""
    total = norms.sum()
    if total == 0:  # all views are zero
        return np.full(len(norms), 1.0 / len(norms))
    return np.asarray(np.maximum(norms / total, MIN_WEIGHT))
