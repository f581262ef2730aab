"""Check sparse matrices from outside, so that no index points outside of its array.

scipy's compiled routines follow indices and pointers without a look; a wrong one reads or writes
foreign memory. scipy's own `check_format` changes the matrix it is given, takes unsigned pointers
that decrease, and checks no pointers where the last one is 0.
"""

from typing import Any

import numpy as np
from scipy import sparse

from manyview.system.memory import GB, check_memory

UNCHECKED_BYTES = 2**26  # below this no view is too large
BYTES_PER_SAMPLE, BYTES_PER_FEATURE = 200, 64  # ids, masks and labels; names, means and spreads


def sparse_fault(matrix: Any) -> str:
    """Return what is wrong with a sparse matrix of any format; empty if nothing is.

    Examples
    --------
    >>> matrix = sparse.csr_array(np.eye(3))
    >>> sparse_fault(matrix)
    ''
    >>> matrix.indices[1] = 10**6
    >>> sparse_fault(matrix)
    'column indices must be from 0 to 2; got 1000000'
    """
    if matrix.ndim != 2:
        return f"it must be 2-D; got shape {matrix.shape}"
    n_rows, n_columns = matrix.shape
    if matrix.format == "coo":
        return (
            _lengths_fault(row=matrix.row, col=matrix.col, data=matrix.data)
            or _range_fault("row indices", matrix.row, n_rows)
            or _range_fault("column indices", matrix.col, n_columns)
        )
    if matrix.format == "csr":
        return _compressed_fault(matrix, n_rows, n_columns, "column indices")
    if matrix.format == "csc":
        return _compressed_fault(matrix, n_columns, n_rows, "row indices")
    if matrix.format == "bsr":
        return _blocks_fault(matrix)
    return ""  # dia, lil and dok are converted by Python; the result is checked


def as_csr(matrix: Any) -> tuple[sparse.csr_array | None, str]:
    """Convert a sparse matrix to CSR; return None and what is wrong with it if it is not valid."""
    fault = sparse_fault(matrix)
    if fault:
        return None, fault
    check_view_size(matrix.shape, 16 * int(matrix.nnz))
    try:
        converted = sparse.csr_array(matrix)
    except (ValueError, IndexError, TypeError, OverflowError) as error:
        return None, str(error)
    if matrix.format in ("lil", "dok", "dia"):
        fault = sparse_fault(converted)
    return (None, fault) if fault else (converted, "")


def check_view_size(shape: tuple[int, ...], n_bytes: int = 0) -> None:
    """Refuse a view whose samples and features alone need more memory than may be used.

    A file of a few bytes can declare any number of empty rows.
    """
    n_samples, n_features = shape
    needed = n_bytes + BYTES_PER_SAMPLE * n_samples + BYTES_PER_FEATURE * n_features
    if needed > UNCHECKED_BYTES:
        check_memory(
            needed / GB,
            f"a view of {n_samples:,} samples and {n_features:,} features",
            "Check its shape",
        )


def _compressed_fault(matrix: Any, n_outer: int, n_inner: int, indices: str) -> str:
    return (
        _lengths_fault(indices=matrix.indices, data=matrix.data)
        or _pointers_fault(matrix.indptr, n_outer, len(matrix.indices))
        or _range_fault(indices, matrix.indices, n_inner)
    )


def _blocks_fault(matrix: Any) -> str:
    if matrix.data.ndim != 3 or not all(matrix.data.shape[1:]):
        return "its blocks must be 3-D and not empty"
    (n_rows, n_columns), (height, width) = matrix.shape, matrix.data.shape[1:]
    if n_rows % height or n_columns % width:
        return f"blocks of {height} x {width} must fill {n_rows} x {n_columns}"
    return (
        _lengths_fault(indices=matrix.indices, data=matrix.data[:, 0, 0])
        or _pointers_fault(matrix.indptr, n_rows // height, len(matrix.indices))
        or _range_fault("block column indices", matrix.indices, n_columns // width)
    )


def _lengths_fault(**arrays: np.ndarray) -> str:
    for name, array in arrays.items():
        if array.ndim != 1:
            return f"{name} must be 1-D; got shape {array.shape}"
    if len({len(array) for array in arrays.values()}) > 1:
        lengths = ", ".join(f"{len(array)} {name}" for name, array in arrays.items())
        return f"it must have as many indices as values; got {lengths}"
    return ""


def _pointers_fault(pointers: np.ndarray, n_outer: int, n_values: int) -> str:
    if pointers.ndim != 1 or pointers.dtype.kind not in "iu" or len(pointers) != n_outer + 1:
        return (
            f"it must have {n_outer + 1} pointers of whole numbers; got shape {pointers.shape} of "
            f"{pointers.dtype}"
        )
    if pointers[0] != 0 or pointers[-1] > n_values or (pointers[1:] < pointers[:-1]).any():
        return (
            f"pointers must ascend from 0 to at most {n_values}; got {pointers[0]} to "
            f"{pointers[-1]}" + ("" if pointers[-1] > n_values else ", not ascending")
        )
    return ""


def _range_fault(what: str, indices: np.ndarray, size: int) -> str:
    if indices.dtype.kind not in "iu":
        return f"{what} must be whole numbers; got {indices.dtype}"
    if len(indices):
        lowest, highest = int(indices.min()), int(indices.max())
        if lowest < 0 or highest >= size:
            wrong = lowest if lowest < 0 else highest
            return f"{what} must be from 0 to {size - 1}; got {wrong}"
    return ""
