"""Label propagation over a graph, with known labels as hard or soft constraints.

y_encoded -> harmonic_labels                F = Y on labeled samples, (L F)_u = 0 on the others
y_encoded -> one_hot -> regularized_labels  (I + K) F = Y
"""

import warnings
from typing import Any

import numpy as np
import scipy.linalg
from scipy import sparse
from scipy.sparse import csgraph
from scipy.sparse.linalg import LinearOperator, cg, splu
from sklearn.exceptions import ConvergenceWarning

from manyview.data.labels import one_hot

TOLERANCE = 1e-12  # length of the residual over that of the right-hand side
MAX_ITERATIONS = 2000  # beyond, as on long chains, a factorization is faster
RIDGE = 1e-14  # relative to the diagonal; keeps the factorization nonsingular


def harmonic_labels(
    laplacian: sparse.csr_array | np.ndarray, y_encoded: np.ndarray, n_classes: int
) -> np.ndarray:
    """Fix the known labels and make the others harmonic: F [sample, class].

        F_l = Y_l,  F_u = -L_uu^-1 L_ul Y_l

    Samples without a path to a labeled one get rows of zeros. For D - W with nonnegative weights,
    entries are >= 0 and the other rows sum to 1, up to rounding.

    Parameters
    ----------
    laplacian
        Symmetric and positive semidefinite, as from `laplacian` and `normalized_laplacian`, or
        a weighted sum of such.
    y_encoded
        [sample] class numbers, -1 where unknown.

    Notes
    -----
    Sparse systems are solved by conjugate gradients to a relative residual of 1e-12 or, if 2,000
    iterations do not suffice, by factorization; dense ones always by factorization.

    Examples
    --------
    A chain of four samples with both ends labeled:

    >>> import numpy as np
    >>> from scipy import sparse
    >>> chain = np.array([[1.0, -1, 0, 0], [-1, 2, -1, 0], [0, -1, 2, -1], [0, 0, -1, 1]])
    >>> harmonic_labels(sparse.csr_array(chain), np.array([0, -1, -1, 1]), n_classes=2).round(3)
    array([[1.   , 0.   ],
           [0.667, 0.333],
           [0.333, 0.667],
           [0.   , 1.   ]])
    """
    labels = one_hot(y_encoded, n_classes)
    is_labeled = y_encoded >= 0
    unknown = np.flatnonzero(_is_reached(laplacian, is_labeled) & ~is_labeled)
    if len(unknown):
        rows: Any = laplacian[unknown].astype(np.float64)
        right = -(rows[:, is_labeled] @ labels[is_labeled])
        labels[unknown] = _solve(rows[:, unknown], right)
    return labels


def regularized_labels(
    regularizer: sparse.csr_array | np.ndarray | LinearOperator, labels: np.ndarray
) -> np.ndarray:
    """Solve the graph-regularized least-squares problem: F = (I + K)^-1 Y.

    F minimizes ||F - Y||^2 + tr(F^T K F).

    Parameters
    ----------
    regularizer
        K, symmetric with I + K positive definite: a matrix or a linear operator.
    labels
        Y [sample, class], as from `one_hot`.

    Warns
    -----
    ConvergenceWarning
        When 2,000 conjugate gradient iterations do not suffice for an operator; a matrix is
        factorized instead.

    Examples
    --------
    >>> import numpy as np
    >>> edge = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> regularized_labels(edge, np.array([[1.0], [0.0]])).round(3)
    array([[0.667],
           [0.333]])
    """
    system: Any
    if isinstance(regularizer, LinearOperator):
        system = LinearOperator(
            regularizer.shape, matvec=lambda vector: vector + regularizer @ vector, dtype=np.float64
        )
    elif isinstance(regularizer, np.ndarray):
        system = np.eye(len(regularizer)) + regularizer
    else:
        system = sparse.csr_array(sparse.eye_array(regularizer.shape[0]) + regularizer)
    return _solve(system, labels)


def _is_reached(laplacian: sparse.csr_array | np.ndarray, is_labeled: np.ndarray) -> np.ndarray:
    """Return whether a path of nonzero entries links each sample to a labeled one."""
    edges = sparse.csr_array(laplacian, copy=True)
    edges.eliminate_zeros()  # csgraph counts a stored 0 as an edge
    component = csgraph.connected_components(edges, directed=False)[1]
    return np.isin(component, component[is_labeled])


def _solve(system: Any, right: np.ndarray) -> np.ndarray:
    """Solve a symmetric positive definite system for each column of the right-hand side."""
    if isinstance(system, np.ndarray):
        ridged = system + np.diag(RIDGE * system.diagonal())
        return np.asarray(scipy.linalg.solve(ridged, right, assume_a="pos"))
    inverse_diagonal = None
    if isinstance(system, sparse.csr_array):
        inverse_diagonal = sparse.diags_array(1.0 / system.diagonal())
    solution = np.empty(right.shape)
    for number, column in enumerate(right.T):
        solution[:, number], n_missed = cg(
            system, column, rtol=TOLERANCE, maxiter=MAX_ITERATIONS, M=inverse_diagonal
        )
        if n_missed and isinstance(system, sparse.csr_array):
            return _factorized_solution(system, right)
        if n_missed:
            residual = np.linalg.norm(column - system @ solution[:, number])
            warnings.warn(
                f"Labels did not converge in {MAX_ITERATIONS} conjugate gradient iterations; the "
                f"relative residual is {residual / np.linalg.norm(column):.1g}, the tolerance "
                f"{TOLERANCE:g}. Is the operator symmetric and positive semidefinite?",
                ConvergenceWarning,
                stacklevel=3,
            )
    return solution


def _factorized_solution(system: sparse.csr_array, right: np.ndarray) -> np.ndarray:
    ridged = system + sparse.diags_array(RIDGE * system.diagonal())
    factors = splu(
        sparse.csc_array(ridged),
        permc_spec="MMD_AT_PLUS_A",  # with SymmetricMode: half the fill-in on kNN graphs
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    return np.asarray(factors.solve(right))
