"""Views of annotated data, MuData and AnnData, joined on obs_names.

Both are recognized by their attributes, so neither library is imported. A view is one matrix,
named by its path: in a MuData `rna` (the X of that modality), `rna/layers/counts` or
`rna/obsm/X_pca`; in an AnnData `X`, `layers/counts` or `obsm/X_pca`. An observation that a modality
does not name lacks its views.
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
    """Views of annotated data, one row per observation, in the order of `sample_ids`.

    Attributes
    ----------
    views
        The requested views by name, graphs included.
    columns
        Column names by view, for the views that have them.
    present
        Booleans [sample] by view: whether the sample has the view.
    n_left_out
        Number of observations that have none of the requested views.
    """

    views: dict[str, Any]
    columns: dict[str, tuple[str, ...]]
    present: dict[str, np.ndarray]
    sample_ids: list[str]
    n_left_out: int


@dataclass(frozen=True)
class _Place:
    """One matrix, and the AnnData or MuData that holds it."""

    holder: Any
    matrix: Any
    columns: tuple[str, ...] | None


def is_mudata(data: Any) -> bool:
    """Return whether an object is a MuData."""
    return isinstance(getattr(data, "mod", None), Mapping) and hasattr(data, "obs_names")


def is_anndata(data: Any) -> bool:
    """Return whether an object is an AnnData."""
    return all(hasattr(data, name) for name in ("obs_names", "var_names", "layers", "X"))


def is_annotated(data: Any) -> bool:
    """Return whether an object is a MuData or an AnnData."""
    return is_mudata(data) or is_anndata(data)


def open_annotated(
    data: Any,
    views_key: str | Sequence[str] | None = None,
    graphs_key: str | None = None,
    source: str | None = None,
) -> AnnotatedViews:
    """Return views of a MuData or AnnData, one row per observation that has at least one.

    Parameters
    ----------
    views_key
        Paths of the views; None takes the X of every modality.
    graphs_key
        Path of a precomputed graph, such as `obsp/distances`.
    source
        Name of the data in errors.
    """
    source = source or type(data).__name__
    keys = [views_key] if isinstance(views_key, str) else list(views_key or _first_keys(data))
    places = {key: _find(data, key, FEATURE_SLOTS, "views_key", source) for key in keys}
    if graphs_key is not None:
        places[graphs_key] = _find(data, graphs_key, GRAPH_SLOTS, "graphs_key", source)
    sample_ids = [str(name) for name in data.obs_names]
    check_unique(sample_ids, source)
    own_ids = {key: [str(name) for name in place.holder.obs_names] for key, place in places.items()}
    _refuse_disjoint({key: own_ids[key] for key in keys}, source)
    n_all, named = len(sample_ids), set().union(*own_ids.values())
    sample_ids = [name for name in sample_ids if name in named]
    views, present = {}, {}
    for key, place in places.items():
        rows = row_positions(own_ids[key], sample_ids, f"{source} view {key}")
        present[key] = rows >= 0
        views[key] = reindex_rows(place.matrix, rows, is_graph=key == graphs_key)
    columns = {key: place.columns for key, place in places.items() if place.columns is not None}
    return AnnotatedViews(views, columns, present, sample_ids, n_all - len(sample_ids))


def annotated_labels(data: Any, label_column: str, source: str) -> LabelColumn:
    """Return labels from a column of `.obs`, of the MuData or of the one modality that has it.

    `rna:diagnosis` is the column of modality `rna`.
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
                f"{source} has the column {label_column!r} in {len(parts)} modalities. Pass "
                f"label_column={parts[0]!r}, or another of them."
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
    """Return the paths of all matrices that could be a view."""
    parts = dict(data.mod) if is_mudata(data) else {}
    found = []
    for name, holder in (*parts.items(), ("", data)):
        before = f"{name}/" if name else ""
        if "obsp" not in slots and is_anndata(holder) and holder.X is not None:
            found.append(name or "X")
        for slot in slots:
            # obsm of a MuData also holds one presence mask per modality, under its name.
            held = getattr(holder, slot, None) or ()
            names = [one for one in held if name or one not in parts]
            found += [f"{before}{slot}/{one}" for one in names]
    return found


def _refuse_disjoint(ids: Mapping[str, list[str]], source: str) -> None:
    """Refuse a view that has no observation in common with the others."""
    n_views_of = Counter(sample for own in ids.values() for sample in own)
    for key, own in ids.items():
        if len(ids) > 1 and all(n_views_of[sample] == 1 for sample in own):
            other = next(name for name in ids if name != key)
            held = [repr(names[0]) if names else "nothing" for names in (own, ids[other])]
            raise InputError(
                f"view {key!r} of {source} has no observation in common with the others: it has "
                f"{held[0]}, view {other!r} has {held[1]}. Views are joined on obs_names: give a "
                "sample the same name in every view, or leave the view out with views_key=."
            )


def row_positions(own_ids: Sequence[str], sample_ids: Sequence[str], source: str) -> np.ndarray:
    """Return the row of each sample among `own_ids`; -1 if it is not among them."""
    if list(own_ids) == list(sample_ids):
        return np.arange(len(own_ids))
    check_unique(own_ids, source)
    row_of = {sample: row for row, sample in enumerate(own_ids)}
    return np.array([row_of.get(sample, -1) for sample in sample_ids], dtype=np.int64)


def reindex_rows(matrix: Any, rows: np.ndarray, *, is_graph: bool = False) -> Any:
    """Return the given rows, zeros for -1; for a graph, the columns too."""
    if np.array_equal(rows, np.arange(matrix.shape[0])):
        return matrix
    has_row = rows >= 0
    if sparse.issparse(matrix) or is_graph:
        ends = (np.flatnonzero(has_row), rows[has_row])
        shape = (len(rows), matrix.shape[0])
        select: Any = sparse.csr_array((np.ones(len(ends[0]), dtype=np.int8), ends), shape=shape)
        taken = select @ matrix
        return taken @ select.T if is_graph else taken
    values = np.asarray(matrix)
    taken = np.zeros((len(rows), *values.shape[1:]), dtype=values.dtype)
    taken[has_row] = values[rows[has_row]]
    return taken
