"""MultiView: named views of the same samples, indexed by row like one array."""

import mmap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from manyview.data.alignment import take_rows
from manyview.data.coerce import coerce_view, name_views, presence_mask
from manyview.data.mixed_table import MixedTable
from manyview.data.notebook import views_html
from manyview.data.rows import MAX_MAGNITUDE, View, is_all_nan, nonfinite_rows
from manyview.errors import InputError, MissingValuesError

__all__ = ["MultiView", "Rows", "View", "check_views"]

MAX_VIEWS = 1000
Rows = Any  # whatever numpy accepts as a row index


class MultiView:
    """Named views of the same samples.

    Data frames are joined on their index, whatever the order of their rows; a sample that a frame
    does not hold lacks that view. Arrays, sparse matrices and polars frames have no index: their
    rows are the same samples in the same order.

    Indexing takes rows of all views at once, so scikit-learn's `cross_val_score` and
    `GridSearchCV` accept a `MultiView`.

    A sample may lack whole views: where `present` is False, or where its row in a view is all
    NaN. The values of such a row are never used.

    Parameters
    ----------
    views
        A dict of name -> view, a list or tuple of views (named `view1`, `view2`, ...),
        one 2-D array (one view), a data frame with two-level columns (view name, column name), a
        MuData (the X of each modality is a view; observations absent from a modality lack it), an
        AnnData, or another `MultiView`. A view is a 2-D array, a scipy sparse matrix, or a pandas
        or polars data frame, samples in rows.
    graphs
        Names of the views that are precomputed graphs: square matrices whose entry [i, j] is the
        weight of the edge between samples i and j. Rows of a graph keep all columns, so a model
        fitted on some rows can find their edges to the others.
    columns
        Column names by view name; data frames bring their own. Named columns of new samples may
        come in another order. Views with column names are tables: a fit encodes them column by
        column if one of them has a column that is not a number.
    present
        Which samples have which views: booleans [sample, view], or a dict of view name ->
        booleans [sample]. None means that every sample has every view.

    Examples
    --------
    >>> import numpy as np
    >>> views = MultiView({"shape": np.eye(3), "color": np.ones((3, 2))})
    >>> views
    MultiView(3 samples; shape: 3, color: 2)
    >>> len(views), views.shape, views.names
    (3, (3, 5), ('shape', 'color'))
    >>> views[[0, 2]]["color"]
    array([[1., 1.],
           [1., 1.]])
    """

    def __init__(
        self,
        views: Any,
        *,
        graphs: Iterable[str] = (),
        columns: Mapping[str, Sequence[str]] | None = None,
        present: Any = None,
    ) -> None:
        graphs = (graphs,) if isinstance(graphs, str) else tuple(graphs)
        self._views: dict[str, Any]  # View, or MixedTable until it is encoded
        self.graph_names: frozenset[str]
        self.positions: np.ndarray
        self.n_original: int
        self.columns: dict[str, tuple[str, ...]]
        self.sample_ids: np.ndarray | None  # [sample] index values; None where rows have no names
        self.table_names: frozenset[str]  # views as given whose columns have names
        self.encoded_names: frozenset[str] = frozenset()  # tables that were encoded by column
        self._mask: np.ndarray | None = None  # as passed; rows of NaN are found on first use
        self._nonfinite: dict[str, np.ndarray] = {}
        if isinstance(views, MultiView):
            self._views = dict(views.items())
            self.graph_names = frozenset(views.graph_names | set(graphs))
            self.positions, self.n_original = views.positions, views.n_original
            self.columns, self.sample_ids = dict(views.columns), views.sample_ids
            self.table_names, self.encoded_names = views.table_names, views.encoded_names
            self._mask, self._nonfinite = views._mask, views._nonfinite
        else:
            named = name_views(views)
            self._views = {name: coerce_view(view, name) for name, view in named.views.items()}
            for name, rows in (named.rows or {}).items():
                _check_graph_rows(rows, name, graphs)
                self._views[name] = take_rows(self._views[name], rows)
            self.sample_ids = named.sample_ids
            self.columns, self.table_names = dict(named.columns), frozenset(named.columns)
            self.graph_names = frozenset(graphs)
            self._check_same_samples()
            n_samples = len(self)
            # Position of each sample in the original set: its column in a graph.
            self.positions, self.n_original = np.arange(n_samples), n_samples
            self._mask = presence_mask(named.present, self.names, n_samples)
        self.columns.update({name: tuple(names) for name, names in (columns or {}).items()})
        self.table_names |= frozenset(columns or ())
        mask = presence_mask(present, self.names, len(self))
        if mask is not None:
            self._mask = mask if self._mask is None else self._mask & mask
        for name in self.graph_names - set(self._views):
            raise InputError(
                f"graphs must name views; got {name!r}, the views are {', '.join(self._views)}."
            )

    def _check_same_samples(self) -> None:
        names = self.names
        n_first = self._views[names[0]].shape[0]
        for name, view in self._views.items():
            if view.shape[0] != n_first:
                raise InputError(
                    f"view {name!r} has {view.shape[0]} samples but view {names[0]!r} has "
                    f"{n_first}. Every view must hold the same samples in the same order."
                )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the views, in order."""
        return tuple(self._views)

    @property
    def n_views(self) -> int:
        """Number of views, graphs included."""
        return len(self._views)

    @property
    def shape(self) -> tuple[int, int]:
        """(samples, columns of all feature views together)."""
        return len(self), sum(self[name].shape[1] for name in self.feature_names)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Names of the views that hold features, not graphs."""
        return tuple(name for name in self._views if name not in self.graph_names)

    @cached_property
    def present(self) -> np.ndarray:
        """[sample, view] booleans: True where the sample has the view."""
        shape = (len(self), self.n_views)
        present = np.ones(shape, dtype=bool) if self._mask is None else self._mask.copy()
        for number, (name, view) in enumerate(self._views.items()):
            rows = self.nonfinite_rows(name)
            present[rows[is_all_nan(view, rows)], number] = False
        return present

    def rows_with(self, name: str) -> np.ndarray | None:
        """Rows of the samples that have a view; None if all have it."""
        present = self.present[:, self.names.index(name)]
        return None if present.all() else np.flatnonzero(present)

    def nonfinite_rows(self, name: str) -> np.ndarray:
        """Rows of a view with NaN, infinity or values above 1e100, absent samples included."""
        if name not in self._nonfinite:
            self._nonfinite[name] = nonfinite_rows(self._views[name])
        return self._nonfinite[name]

    def items(self) -> Iterable[tuple[str, View]]:
        """(name, view) pairs, in order."""
        return self._views.items()

    def __len__(self) -> int:
        return int(next(iter(self._views.values())).shape[0])

    def __iter__(self) -> Iterator[View]:
        """Iterate over the views, as over a list of views."""
        return iter(self._views.values())

    def __getitem__(self, key: Rows) -> Any:
        """Return one view by its name, or the given rows of all views."""
        if isinstance(key, str):
            if key not in self._views:
                raise KeyError(f"no view is named {key!r}; the views are {', '.join(self.names)}")
            return self._views[key]
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
            key = key[0]  # scikit-learn indexes rows as X[rows, ...]
        if isinstance(key, (int, np.integer)):
            key = [key]
        rows = np.arange(len(self))[key]
        taken = object.__new__(MultiView)
        taken._views = {name: view[rows] for name, view in self._views.items()}
        taken.graph_names, taken.columns = self.graph_names, self.columns
        taken.table_names, taken.encoded_names = self.table_names, self.encoded_names
        taken.positions, taken.n_original = self.positions[rows], self.n_original
        taken.sample_ids = None if self.sample_ids is None else self.sample_ids[rows]
        taken._mask, taken._nonfinite = None if self._mask is None else self._mask[rows], {}
        return taken

    def with_views(
        self, views: Mapping[str, View], columns: Mapping[str, Sequence[str]] | None = None
    ) -> "MultiView":
        """Replace the values of some views, which are not tables any more; `present` stays.

        `columns` names their columns; without it they keep their names.
        """
        changed = MultiView(self, present=self.present)
        changed._views.update(views)
        changed.table_names = self.table_names - set(views)
        changed._nonfinite = {}
        if columns is not None:
            kept = {name: own for name, own in self.columns.items() if name not in views}
            changed.columns = kept | {name: tuple(own) for name, own in columns.items()}
        return changed

    def with_columns_as(self, columns: Mapping[str, Sequence[str]]) -> "MultiView":
        """Reorder columns by name; views without column names stay as they are."""
        ordered = MultiView(self)
        for name, wanted in columns.items():
            given = self.columns.get(name, tuple(wanted))
            if given == tuple(wanted):
                continue
            if len(set(given)) < len(given) or len(set(wanted)) < len(wanted):
                raise InputError(
                    f"view {name!r} must have the columns of the fit in the order of the fit, "
                    "since several have the same name; they differ. Give every column its own name."
                )
            match_columns(name, given, wanted)
            view = self._views[name]
            if isinstance(view, MixedTable):
                ordered._views[name] = view.select(wanted)
            else:
                ordered._views[name] = view[:, [given.index(column) for column in wanted]]
            ordered.columns[name] = tuple(wanted)
        return ordered

    def __repr__(self) -> str:
        columns = ", ".join(
            f"{name}: {'graph' if name in self.graph_names else view.shape[1]}"
            for name, view in self._views.items()
        )
        return f"MultiView({len(self)} samples; {columns})"

    _repr_html_ = views_html


def match_columns(view: str, given: Sequence[str], wanted: Sequence[str]) -> None:
    """Refuse a view that lacks columns of the fit or has others, by their names."""
    absent = [column for column in wanted if column not in given]
    if absent:
        raise InputError(
            f"view {view!r} must have the columns of the fit; it lacks {len(absent)}: "
            f"{', '.join(absent[:3])}{', ...' if len(absent) > 3 else ''}."
        )
    extra = [column for column in given if column not in wanted]
    if extra:
        raise InputError(
            f"view {view!r} must have the columns of the fit; {len(extra)} are new: "
            f"{', '.join(extra[:3])}{', ...' if len(extra) > 3 else ''}. Remove them."
        )


def _check_graph_rows(rows: np.ndarray, name: str, graphs: Sequence[str]) -> None:
    if name in graphs and not np.array_equal(rows, np.arange(len(rows))):
        raise InputError(
            f"view {name!r} is a graph: its rows and columns must hold the samples of the other "
            "views in their order. Reorder both by the index of the first view."
        )


def check_n_views(n_views: int) -> None:
    """Refuse more views than any data has; readers call this before they read them."""
    if n_views > MAX_VIEWS:
        raise InputError(
            f"data must have at most {MAX_VIEWS:,} views, since each gets a graph of its own; got "
            f"{n_views:,}. Join views of one kind side by side."
        )


def check_views(
    views: Any,
    *,
    may_lack_values: bool = False,
    sample_names: Sequence[str] | None = None,
    way_out: str = "",
) -> MultiView:
    """Convert the input of a user to a `MultiView`, and check it.

    Every view must be numeric, two-dimensional and not empty, and all must hold the same number
    of samples. Samples may lack views, but not all of them. Values must be finite and at most
    1e100; with `may_lack_values`, single values may be NaN. A memory-mapped array is not copied,
    and its file must be as long as when it was mapped. Errors name samples by
    `sample_names`, or else by row number; `way_out` ends the error about single NaNs (see
    `MissingValuesError`).
    """
    checked = views if isinstance(views, MultiView) else MultiView(views)
    check_n_views(checked.n_views)
    for name, view in checked.items():
        if view.shape[0] == 0:
            raise InputError(
                f"view {name!r} has 0 sample(s) (shape={view.shape}) "
                "while a minimum of 1 is required."
            )
        if view.shape[1] == 0:
            raise InputError(
                f"view {name!r} is empty: 0 feature(s) (shape={view.shape}) "
                "while a minimum of 1 is required."
            )
        _check_mapped(view, name)
    _check_present(checked, sample_names)
    for name in checked.names:
        _check_finite(checked, name, may_lack_values, way_out)
    return checked


def _check_mapped(view: Any, name: str) -> None:
    """Refuse an array in a file that was cut short; reading it would end the process."""
    array = view
    while isinstance(array, np.ndarray) and not isinstance(array, np.memmap):
        array = array.base
    mapped = getattr(array, "_mmap", None)
    if not isinstance(array, np.memmap) or mapped is None:
        return
    # Of the file that was opened, whatever has its name now.
    end = array.offset - array.offset % mmap.ALLOCATIONGRANULARITY + len(mapped)
    if mapped.size() < end:
        raise InputError(
            f"the file of view {name!r} must not become shorter after it was read; it has "
            f"{mapped.size():,} bytes instead of {end:,}. Read it again, and write other data to "
            "another file."
        )


def _check_present(views: MultiView, sample_names: Sequence[str] | None) -> None:
    lacks_all = np.flatnonzero(~views.present.any(axis=1))
    if len(lacks_all):
        first = lacks_all[0]
        named = f"row {first}" if sample_names is None else f"sample {sample_names[first]!r}"
        raise InputError(
            f"every sample must have at least one view; {len(lacks_all)} of {len(views)} "
            f"lack all (their rows are NaN or masked), the first is {named}. Remove these samples."
        )


def _check_finite(views: MultiView, name: str, may_lack_values: bool, way_out: str) -> None:
    rows = views.nonfinite_rows(name)
    bad = rows[views.present[rows, views.names.index(name)]]
    if not len(bad):
        return
    values = views[name][bad]
    values = values.data if isinstance(values, sparse.csr_array) else values
    is_nan, is_infinite = bool(np.isnan(values).any()), bool(np.isinf(values).any())
    largest = float(np.max(np.abs(values), where=np.isfinite(values), initial=0.0))
    if largest > MAX_MAGNITUDE and not is_infinite:
        raise InputError(
            f"view {name!r} holds values up to {largest:.3g} in magnitude, the first in row "
            f"{bad[0]}. Values must be at most {MAX_MAGNITUDE:g}, so that their squares can be "
            "computed: divide them, or take their logarithm."
        )
    if may_lack_values and not is_infinite:
        return
    problem = (
        f"view {name!r} holds {'NaN' if is_nan else 'infinity'} (NaN or inf) in {len(bad)} of "
        f"{len(views)} rows, the first is row {bad[0]}. Every value must be finite."
    )
    if np.isinf(values).any():
        raise InputError(f"{problem} Fill or remove these rows.")
    problem += " A row of only NaN is a sample that lacks the view."
    raise MissingValuesError(problem, way_out=way_out)
