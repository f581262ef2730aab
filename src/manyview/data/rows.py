"""Rows of a view, dense or sparse: in blocks, scattered among others, with unusable values."""

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from manyview.data.mixed_table import MixedTable

View = np.ndarray | sparse.csr_array
MAX_MAGNITUDE = 1e100  # squares of larger values, or their sums, may overflow
BLOCK_BYTES = 2**26  # float64 bytes of a view converted at a time


def row_blocks(view: View, n_bytes: int = BLOCK_BYTES) -> Iterator[slice]:
    """Cut the rows of a view, or the values of a vector, into blocks of `n_bytes` in float64.

    Examples
    --------
    >>> import numpy as np
    >>> list(row_blocks(np.zeros((5, 10), dtype=np.float32), n_bytes=160))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    n_rows = view.shape[0]
    n_values = 2 * view.nnz if isinstance(view, sparse.csr_array) else view.size
    block = max(1, n_bytes * n_rows // max(8 * n_values, 1))
    for start in range(0, n_rows, block):
        yield slice(start, min(start + block, n_rows))


def scatter_rows(values: View, rows: np.ndarray, n_rows: int) -> View:
    """Return a matrix of `n_rows` rows that holds `values` at the given rows and zeros elsewhere.

    Parameters
    ----------
    values
        [len(rows), column]
    rows
        Positions in the result, ascending.

    Examples
    --------
    >>> scatter_rows(np.array([[1, 2], [3, 4]]), np.array([0, 2]), 3)
    array([[1, 2],
           [0, 0],
           [3, 4]])
    """
    if len(rows) == n_rows:
        return values
    shape = (n_rows, values.shape[1])
    if isinstance(values, sparse.csr_array):
        lengths = np.zeros(n_rows + 1, dtype=np.int64)
        lengths[rows + 1] = np.diff(values.indptr)
        return sparse.csr_array((values.data, values.indices, lengths.cumsum()), shape=shape)
    scattered = np.zeros(shape, dtype=values.dtype)
    scattered[rows] = values
    return scattered


def nonfinite_rows(view: View | MixedTable) -> np.ndarray:
    """Return the rows that hold NaN, infinity, or values beyond `MAX_MAGNITUDE`, ascending.

    In mixed tables, the rows that are all blank.
    """
    if isinstance(view, MixedTable):
        return np.flatnonzero(view.is_blank().all(axis=1))
    values = view.data if isinstance(view, sparse.csr_array) else view
    empty = np.empty(0, dtype=np.int64)
    if values.dtype.kind != "f":
        return empty
    found = [empty]
    for block in row_blocks(values):
        is_finite = _is_usable(values[block])
        if not is_finite.all():
            found.append(
                block.start + np.flatnonzero(~is_finite.reshape(len(is_finite), -1).all(1))
            )
    places = np.concatenate(found)
    if isinstance(view, sparse.csr_array):
        places = np.unique(np.searchsorted(view.indptr, places, side="right") - 1)
    return places


def _is_usable(values: np.ndarray) -> np.ndarray:
    if values.dtype.itemsize < 8:  # single precision ends far below the limit
        return np.asarray(np.isfinite(values))
    return np.asarray(np.abs(values) <= MAX_MAGNITUDE)  # False for NaN


def is_all_nan(view: View | MixedTable, rows: np.ndarray) -> np.ndarray:
    """Return a boolean for each of the given rows: whether all of its values are NaN."""
    if not len(rows):
        return np.empty(0, dtype=bool)
    if isinstance(view, MixedTable):
        return np.asarray(view[rows].is_blank().all(axis=1))
    chosen = view[rows]
    if isinstance(chosen, sparse.csr_array):
        is_nan = sparse.csr_array((np.isnan(chosen.data), chosen.indices, chosen.indptr))
        return np.asarray(np.asarray(is_nan.sum(axis=1)).ravel() == view.shape[1])
    return np.asarray(np.isnan(chosen).all(axis=1))
