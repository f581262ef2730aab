"""Result of reading one format, and the checks and messages that all formats share."""

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import numpy as np
from scipy import sparse

from manyview.data.column_kinds import rows_lacking_values
from manyview.data.label_values import N_SHOWN, shown_names
from manyview.data.mixed_table import MixedTable
from manyview.data.sparse_format import as_csr, sparse_fault
from manyview.data.views import MultiView, View
from manyview.errors import DataFileError, did_you_mean

Found = TypeVar("Found")


@dataclass(frozen=True)
class ReadOptions:
    """Options of `read_views` that choose between interpretations of a file."""

    views_key: str | Sequence[str] | None = None
    labels_key: str | None = None
    graphs_key: str | None = None
    samples_in: str | None = None
    id_column: str | Mapping[str, str] | None = None  # of all tables, or by view, as in a fit
    label_column: str | None = None
    missing: str | None = None
    ignore: Sequence[str] | None = None
    columns: Mapping[str, Any] | None = None

    @property
    def given_id_column(self) -> str | None:
        """Column of sample ids that every table must have."""
        return self.id_column if isinstance(self.id_column, str) else None

    @property
    def may_lack_values(self) -> bool:
        """Whether single values may be missing."""
        return self.missing == "impute"


@dataclass
class Reading:
    """Views and labels read from one source, samples in rows."""

    views: Mapping[str, View | MixedTable]
    source: str
    graphs: dict[str, View] = field(default_factory=dict)
    columns: dict[str, list[str]] = field(default_factory=dict)
    labels: np.ndarray | None = None
    labels_source: str = ""
    sample_ids: Sequence[str] | None = None
    present: dict[str, np.ndarray] | None = None
    id_columns: dict[str, str] = field(default_factory=dict)  # by view
    notes: list[str] = field(default_factory=list)

    @property
    def n_samples(self) -> int:
        """Number of rows of the first view."""
        return int(next(iter(self.views.values())).shape[0])


class Named(Protocol):
    """A file with a name to show: a path, or a member of an archive."""

    @property
    def name(self) -> str:
        """Name in messages."""


def unreadable(path: Named, kind: str, error: Exception) -> DataFileError:
    """Return the error for a file that its library cannot open."""
    if isinstance(error, MemoryError):
        return DataFileError(f"{path.name} does not fit in memory, or is damaged.")
    reason = " ".join(str(error).split()) or type(error).__name__
    return DataFileError(
        f"{path.name} could not be read as {kind}: it is damaged, truncated, or of another "
        f"format ({reason[:160]})."
    )


def import_extra(module: str, needed_by: str, extra: str = "io") -> Any:
    """Import a library of an optional extra, on first use."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise DataFileError(
            f"{needed_by} needs {module}, which is not installed. "
            f"Install it with: pip install 'manyview[{extra}]'"
        ) from error


def quoted(names: Sequence[str]) -> str:
    """Join names as in a sentence: 'X', 'Y' and 'gt'."""
    if not names:
        return "nothing"
    words = [repr(name) for name in names]
    if len(words) > 10:
        return f"{', '.join(words[:10])} and {len(words) - 10} more"
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))


def missing_name(file: str, kind: str, name: str, names: Sequence[str], way_out: str = "") -> str:
    """Return the message for a name that a file lacks: what it has, and the way out."""
    way_out = way_out or did_you_mean(name, names)
    return f"{file} has no {kind} {name!r}; it has {quoted(names)}.{way_out}"


def known_keys(variables: Mapping[str, Any], names: tuple[str, ...]) -> list[str]:
    """Return the variables with one of these names, in any case, in the order of the names."""
    known = [key for key in variables if key.casefold() in names]
    return sorted(known, key=lambda key: names.index(key.casefold()))


def choose_reading(
    candidates: Mapping[str, Found],
    same: Callable[[Found, Found], bool],
    *,
    file: str,
    what: str,
    option: str,
    notes: list[str],
) -> str:
    """Return the first of several equal candidates; refuse if two differ."""
    first, *others = candidates
    for other in others:
        if not same(candidates[first], candidates[other]):
            raise DataFileError(
                f"{file} holds {what} twice, and they differ: in {first!r} and in {other!r}. "
                f"Pass {option}={first!r} or {option}={other!r}."
            )
        notes.append(f"{other} holds the same {what} as {first} and is not used.")
    return first


def samples_are_rows(
    views: Mapping[str, View], n_samples: int | None, samples_in: str | None, file: str
) -> bool:
    """Return whether samples are the rows of the views; otherwise they are the columns.

    The number of samples decides; without it, the axis on which all views agree.
    """
    if samples_in is not None:
        return samples_in == "rows"
    shapes = [view.shape for view in views.values()]
    n_rows, n_columns = (n_samples, n_samples) if n_samples is not None else shapes[0]
    rows_fit = [shape[0] == n_rows for shape in shapes]
    columns_fit = [shape[1] == n_columns for shape in shapes]
    if all(rows_fit) and all(columns_fit):
        raise DataFileError(
            f"{file}: samples may be the rows or the columns of {quoted(list(views))}; both fit. "
            "Pass samples_in='rows' or samples_in='columns'."
        )
    return all(rows_fit) or (not all(columns_fit) and sum(rows_fit) >= sum(columns_fit))


def check_rows(
    views: Mapping[str, View], n_samples: int | None, file: str, labels_source: str
) -> None:
    """Refuse a view whose number of samples differs from the labels or the first view."""
    first, first_view = next(iter(views.items()))
    for name, view in views.items():
        if n_samples is not None and view.shape[0] != n_samples:
            raise DataFileError(
                f"{file}: view {name!r} has {view.shape[0]} samples ({view.shape[0]} x "
                f"{view.shape[1]}) but {labels_source} has {n_samples} labels."
            )
        if view.shape[0] != first_view.shape[0]:
            raise DataFileError(
                f"{file}: view {name!r} has {view.shape[0]} samples but view {first!r} has "
                f"{first_view.shape[0]}. Every view must hold the same samples in the same order."
            )


def equal_views(one: View, other: View) -> bool:
    """Return whether two views hold the same numbers, dense or sparse."""
    if one.shape != other.shape:
        return False
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return np.array_equal(one, other)
    difference = _csr_floats(one) - _csr_floats(other)
    return not difference.count_nonzero()


def _csr_floats(view: Any) -> Any:
    return sparse.csr_array(view).astype(np.float64)


def is_sparse(matrix: object) -> bool:
    """Return whether a matrix is a sparse one of scipy."""
    return sparse.issparse(matrix)


def as_view(matrix: Any) -> View:
    """Return a dense matrix as it is, and a sparse one in CSR, checked."""
    if not is_sparse(matrix):
        return np.asarray(matrix)
    converted, fault = as_csr(matrix)
    if converted is None:
        raise DataFileError(f"a sparse matrix of the file is not valid: {fault}. Save it again.")
    return converted


def check_sparse(values: Any, name: str, file: str) -> None:
    """Refuse a variable that is, or a cell that holds, a sparse matrix that is not valid."""
    is_cell = isinstance(values, np.ndarray) and values.dtype == object
    for matrix in values.ravel() if is_cell else [values]:
        fault = sparse_fault(matrix) if is_sparse(matrix) else ""
        if fault:
            raise DataFileError(
                f"{name!r} in {file} is not a valid sparse matrix: {fault}. The file is damaged: "
                "save it again."
            )


def describe_views(reading: Reading) -> str:
    """Describe the views in a few words: source, number, samples and features."""
    sizes = ", ".join(str(view.shape[1]) for view in reading.views.values())
    n_views = len(reading.views)
    text = (
        f"{reading.source}: {n_views} view{'' if n_views == 1 else 's'} of {reading.n_samples} "
        f"samples ({sizes} features)"
    )
    if reading.graphs:
        text += f"; precomputed graphs: {', '.join(reading.graphs)}"
    return text


def missing_notes(views: MultiView) -> list[str]:
    """Return notes on samples that lack a view and on single missing values."""
    notes = []
    n_lacking = dict(zip(views.names, (~views.present).sum(axis=0).tolist(), strict=True))
    lacking = [
        f"{count} of {len(views)} samples lack view {name}"
        for name, count in n_lacking.items()
        if count
    ]
    if lacking:
        notes.append(f"{', '.join(lacking)}; they are kept and use their other views.")
    n_broken = {name: _n_incomplete_rows(views, name) for name in views.names}
    broken = [
        f"{count} row{'' if count == 1 else 's'} of view {name}"
        for name, count in n_broken.items()
        if count
    ]
    if broken:
        notes.append(f"Single values are missing in {', '.join(broken)}; they will be imputed.")
    return notes


def _n_incomplete_rows(views: MultiView, name: str) -> int:
    view = views[name]
    if isinstance(view, MixedTable):
        return int(rows_lacking_values(view).sum())
    rows = views.nonfinite_rows(name)
    return int(views.present[rows, views.names.index(name)].sum())


def view_notes(views: Mapping[str, View]) -> list[str]:
    """Return notes on identical views and on views of integers."""
    notes = [
        f"Views {_listed(names)} are identical." for names in _identical(views) if len(names) > 1
    ]
    narrow = [name for name, view in views.items() if view.dtype.kind in "iu"]
    if narrow:
        dtypes = sorted({str(views[name].dtype) for name in narrow})
        notes.append(
            f"Stored as {'/'.join(dtypes)}, cast before arithmetic: {shown_names(narrow)}."
        )
    return notes


def _identical(views: Mapping[str, View]) -> list[list[str]]:
    """Group the names of identical views; only those of the same first row are compared."""
    groups: list[list[str]] = []
    alike: dict[Any, list[list[str]]] = {}
    for name, view in views.items():
        first = view[[0]].toarray() if isinstance(view, sparse.csr_array) else view[:1]
        key = view.shape, (first.astype(np.float64) + 0.0).tobytes()  # -0.0 becomes 0.0
        for group in alike.setdefault(key, []):
            if equal_views(view, views[group[0]]):
                group.append(name)
                break
        else:
            alike[key].append([name])
            groups.append(alike[key][-1])
    return groups


def _listed(names: Sequence[str]) -> str:
    """Join names without quotes: a, b and c, or the first ones and the number of the others."""
    if len(names) > N_SHOWN:
        return shown_names(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"
