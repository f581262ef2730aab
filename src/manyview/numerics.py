"""Convert scores to probabilities: softmax, row normalization, projection onto the simplex."""

import numpy as np


def softmax(logits: np.ndarray) -> np.ndarray:
    """Convert each row of logits to probabilities.

    Examples
    --------
    >>> softmax(np.array([[0.0, 0.0]]))
    array([[0.5, 0.5]])
    """
    shifted = np.exp(logits.astype(np.float64) - logits.max(axis=1, keepdims=True))
    return np.asarray(shifted / shifted.sum(axis=1, keepdims=True))


def normalize_rows(values: np.ndarray, fallback: np.ndarray | None = None) -> np.ndarray:
    """Scale each row to a sum of 1.

    With a `fallback` [class], negative values count as 0 and rows of zeros become the fallback.
    Samples that no label reaches have such rows.

    Examples
    --------
    >>> normalize_rows(np.array([[3.0, 1.0], [0.0, 0.0]]), fallback=np.array([0.4, 0.6]))
    array([[0.75, 0.25],
           [0.4 , 0.6 ]])
    """
    if fallback is None:
        return np.asarray(values / values.sum(axis=1, keepdims=True))
    values = np.maximum(values, 0.0)
    totals = values.sum(axis=1, keepdims=True)
    # Dividing by the largest value first keeps rows of tiny numbers from underflowing.
    scaled = values / np.maximum(values.max(axis=1, keepdims=True), np.finfo(float).tiny)
    fractions = scaled / np.maximum(scaled.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    return np.asarray(np.where(totals > 0, fractions, fallback))


def project_to_simplex(rows: np.ndarray) -> np.ndarray:
    """Project each row onto the simplex: the nearest point with entries >= 0 that sum to 1.

        s_j = max(v_j + shift, 0),  shift = (1 - sum_{h<=rho} u_h) / rho

    where u is v in descending order and rho the largest j with u_j + (1 - sum_{h<=j} u_h) / j
    above 0. The order of the entries does not change; the smallest may become 0.

    Examples
    --------
    >>> import numpy as np
    >>> project_to_simplex(np.array([[0.5, 0.9, -1.0], [2.0, 0.0, 0.0]]))
    array([[0.3, 0.7, 0. ],
           [1. , 0. , 0. ]])
    """
    # Shifting a whole row changes only rounding: large entries keep their differences.
    shifted = rows.astype(np.float64)
    shifted -= shifted.max(axis=1, keepdims=True)
    descending = -np.sort(-shifted, axis=1)
    n_kept = np.arange(1, rows.shape[1] + 1)
    shifts = (1.0 - np.cumsum(descending, axis=1)) / n_kept  # [row, kept entries - 1]
    largest = np.count_nonzero(descending + shifts > 0, axis=1) - 1
    return np.asarray(np.maximum(shifted + np.take_along_axis(shifts, largest[:, None], 1), 0.0))
