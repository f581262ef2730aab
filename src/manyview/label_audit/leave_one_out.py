"""Predict each label from all others, by ridge regression in closed form.

Regression of one-hot labels on features, with an intercept b that is not penalized, and a weight v
of each label:

    min over W, b of  sum_i v_i |y_i - W' z_i - b|^2 + penalty |W|^2

The prediction for label i by the regression without it needs no further fit:

    y_i - (y_i - yhat_i) / (1 - h_i),      h = diag(H),  Yhat = H Y

A large penalty averages over many labels, so a few wrong ones among them change little; weights
below 1 for doubtful labels let them change less.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from scipy import linalg

SMALLEST = 1e-10  # singular values below this fraction of the largest are rounding
MAX_COLUMNS = 1000  # of features, where there are also more labels; wider ones are projected


def leave_one_out_scores(
    features: np.ndarray,
    y_encoded: np.ndarray,
    n_classes: int,
    penalties: Sequence[float],
    rng: np.random.Generator | None = None,
    *,
    label_weights: np.ndarray | None = None,
) -> Iterator[np.ndarray]:
    """Yield the scores of all labels for each penalty: [label, class], near 1 for a sure class.

    Parameters
    ----------
    features
        [label, feature] of the labeled samples.
    y_encoded
        [label] class numbers.
    penalties
        In units of the mean squared singular value of the centered features.
    rng
        For a random projection to `MAX_COLUMNS`, where both labels and features are more.
    label_weights
        [label] how much each counts in the predictions of the others, > 0; None for 1.

    Examples
    --------
    >>> features = np.array([[0.0], [1.0], [9.0], [10.0]])
    >>> (scores,) = leave_one_out_scores(features, np.array([0, 0, 1, 1]), 2, [0.1])
    >>> scores.argmax(axis=1)
    array([0, 0, 1, 1])
    """
    n_labels, n_columns = features.shape
    weights = np.ones(n_labels) if label_weights is None else label_weights
    roots, total = np.sqrt(weights)[:, None], weights.sum()
    centered = _centered(features.astype(np.float64), weights)
    if min(n_labels, n_columns) > MAX_COLUMNS:
        rng = rng or np.random.default_rng(0)
        centered = _centered(centered @ rng.normal(size=(n_columns, MAX_COLUMNS)), weights)
    left, squares = _left_singular(roots * centered)
    mean_square = squares.sum() / max(len(squares), 1)
    targets = np.eye(n_classes)[y_encoded]
    means = weights @ targets / total
    rotated = left.T @ (roots * (targets - means))
    for penalty in penalties:
        kept = squares / (squares + penalty * mean_square)
        fitted = means + left @ (kept[:, None] * rotated) / roots
        leverage = weights / total + (left**2) @ kept
        # A label that alone decides its own prediction has nothing to be predicted from.
        rest = np.maximum(1 - leverage, np.finfo(float).eps)
        yield targets - (targets - fitted) / rest[:, None]


def regression_scores(
    features: np.ndarray,
    y_encoded: np.ndarray,
    n_classes: int,
    penalty: float,
    new_features: np.ndarray,
) -> np.ndarray:
    """Return the scores of samples without a label, by the regression on all labels.

    Shapes
    ------
    features : [label, feature]
    new_features : [sample, feature]
    returns : [sample, class]

    Examples
    --------
    >>> features = np.array([[0.0], [1.0], [9.0], [10.0]])
    >>> new = np.array([[0.5], [9.5]])
    >>> regression_scores(features, np.array([0, 0, 1, 1]), 2, 0.1, new).argmax(axis=1)
    array([0, 1])
    """
    mean = features.mean(axis=0, dtype=np.float64)
    centered = features - mean
    left, squares = _left_singular(centered)
    mean_square = squares.sum() / max(len(squares), 1)
    targets = np.eye(n_classes)[y_encoded]
    means = targets.mean(axis=0)
    rotated = (left.T @ (targets - means)) / (squares + penalty * mean_square)[:, None]
    return np.asarray(means + (new_features - mean) @ (centered.T @ (left @ rotated)))


def _centered(features: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Subtract the weighted mean of each column."""
    return np.asarray(features - weights @ features / weights.sum())


def _left_singular(centered: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the left singular vectors, [row, rank], and the squared singular values."""
    n_rows, n_columns = centered.shape
    if n_rows <= n_columns:
        squares, left = linalg.eigh(centered @ centered.T)
    else:
        squares, right = linalg.eigh(centered.T @ centered)
        left = centered @ right / np.sqrt(np.maximum(squares, np.finfo(float).tiny))
    is_kept = squares > SMALLEST * max(squares.max(initial=0.0), np.finfo(float).tiny)
    return left[:, is_kept], squares[is_kept]
