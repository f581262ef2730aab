"""Ranks of values among those of a fit, column by column.

A rank depends on the order of the values only, so counts over many orders of magnitude become
comparable. Everything is computed in single precision, so that the same value has the same rank
whether it comes in single or double precision.
"""

import numpy as np
from scipy import sparse

from manyview.data.rows import View

MAX_QUANTILES = 1001  # stored per column
LARGEST = float(np.finfo(np.float32).max)


def fit_quantiles(view: View) -> np.ndarray:
    """Return the sorted values of each column, or 1,001 of them: [quantile, column].

    Examples
    --------
    >>> fit_quantiles(np.array([[3.0], [1.0], [2.0]])).ravel()
    array([1., 2., 3.], dtype=float32)
    """
    n_rows = view.shape[0]
    n_quantiles = min(n_rows, MAX_QUANTILES)
    places = np.round(np.linspace(0, n_rows - 1, n_quantiles)).astype(np.int64)
    quantiles = np.empty((n_quantiles, view.shape[1]), dtype=np.float32)
    for number, column in enumerate(_single(view).T):
        quantiles[:, number] = np.sort(column)[places]
    return quantiles


def column_ranks(view: View, quantiles: np.ndarray) -> np.ndarray:
    """Return the rank of each value among the quantiles of its column, from -1 to 1, in float64.

    Equal values have the mean of their ranks, values between two quantiles one in between, and
    values beyond all quantiles -1 or 1.

    Examples
    --------
    >>> quantiles = np.array([[0.0], [0.0], [1.0], [9.0], [99.0]], dtype=np.float32)
    >>> column_ranks(np.array([[0.0], [1.0], [5.0], [1e9]]), quantiles).ravel()
    array([-0.75,  0.  ,  0.25,  1.  ])
    """
    values = _single(view)
    ranks = np.empty(values.shape)
    last = len(quantiles) - 1
    for number, (column, own) in enumerate(zip(values.T, quantiles.T, strict=True)):
        below = np.searchsorted(own, column, side="left")
        up_to = np.searchsorted(own, column, side="right")
        low, high = np.maximum(below - 1, 0), np.minimum(up_to, last)
        gaps = own[high].astype(np.float64) - own[low]
        between = np.divide(
            column - own[low].astype(np.float64), gaps, where=gaps > 0, out=0 * gaps
        )
        places = np.where(below < up_to, (below + up_to - 1) / 2, low + between * (high - low))
        ranks[:, number] = 2 * places / last - 1 if last else 0.0
    return ranks


def _single(view: View) -> np.ndarray:
    """Return values in float32, dense; those beyond it become its largest."""
    dense = view.toarray() if isinstance(view, sparse.csr_array) else view
    if dense.dtype.itemsize > 4:
        dense = np.clip(dense, -LARGEST, LARGEST)
    return np.asarray(dense, dtype=np.float32)
