"""Views of annotated data, MuData and AnnData, joined on obs_names.

Both are recognized by their attributes, so neither library is imported. A view is one matrix,
named by its path: in a MuData `rna` (the X of that modality), `rna/layers/counts` or
`rna/obsm/X_pca`; in an AnnData `X`, `layers/counts` or `obsm/X_pca`. An observation that a modality
does not name lacks its views.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from manyview.data.label_columns import LabelColumn
from manyview.data.label_values import check_unique, is_known, parse_labels, shown_names
from manyview.data.sparse_format import sparse_fault
from manyview.errors import InputError, did_you_mean

FEATURE_SLOTS, GRAPH_SLOTS = ("layers", "obsm"), ("obsp",)


@dataclass(frozen=True)
class AnnotatedViews:
    """Views of annotated data, one row per observation, in the order of `sample_ids`."""

    views: dict[str, Any]  # the requested views by name, graphs included
    columns: dict[str, tuple[str, ...]]  # column names by view, for the views that have them
    present: dict[str, np.ndarray]  # booleans [sample] by view: whether the sample has the view
    sample_ids: list[str]
    n_left_out: int  # number of observations that have none of the requested views


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
    _check_unique(sample_ids, source)
    own_ids = {key: [str(name) for name in place.holder.obs_names] for key, place in places.items()}
    for key, names in own_ids.items():
        _check_unique(names, f"{source} view {key}")
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
    """Return labels from a column of `.obs`, of the MuData or else of its modalities.

    `rna:diagnosis` is the column of modality `rna`. A column that several modalities have, as after
    `mudata.concat`, is one column if they agree about the observations they have in common.
    """
    holders = {"": data, **(dict(data.mod) if is_mudata(data) else {})}
    found = {
        f"{part}:{column}" if part else str(column): (holder, column)
        for part, holder in holders.items()
        for column in holder.obs.columns
    }
    if label_column in found:
        return _label_column(*found[label_column], label_column, source)
    parts = [name for name in found if name.partition(":")[2] == label_column]
    if not parts:
        listed = shown_names([repr(name) for name in found]) or "nothing"
        raise InputError(
            f"{source} has no column {label_column!r} in .obs; it has {listed}."
            f"{did_you_mean(label_column, found)}"
        )
    columns = {name: _label_column(*found[name], name, source) for name in parts}
    return next(iter(columns.values())) if len(parts) == 1 else _merged(columns, source)


def find_label_column(data: Any, names: Collection[str]) -> str | None:
    """Return the one column of `.obs` that is named so, of the data or else of its modalities."""
    of_parts = [part.obs for part in data.mod.values()] if is_mudata(data) else []
    for tables in ([data.obs], of_parts):
        columns = {str(c) for table in tables for c in table.columns if str(c).casefold() in names}
        if columns:
            return columns.pop() if len(columns) == 1 else None
    return None


def _label_column(holder: Any, column: str, name: str, source: str) -> LabelColumn:
    series = holder.obs[column]
    values = series.to_numpy()
    if values.dtype.kind not in "biuf":
        values = series.to_numpy(dtype=object, na_value=None)
    origin = f"{source} .obs column {name}"
    return LabelColumn(origin, parse_labels(values, origin), [str(n) for n in holder.obs_names])


def _merged(columns: Mapping[str, LabelColumn], source: str) -> LabelColumn:
    """Join the labels of several modalities; refuse different labels of one observation."""
    merged: dict[str, Any] = {}
    differing = set()
    for column in columns.values():
        known = is_known(column.labels)
        _check_unique(column.sample_ids or (), column.source)
        for name, label, has_label in zip(
            column.sample_ids or (), column.labels.tolist(), known, strict=True
        ):
            before = merged.get(name)
            if has_label and before is not None and before != label:
                differing.add(name)
            merged[name] = label if has_label and before is None else before
    first = next(iter(columns))
    if differing:
        raise InputError(
            f"{source} has the column {first.partition(':')[2]!r} in {len(columns)} modalities, "
            f"with other labels for {len(differing)} observation(s), such as "
            f"{min(differing)!r}. Pass label_column={first!r}, or another of them."
        )
    origin = f"{source} .obs columns {' and '.join(columns)}"
    values = list(merged.values())
    labels = parse_labels(np.array(values, dtype=object if None in values else None), origin)
    return LabelColumn(origin, labels, list(merged))


def _check_unique(names: Sequence[str], source: str) -> None:
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise InputError(
            f"{source} has {len(repeated)} name(s) in .obs_names more than once: "
            f"{shown_names(repeated)}. Every observation must have a name of its own: concatenate "
            "with index_unique='-', in mudata.concat or anndata.concat, or call "
            "obs_names_make_unique() on every AnnData and then update() on the MuData."
        )


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
        columns = tuple(str(column) for column in holder.var_names)
        return _Place(holder, _checked(holder.X, key, source), columns)
    if slot in slots and name in (getattr(holder, slot, None) or ()):
        names = tuple(map(str, holder.var_names)) if slot == "layers" else None
        return _Place(holder, _checked(getattr(holder, slot)[name], key, source), names)
    places = _places(data, slots)
    raise InputError(
        f"{source} has nothing at {key!r}; it has {shown_names(places) or 'nothing'}."
        f"{did_you_mean(key, places) or f' Pass one of these as {option}=.'}"
    )


def _checked(matrix: Any, key: str, source: str) -> Any:
    """Refuse a sparse matrix that is not valid, before its rows are taken."""
    fault = sparse_fault(matrix) if sparse.issparse(matrix) else ""
    if fault:
        raise InputError(f"view {key!r} of {source} is not a valid sparse matrix: {fault}.")
    return matrix


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
