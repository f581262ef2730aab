"""Read MATLAB files, version 5 and 7.3, in the layouts that multi-view data sets use."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy
from scipy import sparse

from manyview.data.io.hdf5_files import check_hdf5
from manyview.data.io.mat5_format import is_mat5, read_mat5
from manyview.data.io.reading import (
    Reading,
    ReadOptions,
    as_view,
    check_rows,
    check_sparse,
    choose_reading,
    equal_views,
    import_extra,
    is_sparse,
    known_keys,
    missing_name,
    quoted,
    samples_are_rows,
    unreadable,
)
from manyview.data.label_columns import LabelColumn
from manyview.data.label_values import parse_labels
from manyview.data.views import View
from manyview.errors import DataFileError, ManyviewError

VIEW_KEYS = ("x", "fea", "data", "views", "features")  # common names, in any case
LABEL_KEYS = ("y", "gt", "truelabel", "truth", "labels", "label", "gnd")
GRAPH_KEYS = ("adj", "graphs")
HDF5_SIGNATURE = b"\x89HDF\r\n\x1a\n"


def read_mat(path: Path, options: ReadOptions, given_labels: LabelColumn | None = None) -> Reading:
    """Read views, labels and graphs from a `.mat` file.

    With `given_labels`, from another source, the labels of the file are ignored, and the number
    of given labels decides whether samples are rows or columns.
    """
    variables = load_variables(path)
    notes: list[str] = []
    labels, labels_key = None, ""
    n_samples, labels_source = None, ""
    if given_labels is None:
        labels_key, labels = _find_labels(path.name, variables, options, notes)
        n_samples, labels_source = (None if labels is None else len(labels)), repr(labels_key)
    else:
        n_samples, labels_source = given_labels.n_samples, given_labels.source
    source, views = _find_views(path.name, variables, options, n_samples, notes)
    check_rows(views, n_samples, path.name, labels_source)
    reading = Reading(views, source, labels=labels, labels_source=labels_key, notes=notes)
    graphs_key, reading.graphs = _find_graphs(path.name, variables, options, reading.n_samples)
    if given_labels is None and labels is None:
        _refuse_hidden_labels(path.name, variables, reading)
    _note_unused(reading, variables, {*source.split(", "), labels_key, graphs_key})
    return reading


def load_variables(path: Path) -> dict[str, Any]:
    """Load the variables of a `.mat` file of either version."""
    if is_mat73(path):
        return load_mat73(path)
    try:
        loaded = read_mat5(path) if is_mat5(path) else scipy.io.loadmat(path)
    except ManyviewError:
        raise
    except Exception as error:  # scipy raises many kinds on damaged files
        raise unreadable(path, "a .mat file", error) from error
    variables = {key: value for key, value in loaded.items() if not key.startswith("__")}
    for name, value in variables.items():
        check_sparse(value, name, path.name)
    return variables


def is_mat73(path: Path) -> bool:
    """Return whether a `.mat` file has the HDF5 format of MATLAB 7.3."""
    with path.open("rb") as file:
        head = file.read(520)
    return head.startswith(b"MATLAB 7.3") or HDF5_SIGNATURE in (head[:8], head[512:])


def load_mat73(path: Path) -> dict[str, Any]:
    """Load the variables of a MATLAB 7.3 file: matrices, sparse matrices, text and cells.

    Other variables, such as structs and functions, become None.
    """
    h5py = import_extra("h5py", path.name)
    check_hdf5(path, "a MATLAB 7.3 file")
    try:
        with h5py.File(path, "r") as file:
            cells = _Cells(file, h5py)
            variables = {
                name: cells.value(node) for name, node in file.items() if not name.startswith("#")
            }
    except ManyviewError:
        raise
    except Exception as error:  # h5py raises many kinds on damaged files
        raise unreadable(path, "a MATLAB 7.3 file", error) from error
    for name, value in variables.items():
        check_sparse(value, name, path.name)
    return variables


class _Cells:
    """Reads the nodes of a MATLAB 7.3 file.

    A cell refers to its parts. Each part is read once, however many cells refer to it, so that a
    small file cannot become large; a cell that holds itself is refused.
    """

    def __init__(self, file: Any, h5py: Any) -> None:
        self.file, self.h5py = file, h5py
        self.values: dict[int, Any] = {}
        self.opened: set[int] = set()

    def value(self, node: Any) -> Any:
        """Return the value of a variable or of a part of a cell."""
        matlab_class = node.attrs.get("MATLAB_class", b"")
        if isinstance(matlab_class, bytes):
            matlab_class = matlab_class.decode()
        if isinstance(node, self.h5py.Group):
            return _sparse(node) if "MATLAB_sparse" in node.attrs else None
        if node.attrs.get("MATLAB_empty", 0):
            return np.empty((0, 0), dtype="U1" if matlab_class == "char" else np.float64)
        if self.h5py.check_ref_dtype(node.dtype) is not None:
            return self._cell(node[()])
        values = node[()].T  # HDF5 is row-major, MATLAB column-major
        if matlab_class == "char":
            return np.array(["".join(map(chr, row)) for row in np.atleast_2d(values).tolist()])
        return values.astype(bool) if matlab_class == "logical" else values

    def _cell(self, references: np.ndarray) -> np.ndarray:
        cell = np.empty(references.shape, dtype=object)
        for position, reference in np.ndenumerate(references):
            node = self.file[reference]
            address = self.h5py.h5o.get_info(node.id).addr
            if address not in self.values:
                if address in self.opened:
                    raise ValueError(f"the cell {node.name} holds itself")
                self.opened.add(address)
                self.values[address] = self.value(node)
            cell[position] = self.values[address]
        return cell.T


def _sparse(group: Any) -> sparse.csc_array:
    starts = np.asarray(group["jc"][()], dtype=np.int64)
    shape = (int(group.attrs["MATLAB_sparse"]), len(starts) - 1)
    if "data" not in group:  # MATLAB leaves it out if every entry is zero
        return sparse.csc_array(shape)
    rows = np.asarray(group["ir"][()], dtype=np.int64)
    return sparse.csc_array((group["data"][()], rows, starts), shape=shape)


def _find_labels(
    file: str, variables: Mapping[str, Any], options: ReadOptions, notes: list[str]
) -> tuple[str, np.ndarray | None]:
    if options.labels_key is not None:
        key = options.labels_key
        if key not in variables:
            known = known_keys(variables, LABEL_KEYS)
            raise DataFileError(
                missing_name(
                    file,
                    "variable",
                    key,
                    list(variables),
                    f" Pass labels_key={known[0]!r}." if known else "",
                )
            )
        labels = _label_vector(variables[key], key, file)
        if labels is None:
            raise DataFileError(
                f"{file}: {key!r} must hold one label per sample; got "
                f"{_shape_text(variables[key])}."
            )
        return key, labels
    candidates = {
        key: labels
        for key in known_keys(variables, LABEL_KEYS)
        if (labels := _label_vector(variables[key], key, file)) is not None
    }
    if not candidates:
        return "", None
    key = choose_reading(
        candidates, np.array_equal, file=file, what="labels", option="labels_key", notes=notes
    )
    return key, candidates[key]


def _find_views(
    file: str,
    variables: Mapping[str, Any],
    options: ReadOptions,
    n_samples: int | None,
    notes: list[str],
) -> tuple[str, dict[str, View]]:
    if options.views_key is not None:
        keys = [options.views_key] if isinstance(options.views_key, str) else options.views_key
        found: dict[str, View] = {}
        for key in keys:
            if key not in variables:
                raise DataFileError(missing_name(file, "variable", key, list(variables)))
            matrices = _matrices(variables[key], key if len(keys) > 1 else "view", key)
            if matrices is None:
                raise DataFileError(
                    f"{file}: {key!r} must be a matrix or a cell of matrices; got "
                    f"{_shape_text(variables[key])}."
                )
            found |= matrices
        return ", ".join(keys), _samples_in_rows(found, n_samples, options, file)
    candidates = {
        key: matrices
        for key in known_keys(variables, VIEW_KEYS)
        if (matrices := _matrices(variables[key], "view", key)) is not None
    }
    if not candidates:
        likely = [key for key, value in variables.items() if _matrices(value, "", "")]
        way_out = f" Pass views_key={likely[0]!r}." if likely else ""
        raise DataFileError(missing_name(file, "variable", "X", list(variables), way_out))
    if len(candidates) == 1:
        key, matrices = candidates.popitem()
        return key, _samples_in_rows(matrices, n_samples, options, file)
    key = choose_reading(
        {
            key: _samples_in_rows(matrices, n_samples, options, file)
            for key, matrices in candidates.items()
        },
        _equal_view_sets,
        file=file,
        what="views",
        option="views_key",
        notes=notes,
    )
    return key, _samples_in_rows(candidates[key], n_samples, options, file)


def _find_graphs(
    file: str, variables: Mapping[str, Any], options: ReadOptions, n_samples: int
) -> tuple[str, dict[str, View]]:
    key = options.graphs_key
    if key is None:
        known = known_keys(variables, GRAPH_KEYS)
        if not known:
            return "", {}
        key = known[0]
    elif key not in variables:
        raise DataFileError(missing_name(file, "variable", key, list(variables)))
    graphs = _matrices(variables[key], key, key)
    wrong = [
        f"{name} of {graph.shape[0]} x {graph.shape[1]}"
        for name, graph in (graphs or {}).items()
        if graph.shape != (n_samples, n_samples)
    ]
    if graphs is None or wrong:
        raise DataFileError(
            f"{file}: {key!r} must hold graphs of {n_samples} x {n_samples}; got "
            f"{wrong[0] if wrong else _shape_text(variables[key])}."
        )
    return key, {name: as_view(graph) for name, graph in graphs.items()}


def _matrices(value: Any, cell_name: str, name: str) -> dict[str, Any] | None:
    """Return the matrices of a cell as `view1`, `view2`, ..., or one matrix by its variable."""
    if _is_matrix(value):
        return {name: value}
    if not isinstance(value, np.ndarray) or value.dtype != object or not value.size:
        return None
    cells = list(value.ravel())
    if not all(_is_matrix(cell) for cell in cells):
        return None
    return {f"{cell_name}{number}": cell for number, cell in enumerate(cells, start=1)}


def _is_matrix(value: Any) -> bool:
    return (
        (is_sparse(value) or isinstance(value, np.ndarray))
        and value.dtype.kind in "fiub"
        and len(value.shape) == 2
        and value.shape[0] * value.shape[1] > 1
    )


def _samples_in_rows(
    matrices: Mapping[str, Any], n_samples: int | None, options: ReadOptions, file: str
) -> dict[str, View]:
    rows = samples_are_rows(matrices, n_samples, options.samples_in, file)
    return {name: as_view(view if rows else view.T) for name, view in matrices.items()}


def _equal_view_sets(one: Mapping[str, View], other: Mapping[str, View]) -> bool:
    return len(one) == len(other) and all(
        equal_views(view, twin) for view, twin in zip(one.values(), other.values(), strict=True)
    )


def _label_vector(value: Any, key: str, file: str) -> np.ndarray | None:
    """Return the labels in a variable, or None if it holds something else."""
    if is_sparse(value) and 1 in value.shape:
        value = value.toarray()
    if not isinstance(value, np.ndarray) or value.size < 2:
        return None
    if value.dtype.kind in "fiub":
        return parse_labels(value.ravel(), repr(key)) if _is_vector(value) else None
    if value.dtype.kind == "U":
        return parse_labels(value.ravel(), repr(key))
    if value.dtype != object:
        return None
    cells = [np.asarray(cell) for cell in value.ravel() if not is_sparse(cell)]
    if len(cells) < value.size:
        return None
    if all(cell.size <= 1 and cell.dtype.kind in "Ufiub" for cell in cells):
        words = [str(cell.ravel()[0]) if cell.size else "" for cell in cells]
        return parse_labels(words, repr(key)) if _is_vector(value) else None
    if not all(cell.dtype.kind in "fiub" and cell.size > 1 and _is_vector(cell) for cell in cells):
        return None
    vectors = [parse_labels(cell.ravel(), repr(key)) for cell in cells]
    if not all(np.array_equal(vector, vectors[0]) for vector in vectors):
        raise DataFileError(
            f"{file}: the {len(vectors)} label vectors in {key!r} differ. Every view must hold "
            "the same samples in the same order."
        )
    return vectors[0]


def _is_vector(value: np.ndarray) -> bool:
    return bool(value.size == max(value.shape))


def _shape_text(value: Any) -> str:
    shape = " x ".join(str(size) for size in getattr(value, "shape", ()))
    is_cell = isinstance(value, np.ndarray) and value.dtype == object
    return f"{'a cell' if is_cell else 'a variable'} of {shape}" if shape else "something else"


def _refuse_hidden_labels(file: str, variables: Mapping[str, Any], reading: Reading) -> None:
    """Refuse to read data as unlabeled if an unrecognized variable looks like labels."""
    for key, value in variables.items():
        if key in reading.source.split(", "):
            continue
        try:
            labels = _label_vector(value, key, file)
        except DataFileError:
            continue  # fractional numbers are not labels
        if labels is None or len(labels) != reading.n_samples:
            continue
        if len(set(labels.tolist())) < len(labels):
            raise DataFileError(
                missing_name(file, "variable", "Y", list(variables), f" Pass labels_key={key!r}.")
            )


def _note_unused(reading: Reading, variables: Mapping[str, Any], used: set[str]) -> None:
    noted = {note.split(" ", 1)[0] for note in reading.notes}
    unused = [key for key in variables if key not in used | noted]
    if unused:
        reading.notes.append(f"Not used: {quoted(unused)}.")
