"""Parts of ridge regression that several baselines use."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import linalg

from manyview.baselines.bases.baseline import ITERATIONS, POSITIVE, Baseline
from manyview.data.scaling import ViewScaler
from manyview.data.views import View
from manyview.validation import Constraint


@dataclass(kw_only=True, eq=False, repr=False)
class RegressionClassifier(Baseline):
    """Base of the methods that fit ridge regressions in iterations.

    Parameters
    ----------
    ridge
        Weight of the penalty on the coefficients W.
    """

    ridge: float
    max_iter: int
    tol: float

    record_types: ClassVar[tuple[type, ...]] = (ViewScaler,)
    takes_graphs: ClassVar[bool] = False
    _parameter_constraints: ClassVar[dict[str, Constraint]] = {"ridge": POSITIVE, **ITERATIONS}


def solve_positive(
    matrix: np.ndarray, diagonal: np.ndarray | float, right: np.ndarray
) -> np.ndarray:
    """Solve (matrix + diag(diagonal)) x = right for a positive semidefinite matrix.

    Where the diagonal is below the rounding error of the matrix, as with duplicate rows of large
    numbers, it is raised just above that error.

    Examples
    --------
    >>> solve_positive(np.ones((2, 2)), 1.0, np.array([[3.0], [3.0]]))
    array([[1.],
           [1.]])
    """
    n_rows = len(matrix)
    lift = 0.0
    while True:
        system = matrix.copy()
        system[np.diag_indices(n_rows)] += diagonal + lift
        try:
            factor = linalg.cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
        except linalg.LinAlgError:
            largest = float(matrix.diagonal().max())
            lift = max(10 * lift, n_rows * np.finfo(np.float64).eps * largest)
            continue
        return np.asarray(linalg.cho_solve(factor, right, check_finite=False))


def inner_products(left: View, right: View | None = None) -> np.ndarray:
    """Return the inner products of the rows of two tables, or X X^T of one: dense, float64."""
    wide: Any = left.astype(np.float64)
    product = wide @ (wide if right is None else right.astype(np.float64)).T
    return np.asarray(product if isinstance(product, np.ndarray) else product.toarray())


def center_products(products: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the inner products of the centered rows, and of the centered rows with the mean.

    Examples
    --------
    >>> center_products(inner_products(np.array([[1.0], [3.0]])))
    (array([[ 1., -1.], [-1., 1.]]), array([-2., 2.]))
    """
    row_means = products.mean(axis=0)
    mean_square = row_means.mean()
    centered = products - row_means - row_means[:, None] + mean_square
    return centered, row_means - mean_square
