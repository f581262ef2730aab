"""Annotated data, MuData and AnnData, as views joined on the names of their observations.

Both are told by what they have, so that neither library is ever imported. A view is one
matrix of them, named by its place: `rna` is the X of that part of a MuData, and
`rna/layers/counts` and `rna/obsm/X_pca` are others; in an AnnData these are `X`,
`layers/counts` and `obsm/X_pca`. An observation that a part does not name lacks its views.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from manyview.data.label_values import LabelColumn, check_unique, parse_labels, shown_names
from manyview.errors import InputError, did_you_mean

FEATURE_SLOTS, GRAPH_SLOTS = ("layers", "obsm"), ("obsp",)


@dataclass(frozen=True)
class AnnotatedViews:
    """What annotated data hold, one row an observation, in the order of `sample_ids`.

    Attributes
    ----------
    views
        By name: what was asked for, graphs included.
    columns
        Names of the columns of the views that have them.
    present
        [sample] for each view: whether the sample has it.
    n_left_out
        Observations that have none of the views asked for.
    """

    views: dict[str, Any]
    columns: dict[str, tuple[str, ...]]
    present: dict[str, np.ndarray]
    sample_ids: list[str]
    n_left_out: int


@dataclass(frozen=True)
class _Place:
    """One matrix of the data, and the AnnData or MuData that holds it."""

    holder: Any
    matrix: Any
    columns: tuple[str, ...] | None


def is_mudata(data: Any) -> bool:
    """Say whether an object is a MuData: several annotated parts under one roof."""
    return isinstance(getattr(data, "mod", None), Mapping) and hasattr(data, "obs_names")


def is_anndata(data: Any) -> bool:
    """Say whether an object is an AnnData."""
    return all(hasattr(data, name) for name in ("obs_names", "var_names", "layers", "X"))


def is_annotated(data: Any) -> bool:
    """Say whether an object is a MuData or an AnnData."""
    return is_mudata(data) or is_anndata(data)


def open_annotated(
    data: Any,
    views_key: str | Sequence[str] | None = None,
    graphs_key: str | None = None,
    source: str | None = None,
) -> AnnotatedViews:
    """Take views out of a MuData or AnnData, one row for each observation that has one of them.

    Parameters
    ----------
    views_key
        Places of the views; None takes the X of every part.
    graphs_key
        Place of a graph given as a view, such as `obsp/distances`.
    source
        What errors call the data.
    """
    source = source or type(data).__name__
    keys = [views_key] if isinstance(views_key, str) else list(views_key or _first_keys(data))
    places = {key: _find(data, key, FEATURE_SLOTS, "views_key", source) for key in keys}
    if graphs_key is not None:
        places[graphs_key] = _find(data, graphs_key, GRAPH_SLOTS, "graphs_key", source)
    sample_ids = [str(name) for name in data.obs_names]
    check_unique(sample_ids, source)
    own_ids = {key: [str(name) for name in place.holder.obs_names] for key, place in places.items()}
    _refuse_strangers({key: own_ids[key] for key in keys}, source)
    n_all, named = len(sample_ids), set().union(*own_ids.values())
    sample_ids = [name for name in sample_ids if name in named]
    views, present = {}, {}
    for key, place in places.items():
        rows = rows_in(own_ids[key], sample_ids, f"{source} part {key}")
        present[key] = rows >= 0
        views[key] = in_order(place.matrix, rows, is_graph=key == graphs_key)
    columns = {key: place.columns for key, place in places.items() if place.columns is not None}
    return AnnotatedViews(views, columns, present, sample_ids, n_all - len(sample_ids))


def annotated_labels(data: Any, label_column: str, source: str) -> LabelColumn:
    """Take labels from a column of `.obs`, of the whole or of the one part that has it.

    `rna:diagnosis` is the column of that part.
    """
    holders = {"": data, **(dict(data.mod) if is_mudata(data) else {})}
    found = {
        f"{part}:{column}" if part else str(column): (holder, column)
        for part, holder in holders.items()
        for column in holder.obs.columns
    }
    if label_column not in found:
        parts = [name for name in found if name.partition(":")[2] == label_column]
        if len(parts) > 1:
            raise InputError(
                f"{source} has the column {label_column!r} in {len(parts)} of its parts. Pass "
                f"label_column={parts[0]!r}, or another."
            )
        if not parts:
            listed = shown_names([repr(name) for name in found]) or "nothing"
            raise InputError(
                f"{source} has no column {label_column!r} in .obs; it has {listed}."
                f"{did_you_mean(label_column, found)}"
            )
        label_column = parts[0]
    holder, column = found[label_column]
    series = holder.obs[column]
    values = series.to_numpy()
    if values.dtype.kind not in "biuf":
        values = series.to_numpy(dtype=object, na_value=None)
    origin = f"{source} .obs column {label_column}"
    return LabelColumn(origin, parse_labels(values, origin), [str(n) for n in holder.obs_names])


def _first_keys(data: Any) -> list[str]:
    return list(data.mod) if is_mudata(data) else ["X"]


def _find(data: Any, key: str, slots: Sequence[str], option: str, source: str) -> _Place:
    holder, place = data, key
    if is_mudata(data):
        part, _, rest = key.partition("/")
        if part in data.mod:
            holder, place = data.mod[part], rest or "X"
    slot, _, name = place.partition("/")
    if place == "X" and "obsp" not in slots and is_anndata(holder) and holder.X is not None:
        return _Place(holder, holder.X, tuple(str(column) for column in holder.var_names))
    if slot in slots and name in (getattr(holder, slot, None) or ()):
        columns = tuple(map(str, holder.var_names)) if slot == "layers" else None
        return _Place(holder, getattr(holder, slot)[name], columns)
    places = _places(data, slots)
    raise InputError(
        f"{source} has nothing at {key!r}; it has {shown_names(places) or 'nothing'}."
        f"{did_you_mean(key, places) or f' Pass one of these as {option}=.'}"
    )


def _places(data: Any, slots: Sequence[str]) -> list[str]:
    """Everything that could be a view, by its place."""
    parts = dict(data.mod) if is_mudata(data) else {}
    found = []
    for name, holder in (*parts.items(), ("", data)):
        before = f"{name}/" if name else ""
        if "obsp" not in slots and is_anndata(holder) and holder.X is not None:
            found.append(name or "X")
        for slot in slots:
            # A MuData keeps who has which part under the parts' names.
            held = getattr(holder, slot, None) or ()
            names = [one for one in held if name or one not in parts]
            found += [f"{before}{slot}/{one}" for one in names]
    return found


def _refuse_strangers(ids: Mapping[str, list[str]], source: str) -> None:
    """Refuse a view that shares no observation with the others."""
    n_views_of = Counter(sample for own in ids.values() for sample in own)
    for key, own in ids.items():
        if len(ids) > 1 and all(n_views_of[sample] == 1 for sample in own):
            other = next(name for name in ids if name != key)
            held = [repr(names[0]) if names else "nothing" for names in (own, ids[other])]
            raise InputError(
                f"view {key!r} of {source} shares no observation with the others: it holds "
                f"{held[0]}, view {other!r} holds {held[1]}. Views are joined on obs_names: give "
                "a sample the same name in all of them, or leave the view out with views_key=."
            )


def rows_in(own_ids: Sequence[str], sample_ids: Sequence[str], source: str) -> np.ndarray:
    """Find the row of each sample in a part; -1 where the part does not name it."""
    if list(own_ids) == list(sample_ids):
        return np.arange(len(own_ids))
    check_unique(own_ids, source)
    row_of = {sample: row for row, sample in enumerate(own_ids)}
    return np.array([row_of.get(sample, -1) for sample in sample_ids], dtype=np.int64)


def in_order(matrix: Any, rows: np.ndarray, *, is_graph: bool = False) -> Any:
    """Lay rows out by sample, zeros where there is none; a graph's columns too."""
    if np.array_equal(rows, np.arange(matrix.shape[0])):
        return matrix
    has_row = rows >= 0
    if sparse.issparse(matrix) or is_graph:
        ends = (np.flatnonzero(has_row), rows[has_row])
        shape = (len(rows), matrix.shape[0])
        select: Any = sparse.csr_array((np.ones(len(ends[0]), dtype=np.int8), ends), shape=shape)
        laid = select @ matrix
        return laid @ select.T if is_graph else laid
    values = np.asarray(matrix)
    laid = np.zeros((len(rows), *values.shape[1:]), dtype=values.dtype)
    laid[has_row] = values[rows[has_row]]
    return laid
