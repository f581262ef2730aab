"""Convert the views of a user to named numeric matrices, samples in rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from manyview.data.alignment import ABSENT, index_of, join_samples
from manyview.data.annotated import is_anndata, is_annotated, open_annotated
from manyview.data.frames import (
    column_names,
    frame_values,
    has_two_levels,
    is_frame,
    is_numeric_frame,
    view_frames,
)
from manyview.data.mixed_table import MixedTable, check_column_names, frame_mixed_table
from manyview.data.sparse_format import as_csr, check_view_size
from manyview.errors import InputError, InputTypeError
from manyview.validation import check_choice


@dataclass(frozen=True)
class NamedViews:
    """Views of a user by name, not yet converted."""

    views: dict[str, Any]
    # column names by view, for the views that have them
    columns: dict[str, tuple[str, ...]] = field(default_factory=dict)
    # booleans [sample] by view: whether the sample has the view
    present: dict[str, np.ndarray] | None = None
    # [sample] index values of the frames, or obs_names; None where samples have no names
    sample_ids: np.ndarray | None = None
    # [sample] row by view, -1 for an absent one; None where rows are samples
    rows: dict[str, np.ndarray] | None = None


def name_views(views: Any) -> NamedViews:
    """Split a container of views, such as a MuData, into named views."""
    if is_annotated(views):
        opened = open_annotated(views)
        ids = np.array(opened.sample_ids, dtype=object)
        return NamedViews(opened.views, opened.columns, opened.present, ids)
    named = view_frames(views) if has_two_levels(views) else _views_by_name(views)
    columns = {name: column_names(v) for name, v in named.items() if is_frame(v)}
    for name, own in columns.items():
        check_column_names(own, f"view {name!r}")
    indexes = {name: index_of(v) if name in columns else None for name, v in named.items()}
    joined = join_samples(indexes, lambda name: int(np.shape(named[name])[0]))
    if joined is None:
        return NamedViews(named, columns)
    present = {name: rows != ABSENT for name, rows in joined.rows.items()}
    return NamedViews(named, columns, present, joined.sample_ids, joined.rows)


def _views_by_name(views: Any) -> dict[str, Any]:
    """Return views by name: the keys of a dict, else `view1`, `view2`, ..."""
    if sparse.issparse(views):  # before Mapping: one of scipy's formats is a dict
        named = {"view1": views}
    elif isinstance(views, Mapping):
        named = {str(name): view for name, view in views.items()}
    elif _is_list_of_views(views):
        named = {f"view{number}": view for number, view in enumerate(views, start=1)}
    else:
        named = {"view1": views}
    if not named:
        raise InputError("views must hold at least one view; got none.")
    return named


def _is_list_of_views(views: Any) -> bool:
    if not isinstance(views, Sequence) or isinstance(views, str):
        return False
    # A list of plain rows ([[1, 2], [3, 4]]) is one view; a list of tables is several.
    return (
        not len(views)
        or any(hasattr(view, "shape") for view in views)
        or any(
            isinstance(view, Sequence) and len(view) and isinstance(view[0], Sequence)
            for view in views
        )
    )


def coerce_view(view: Any, name: str) -> np.ndarray | sparse.csr_array | MixedTable:
    """Convert one view to a matrix, or to a mixed table if it is a frame with other columns."""
    if isinstance(view, MixedTable):
        return view
    if is_frame(view) and not is_numeric_frame(view):
        return frame_mixed_table(view, f"view {name!r}")
    return as_matrix(view, name)


def as_matrix(view: Any, name: str) -> np.ndarray | sparse.csr_array:
    """Convert one view to a 2-D numeric array, or to CSR if it is sparse."""
    if sparse.issparse(view):
        matrix, fault = as_csr(view)
        if matrix is None:
            raise InputError(
                f"view {name!r} is not a valid sparse matrix: {fault}. Build it again."
            )
        _check_numeric(matrix.dtype, name)
        return matrix
    if is_frame(view):
        view = frame_values(view)
    elif is_anndata(view):
        raise InputError(
            f"view {name!r} must be a matrix or data frame; got an AnnData, whose rows cannot be "
            "matched to those of other views. Put all into one MuData, which is joined on "
            "obs_names, or pass its .X."
        )
    elif hasattr(view, "collect_schema"):
        raise InputTypeError(
            f"view {name!r} must be in memory; got a lazy frame. Pass frame.collect()."
        )
    values = np.asarray(view)
    if values.ndim != 2:
        shape = "a scalar" if values.ndim == 0 else f"{values.ndim}-D of shape {values.shape}"
        raise InputError(
            f"view {name!r} must be 2-D, samples in rows; got {shape}. Reshape your data: "
            "one feature is array.reshape(-1, 1), one sample array.reshape(1, -1)."
        )
    check_view_size(values.shape)
    if values.dtype == object:
        values = _object_values(values, name)
    _check_numeric(values.dtype, name)
    return values


def _check_numeric(dtype: np.dtype, name: str) -> None:
    if dtype.kind == "c":
        raise InputError(
            f"Complex data not supported: view {name!r} must be real; got dtype {dtype}. "
            "Pass the real and imaginary parts as two views."
        )
    if dtype.kind not in "fiub":
        raise InputError(
            f"view {name!r} must be numeric; got dtype {dtype}. Encode text as numbers first."
        )


def _object_values(values: np.ndarray, name: str) -> np.ndarray:
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError) as error:
        kind = InputTypeError if isinstance(error, TypeError) else InputError
        raise kind(
            f"view {name!r} must be numeric; its values could not be read as numbers: {error}."
        ) from error


def presence_mask(present: Any, names: Sequence[str], n_samples: int) -> np.ndarray | None:
    """Convert the `present` of a user to booleans [sample, view].

    Every sample has the views that a dict does not name.

    Examples
    --------
    >>> presence_mask({"b": [True, False]}, ["a", "b"], 2)
    array([[ True,  True],
           [ True, False]])
    """
    if present is None:
        return None
    if not isinstance(present, Mapping):
        return _booleans(present, (n_samples, len(names)), "present", "[sample, view]")
    mask = np.ones((n_samples, len(names)), dtype=bool)
    for name, column in present.items():
        check_choice("a name in present", name, names)
        own = _booleans(column, (n_samples,), f"present[{name!r}]", "one per sample")
        mask[:, list(names).index(name)] = own
    return mask


def _booleans(values: Any, shape: tuple[int, ...], what: str, axes: str) -> np.ndarray:
    mask = np.asarray(values)
    if mask.dtype != bool:
        raise InputError(
            f"{what} must hold booleans, True where a sample has the view; got dtype {mask.dtype}."
        )
    if mask.shape != shape:
        raise InputError(f"{what} must be {axes}, of shape {shape}; got shape {mask.shape}.")
    return mask
