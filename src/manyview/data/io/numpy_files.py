"""Read NumPy files: `.npz` archives of views and labels, and one `.npy` array per view."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from manyview.data.io.compression import data_stem
from manyview.data.io.npy_format import map_npy, read_archive
from manyview.data.io.reading import (
    Reading,
    ReadOptions,
    as_view,
    check_rows,
    check_sparse,
    choose_reading,
    known_keys,
    missing_name,
    quoted,
    samples_are_rows,
    unreadable,
)
from manyview.data.label_columns import LabelColumn
from manyview.data.label_values import describe_labels, is_known, mark_unknown, parse_labels
from manyview.data.views import View
from manyview.errors import DataFileError, ManyviewError

LABEL_KEYS = ("y", "labels", "label", "gt")  # in any case
ID_KEYS = ("sample_ids", "ids", "files")
SPARSE_PARTS = {"format", "shape", "data"}  # arrays that scipy.sparse.save_npz writes


def read_npz(path: Path, options: ReadOptions, given_labels: LabelColumn | None = None) -> Reading:
    """Read views (2-D arrays), labels, names and ids (1-D arrays) from an `.npz` archive.

    Nothing is unpickled. With `given_labels`, from another source, those of the archive are
    ignored.
    """
    arrays = load_arrays(path)
    notes: list[str] = []
    labels, labels_key, n_samples, labels_source = None, "", None, ""
    if given_labels is None:
        labels_key, labels = _find_labels(path.name, arrays, options, notes)
        n_samples, labels_source = (None if labels is None else len(labels)), repr(labels_key)
    elif given_labels.sample_ids is None or not any(key in arrays for key in ID_KEYS):
        n_samples, labels_source = given_labels.n_samples, given_labels.source
    graph_keys = _graph_keys(path.name, arrays, options)
    views = _find_views(path.name, arrays, options, n_samples, graph_keys)
    check_rows(views, n_samples, path.name, labels_source)
    source = ", ".join(views) if len(views) < 3 else f"{next(iter(views))} to {list(views)[-1]}"
    reading = Reading(views, source, labels=labels, labels_source=labels_key, notes=notes)
    reading.graphs = _checked_graphs(path.name, arrays, graph_keys, reading.n_samples)
    used = {*views, *graph_keys, labels_key}
    if labels is not None and "class_names" in arrays:
        reading.labels = _name_classes(labels, arrays["class_names"], path.name, notes)
        used.add("class_names")
    if "view_names" in arrays:
        reading.views = _rename(views, arrays["view_names"], path.name)
        used.add("view_names")
    id_keys = [key for key in ID_KEYS if key in arrays and len(arrays[key]) == reading.n_samples]
    if id_keys:
        reading.sample_ids = [str(name) for name in arrays[id_keys[0]].tolist()]
        used.add(id_keys[0])
    noted = {note.split(" ", 1)[0] for note in notes}
    unused = [key for key in arrays if key not in used | noted]
    if unused:
        notes.append(f"Not used: {quoted(unused)}.")
    return reading


def load_arrays(path: Path) -> dict[str, Any]:
    """Load the arrays of an archive; a saved scipy matrix is one array named after the file."""
    try:
        arrays = dict(read_archive(path))
        if not set(arrays) >= SPARSE_PARTS:
            return arrays
        matrix = _sparse_matrix(arrays)
    except ManyviewError:
        raise
    except Exception as error:  # zipfile, zlib and numpy raise many kinds on damaged files
        raise unreadable(path, "an .npz archive", error) from error
    name = data_stem(path)
    check_sparse(matrix, name, path.name)
    return {name: as_view(matrix)}


def _sparse_matrix(arrays: Mapping[str, np.ndarray]) -> Any:
    """Build a matrix from the parts that scipy.sparse.save_npz writes."""
    kind, shape = arrays["format"].item(), tuple(arrays["shape"].tolist())
    kind = kind.decode() if isinstance(kind, bytes) else kind
    if kind == "coo":
        return sparse.coo_array((arrays["data"], (arrays["row"], arrays["col"])), shape=shape)
    if kind == "dia":
        return sparse.dia_array((arrays["data"], arrays["offsets"]), shape=shape)
    build = {"csr": sparse.csr_array, "csc": sparse.csc_array, "bsr": sparse.bsr_array}[kind]
    return build((arrays["data"], arrays["indices"], arrays["indptr"]), shape=shape)


def _find_labels(
    file: str, arrays: Mapping[str, Any], options: ReadOptions, notes: list[str]
) -> tuple[str, np.ndarray | None]:
    known = known_keys(arrays, LABEL_KEYS)
    if options.labels_key is not None:
        key = options.labels_key
        if key not in arrays:
            way_out = f" Pass labels_key={known[0]!r}." if known else ""
            raise DataFileError(missing_name(file, "array", key, list(arrays), way_out))
        if not _is_vector(arrays[key]):
            raise DataFileError(
                f"{file}: {key!r} must hold one label per sample; got shape {arrays[key].shape}."
            )
        return key, parse_labels(arrays[key].ravel(), repr(key))
    candidates = {
        key: parse_labels(arrays[key].ravel(), repr(key))
        for key in known
        if _is_vector(arrays[key])
    }
    if not candidates:
        return "", None
    key = choose_reading(
        candidates, np.array_equal, file=file, what="labels", option="labels_key", notes=notes
    )
    return key, candidates[key]


def _is_vector(array: Any) -> bool:
    return array.ndim == 1 or (array.ndim == 2 and 1 in array.shape and array.size > 1)


def _graph_keys(file: str, arrays: Mapping[str, Any], options: ReadOptions) -> list[str]:
    stem = options.graphs_key or "adj"
    keys = [key for key in arrays if re.fullmatch(re.escape(stem) + r"\d*", key)]
    if options.graphs_key is not None and not keys:
        raise DataFileError(missing_name(file, "array", stem, list(arrays)))
    return keys


def _checked_graphs(
    file: str, arrays: Mapping[str, Any], keys: list[str], n_samples: int
) -> dict[str, View]:
    for key in keys:
        if arrays[key].shape != (n_samples, n_samples):
            raise DataFileError(
                f"{file}: {key!r} must hold a graph of {n_samples} x {n_samples}; got shape "
                f"{arrays[key].shape}."
            )
    return {key: as_view(arrays[key]) for key in keys}


def _find_views(
    file: str,
    arrays: Mapping[str, Any],
    options: ReadOptions,
    n_samples: int | None,
    graph_keys: list[str],
) -> dict[str, View]:
    if options.views_key is not None:
        keys = [options.views_key] if isinstance(options.views_key, str) else options.views_key
        for key in keys:
            if key not in arrays:
                raise DataFileError(missing_name(file, "array", key, list(arrays)))
            if arrays[key].ndim != 2:
                raise DataFileError(
                    f"{file}: {key!r} must be 2-D to be a view; got shape {arrays[key].shape}."
                )
        matrices = {key: arrays[key] for key in keys}
    else:
        matrices = _likely_views(arrays, n_samples, graph_keys)
    if not matrices:
        fitting = "" if n_samples is None else f" with {n_samples} samples, one per label"
        raise DataFileError(
            f"{file} has no 2-D array{fitting}; it has {quoted(list(arrays))}. "
            "Pass views_key= to name the views."
        )
    if n_samples is None and options.samples_in is None:
        return {key: as_view(matrix) for key, matrix in matrices.items()}  # NumPy's convention
    rows = samples_are_rows(matrices, n_samples, options.samples_in, file)
    return {key: as_view(matrix if rows else matrix.T) for key, matrix in matrices.items()}


def _likely_views(
    arrays: Mapping[str, Any], n_samples: int | None, graph_keys: list[str]
) -> dict[str, Any]:
    matrices = {
        key: array
        for key, array in arrays.items()
        if array.ndim == 2
        and array.dtype.kind in "fiub"
        and key not in graph_keys
        and not (key.casefold() in LABEL_KEYS and _is_vector(array))
    }
    numbered = {key: int(key[4:]) for key in matrices if re.fullmatch(r"view\d+", key)}
    if numbered:
        return {key: matrices[key] for key in sorted(numbered, key=numbered.__getitem__)}
    if n_samples is None:
        return matrices
    for axis in (0, 1):
        fitting = {key: array for key, array in matrices.items() if array.shape[axis] == n_samples}
        if fitting:
            return fitting
    return {}


def _name_classes(
    labels: np.ndarray, class_names: np.ndarray, file: str, notes: list[str]
) -> np.ndarray:
    """Replace class numbers, which start at 0 or 1, by class names."""
    names, known = class_names.astype(str), is_known(labels)
    if labels.dtype.kind != "i" or not known.any():
        return labels
    lowest, highest = int(labels[known].min()), int(labels[known].max())
    if lowest < 0 or highest - min(lowest, 1) >= len(names):
        raise DataFileError(
            f"{file}: 'class_names' has {len(names)} classes, but "
            f"{describe_labels(labels, repr('y'))}."
        )
    if lowest > 0 and highest < len(names):
        notes.append("class_names is not used: labels may start at 0 or at 1; both fit.")
        return labels
    named = names[np.where(known, labels - (highest == len(names)), 0)]
    return named if known.all() else mark_unknown(named, ~known)


def _rename(views: dict[str, View], view_names: np.ndarray, file: str) -> dict[str, View]:
    names = [str(name) for name in view_names.ravel().tolist()]
    if len(set(names)) != len(views) or len(names) != len(views):
        raise DataFileError(
            f"{file}: 'view_names' must give {len(views)} different names; got {names}."
        )
    return dict(zip(names, views.values(), strict=True))


def read_npy(
    paths: Sequence[Path], options: ReadOptions, given_labels: LabelColumn | None = None
) -> Reading:
    """Memory-map one view per `.npy` file.

    Samples are rows unless `samples_in` or the number of labels decides otherwise.
    """
    arrays = {data_stem(path): _map_array(path) for path in paths}
    if len(arrays) < len(paths):
        raise DataFileError(
            "every file must have its own name, since a view is named after its file; two files "
            "have the same name. Rename one of them."
        )
    names = ", ".join(path.name for path in paths)
    n_samples, labels_source = None, ""
    if given_labels is not None:
        n_samples, labels_source = given_labels.n_samples, given_labels.source
    rows = options.samples_in != "columns"
    if options.samples_in is None and n_samples is not None:
        fit = [array.shape == (n_samples, n_samples) for array in arrays.values()]
        rows = all(fit) or samples_are_rows(arrays, n_samples, None, names)
    views = {name: array if rows else array.T for name, array in arrays.items()}
    check_rows(views, n_samples, names, labels_source)
    return Reading(dict(views), ", ".join(views))


def _map_array(path: Path) -> np.ndarray:
    try:
        array = map_npy(path)
    except ManyviewError:
        raise
    except Exception as error:  # numpy raises many kinds on damaged files
        raise unreadable(path, "an .npy array", error) from error
    if array.ndim != 2 or array.dtype.kind not in "fiub":
        raise DataFileError(
            f"{path.name} must hold a 2-D array of numbers to be a view; got shape "
            f"{array.shape} of {array.dtype}."
        )
    return array
