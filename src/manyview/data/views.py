"""MultiView: several descriptions of the same samples, indexed by row like one array."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from manyview.data.coerce import as_matrix, given_mask, open_views
from manyview.errors import InputError

View = np.ndarray | sparse.csr_array
Rows = Any  # whatever numpy accepts as a row index
BLOCK_BYTES = 2**26  # of a view brought to float64 at a time


class MultiView:
    """Named views of the same samples, in the same order.

    Rows are taken over all views at once, so scikit-learn's `cross_val_score` and
    `GridSearchCV` work on it unchanged.

    A sample may lack whole views: where `present` says so, or where its row in a view is all NaN.
    What such a row holds is never looked at.

    Parameters
    ----------
    views
        A dict of name -> view, a list or tuple of views (named `view1`, `view2`, ...),
        one 2-D array (one view), a data frame whose columns have two levels (the view's name and
        the column's), a MuData (each part's X is a view, observations absent from a part lack
        it), an AnnData, or another `MultiView`. A view is a 2-D array, a scipy sparse matrix or
        a data frame of pandas or polars, samples in rows.
    graphs
        Names of the views that are graphs: square, entry [i, j] the weight of the edge
        between samples i and j. Rows taken from a graph keep all its columns, so a model
        fitted on some rows can find the edges of the others to them.
    columns
        Names of the columns of some views, by the view's name; data frames bring their own.
        With them, new samples may come with their columns in another order.
    present
        Which samples have which views: booleans [sample, view], or a dict of some views' names
        -> booleans [sample]. None where all have all.

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
        self._views: dict[str, View]
        self.graph_names: frozenset[str]
        self.positions: np.ndarray
        self.n_original: int
        self.columns: dict[str, tuple[str, ...]]
        self._mask: np.ndarray | None = None  # as given; rows of NaN are found when asked for
        self._unfinite: dict[str, np.ndarray] = {}
        if isinstance(views, MultiView):
            self._views = dict(views.items())
            self.graph_names = frozenset(views.graph_names | set(graphs))
            self.positions, self.n_original = views.positions, views.n_original
            self.columns = dict(views.columns)
            self._mask, self._unfinite = views._mask, views._unfinite
        else:
            given = open_views(views)
            self._views = {name: as_matrix(view, name) for name, view in given.views.items()}
            self.columns = dict(given.columns)
            self.graph_names = frozenset(graphs)
            self._check_same_samples()
            n_samples = len(self)
            # Where each sample stood in the set it was first given with: graph columns.
            self.positions, self.n_original = np.arange(n_samples), n_samples
            self._mask = given_mask(given.present, self.names, n_samples)
        self.columns.update({name: tuple(names) for name, names in (columns or {}).items()})
        mask = given_mask(present, self.names, len(self))
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
        """The views' names, in order."""
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
            rows = self.unfinite_rows(name)
            present[rows[_is_all_nan(view, rows)], number] = False
        return present

    def rows_with(self, name: str) -> np.ndarray | None:
        """Rows of the samples that have a view; None where all have it."""
        present = self.present[:, self.names.index(name)]
        return None if present.all() else np.flatnonzero(present)

    def unfinite_rows(self, name: str) -> np.ndarray:
        """Rows of a view that hold NaN or infinity, whether the samples have it or not."""
        if name not in self._unfinite:
            self._unfinite[name] = _unfinite_rows(self._views[name])
        return self._unfinite[name]

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
        taken.positions, taken.n_original = self.positions[rows], self.n_original
        taken._mask, taken._unfinite = None if self._mask is None else self._mask[rows], {}
        return taken

    def with_views(
        self, views: Mapping[str, View], columns: Mapping[str, Sequence[str]] | None = None
    ) -> "MultiView":
        """Put other values in the place of some views; who has which view stays.

        `columns` names the columns of these; without it they keep the names they had.
        """
        changed = MultiView(self, present=self.present)
        changed._views.update(views)
        changed._unfinite = {}
        if columns is not None:
            kept = {name: own for name, own in self.columns.items() if name not in views}
            changed.columns = kept | {name: tuple(own) for name, own in columns.items()}
        return changed

    def with_columns_as(self, columns: Mapping[str, Sequence[str]]) -> "MultiView":
        """Put columns into the given order, by name; views without names stay as they are."""
        ordered = MultiView(self)
        for name, wanted in columns.items():
            given = self.columns.get(name, tuple(wanted))
            if given == tuple(wanted):
                continue
            absent = [column for column in wanted if column not in given]
            if absent:
                raise InputError(
                    f"view {name!r} must have the columns of the fit; it lacks {len(absent)}: "
                    f"{', '.join(absent[:3])}{', ...' if len(absent) > 3 else ''}."
                )
            order = [given.index(column) for column in wanted]
            ordered._views[name] = self._views[name][:, order]
            ordered.columns[name] = tuple(wanted)
        return ordered

    def __repr__(self) -> str:
        columns = ", ".join(
            f"{name}: {'graph' if name in self.graph_names else view.shape[1]}"
            for name, view in self._views.items()
        )
        return f"MultiView({len(self)} samples; {columns})"


def check_views(
    views: Any, *, may_lack_values: bool = False, sample_names: Sequence[str] | None = None
) -> MultiView:
    """Turn what a user calls views into a checked `MultiView`.

    Every view is numeric, two-dimensional and not empty, and all hold the same number of
    samples. Samples may lack whole views, but each has one, and each view has a sample. What is
    there is finite; with `may_lack_values` single values may be NaN. `sample_names` are for
    errors; without them samples are named by their rows.
    """
    checked = views if isinstance(views, MultiView) else MultiView(views)
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
    _check_present(checked, sample_names)
    for name in checked.names:
        _check_finite(checked, name, may_lack_values)
    return checked


def row_blocks(view: View, n_bytes: int = BLOCK_BYTES) -> Iterator[slice]:
    """Cut the rows of a view, or the values of a vector, into blocks of `n_bytes` in float64.

    Examples
    --------
    >>> import numpy as np
    >>> list(row_blocks(np.zeros((5, 10), dtype=np.float32), n_bytes=160))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    n_rows = view.shape[0]
    n_values = 2 * view.nnz if isinstance(view, sparse.csr_array) else view.size
    block = max(1, n_bytes * n_rows // max(8 * n_values, 1))
    for start in range(0, n_rows, block):
        yield slice(start, min(start + block, n_rows))


def _check_present(views: MultiView, sample_names: Sequence[str] | None) -> None:
    lacks_all = np.flatnonzero(~views.present.any(axis=1))
    if len(lacks_all):
        first = lacks_all[0]
        named = f"row {first}" if sample_names is None else f"sample {sample_names[first]!r}"
        raise InputError(
            f"every sample must have at least one view; {len(lacks_all)} of {len(views)} "
            f"lack all (their rows are NaN or masked), the first is {named}. Remove these samples."
        )


def _check_finite(views: MultiView, name: str, may_lack_values: bool) -> None:
    rows = views.unfinite_rows(name)
    bad = rows[views.present[rows, views.names.index(name)]]
    if not len(bad):
        return
    values = views[name][bad]
    values = values.data if isinstance(values, sparse.csr_array) else values
    is_nan = bool(np.isnan(values).any())
    if may_lack_values and not np.isinf(values).any():
        return
    raise InputError(
        f"view {name!r} holds {'NaN' if is_nan else 'infinity'} (NaN or inf) in {len(bad)} of "
        f"{len(views)} rows, the first is row {bad[0]}. Every value must be finite: remove or "
        "fill these rows"
        + (
            ", or let mgcn-dns fill single values with missing='impute'. A row that is NaN "
            "throughout is a sample that lacks the view."
            if is_nan
            else "."
        )
    )


def _unfinite_rows(view: View) -> np.ndarray:
    """Rows that hold NaN or infinity, ascending."""
    values = view.data if isinstance(view, sparse.csr_array) else view
    nobody = np.empty(0, dtype=np.int64)
    if values.dtype.kind != "f":
        return nobody
    found = [nobody]
    for block in row_blocks(values):
        is_finite = np.isfinite(values[block])
        if not is_finite.all():
            found.append(
                block.start + np.flatnonzero(~is_finite.reshape(len(is_finite), -1).all(1))
            )
    places = np.concatenate(found)
    if isinstance(view, sparse.csr_array):
        places = np.unique(np.searchsorted(view.indptr, places, side="right") - 1)
    return places


def _is_all_nan(view: View, rows: np.ndarray) -> np.ndarray:
    """Say of each of some rows whether all of its values are NaN."""
    if not len(rows):
        return np.empty(0, dtype=bool)
    chosen = view[rows]
    if isinstance(chosen, sparse.csr_array):
        is_nan = sparse.csr_array((np.isnan(chosen.data), chosen.indices, chosen.indptr))
        return np.asarray(np.asarray(is_nan.sum(axis=1)).ravel() == view.shape[1])
    return np.asarray(np.isnan(chosen).all(axis=1))
