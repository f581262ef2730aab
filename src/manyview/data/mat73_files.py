"""MATLAB 7.3 files: HDF5 turned into what scipy gives for older `.mat` files."""

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from manyview.data.reading import import_extra, unreadable

HDF5_SIGNATURE = b"\x89HDF\r\n\x1a\n"


def is_mat73(path: Path) -> bool:
    """Say whether a `.mat` file is of MATLAB's HDF5 format."""
    with path.open("rb") as file:
        head = file.read(520)
    return head.startswith(b"MATLAB 7.3") or HDF5_SIGNATURE in (head[:8], head[512:])


def load_mat73(path: Path) -> dict[str, Any]:
    """Load the variables: matrices, sparse matrices, text, and cells of those.

    What is none of these (a struct, a function) is given as None.
    """
    h5py = import_extra("h5py", path.name)
    try:
        with h5py.File(path, "r") as file:
            return {
                name: _value(file, node, h5py)
                for name, node in file.items()
                if not name.startswith("#")
            }
    except Exception as error:  # h5py raises many kinds on damaged files
        raise unreadable(path, "a MATLAB 7.3 file", error) from error


def _value(file: Any, node: Any, h5py: Any) -> Any:
    matlab_class = node.attrs.get("MATLAB_class", b"")
    if isinstance(matlab_class, bytes):
        matlab_class = matlab_class.decode()
    if isinstance(node, h5py.Group):
        return _sparse(node) if "MATLAB_sparse" in node.attrs else None
    if node.attrs.get("MATLAB_empty", 0):
        return np.empty((0, 0), dtype="U1" if matlab_class == "char" else np.float64)
    if h5py.check_ref_dtype(node.dtype) is not None:
        return _cell(file, node[()], h5py)
    values = node[()].T  # HDF5 stores rows first, MATLAB columns first
    if matlab_class == "char":
        return np.array(["".join(map(chr, row)) for row in np.atleast_2d(values).tolist()])
    return values.astype(bool) if matlab_class == "logical" else values


def _cell(file: Any, references: np.ndarray, h5py: Any) -> np.ndarray:
    cell = np.empty(references.shape, dtype=object)
    for position, reference in np.ndenumerate(references):
        cell[position] = _value(file, file[reference], h5py)
    return cell.T


def _sparse(group: Any) -> sparse.csc_array:
    starts = np.asarray(group["jc"][()], dtype=np.int64)
    shape = (int(group.attrs["MATLAB_sparse"]), len(starts) - 1)
    if "data" not in group:  # MATLAB leaves it out where every entry is zero
        return sparse.csc_array(shape)
    rows = np.asarray(group["ir"][()], dtype=np.int64)
    return sparse.csc_array((group["data"][()], rows, starts), shape=shape)
