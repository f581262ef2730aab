"""Arrays on disk instead of in memory: memory maps of files that have no name.

A fit holds arrays that it needs rarely, such as scaled views and the graphs of views while a
network is trained. With a `scratch_dir` in `config_context` they are written there once, and read
back page by page where they are used. The system frees such pages when memory is short. A file is
removed from the folder at once and exists as long as its array, so nothing is left over.
"""

from tempfile import TemporaryFile
from typing import TypeVar

import numpy as np
from scipy import sparse

from manyview.errors import DataFileError
from manyview.system.config import get_config
from manyview.system.paths import expand_user

MIN_BYTES = 2**20  # smaller arrays stay in memory

Matrix = TypeVar("Matrix", np.ndarray, sparse.csr_array, np.ndarray | sparse.csr_array)


def on_disk(matrix: Matrix) -> Matrix:
    """Return an array, or a sparse matrix, on disk; as it is without a scratch folder.

    Changes of the returned arrays are private to this process, and in memory.

    Examples
    --------
    >>> on_disk(np.arange(3))
    array([0, 1, 2])
    """
    if get_config().scratch_dir is None:
        return matrix
    if isinstance(matrix, np.ndarray):
        return _mapped(matrix)
    parts = _mapped(matrix.data), _mapped(matrix.indices), matrix.indptr
    moved = sparse.csr_array(parts, shape=matrix.shape)
    # Otherwise scipy reads all entries to find out.
    moved.has_sorted_indices = matrix.has_sorted_indices
    moved.has_canonical_format = matrix.has_canonical_format
    return moved


def _mapped(array: np.ndarray) -> np.ndarray:
    if array.nbytes < MIN_BYTES:
        return array
    folder = expand_user(get_config().scratch_dir or ".")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder) as file:
            np.ascontiguousarray(array).tofile(file)
            file.flush()
            return np.memmap(file, array.dtype, mode="c", shape=array.shape).view(np.ndarray)
    except OSError as error:
        raise DataFileError(
            "scratch_dir must be a folder that can be written, with room for "
            f"{array.nbytes:,} more bytes; writing to {folder} failed: {error.strerror or error}. "
            "Choose another folder, or None to use memory."
        ) from error
