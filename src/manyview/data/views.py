"""MultiView: several descriptions of the same samples, indexed by row like one array."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from manyview.errors import InputError, InputTypeError

View = np.ndarray | sparse.csr_array
Rows = Any  # whatever numpy accepts as a row index
BLOCK_BYTES = 2**26  # of a view brought to float64 at a time


class MultiView:
    """Named views of the same samples, in the same order.

    Rows are taken over all views at once, so scikit-learn's `cross_val_score` and
    `GridSearchCV` work on it unchanged.

    Parameters
    ----------
    views
        A dict of name -> view, a list or tuple of views (named `view1`, `view2`, ...),
        one 2-D array (one view), or another `MultiView`. A view is a 2-D array, a scipy
        sparse matrix or a data frame, samples in rows.
    graphs
        Names of the views that are graphs: square, entry [i, j] the weight of the edge
        between samples i and j. Rows taken from a graph keep all its columns, so a model
        fitted on some rows can find the edges of the others to them.
    columns
        Names of the columns of some views, by the view's name; data frames bring their own.
        With them, new samples may come with their columns in another order.

    Examples
    --------
    >>> import numpy as np
    >>> views = MultiView({"shape": np.eye(3), "colour": np.ones((3, 2))})
    >>> views
    MultiView(3 samples; shape: 3, colour: 2)
    >>> len(views), views.shape, views.names
    (3, (3, 5), ('shape', 'colour'))
    >>> views[[0, 2]]["colour"]
    array([[1., 1.],
           [1., 1.]])
    """

    def __init__(
        self,
        views: Any,
        *,
        graphs: Iterable[str] = (),
        columns: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        graphs = (graphs,) if isinstance(graphs, str) else tuple(graphs)
        self._views: dict[str, View]
        self.graph_names: frozenset[str]
        self.positions: np.ndarray
        self.n_original: int
        self.columns: dict[str, tuple[str, ...]]
        if isinstance(views, MultiView):
            self._views = dict(views.items())
            self.graph_names = frozenset(views.graph_names | set(graphs))
            self.positions, self.n_original = views.positions, views.n_original
            self.columns = dict(views.columns)
        else:
            given = _named_views(views)
            self._views = {name: _as_matrix(view, name) for name, view in given.items()}
            self.columns = {name: _column_names(v) for name, v in given.items() if _is_frame(v)}
            self.graph_names = frozenset(graphs)
            self._check_same_samples()
            n_samples = len(self)
            # Where each sample stood in the set it was first given with: graph columns.
            self.positions, self.n_original = np.arange(n_samples), n_samples
        self.columns.update({name: tuple(names) for name, names in (columns or {}).items()})
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
        return taken

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


def check_views(views: Any) -> MultiView:
    """Turn what a user calls views into a checked `MultiView`.

    Every view is numeric, finite, two-dimensional and not empty, and all hold the same
    number of samples.
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
        _check_finite(view, name)
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


def _check_finite(view: View, name: str) -> None:
    values = view.data if isinstance(view, sparse.csr_array) else view
    if values.dtype.kind != "f":
        return
    if all(np.isfinite(values[rows]).all() for rows in row_blocks(values)):
        return
    if isinstance(view, sparse.csr_array):
        rows = np.repeat(np.arange(view.shape[0]), np.diff(view.indptr))
        bad = np.unique(rows[~np.isfinite(view.data)])
    else:
        bad = np.flatnonzero(~np.isfinite(view).all(axis=1))
    kind = "NaN" if np.isnan(values).any() else "infinity"
    raise InputError(
        f"view {name!r} holds {kind} (NaN or inf) in {len(bad)} of {view.shape[0]} rows, "
        f"the first is row {bad[0]}. Every value must be finite: remove or fill these rows."
    )


def _named_views(views: Any) -> dict[str, Any]:
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


def _as_matrix(view: Any, name: str) -> View:
    if sparse.issparse(view):
        matrix = _as_csr(view)
        _check_numeric(matrix.dtype, name)
        return matrix
    if _is_frame(view):
        view = _frame_values(view, name)
    values = np.asarray(view)
    if values.ndim != 2:
        shape = "a scalar" if values.ndim == 0 else f"{values.ndim}-D of shape {values.shape}"
        raise InputError(
            f"view {name!r} must be 2-D, samples in rows; got {shape}. Reshape your data: "
            "one feature is array.reshape(-1, 1), one sample array.reshape(1, -1)."
        )
    if values.dtype == object:
        values = _object_values(values, name)
    _check_numeric(values.dtype, name)
    return values


def _as_csr(view: Any) -> sparse.csr_array:
    return sparse.csr_array(view)


def _check_numeric(dtype: np.dtype, name: str) -> None:
    if dtype.kind == "c":
        raise InputError(
            f"Complex data not supported: view {name!r} must be real; got dtype {dtype}. "
            "Give real and imaginary parts as two views."
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


def _is_frame(view: Any) -> bool:
    return hasattr(view, "columns") and hasattr(view, "to_numpy")


def _column_names(frame: Any) -> tuple[str, ...]:
    return tuple(str(column) for column in frame.columns)


def _frame_values(frame: Any, name: str) -> np.ndarray:
    wrong = []
    for column in frame.columns:
        values = np.asarray(frame[column])
        if values.dtype.kind in "fiub":
            continue
        try:
            values.astype(np.float64)
        except (TypeError, ValueError):
            wrong.append(str(column))
    if wrong:
        shown = ", ".join(repr(column) for column in wrong[:3]) + (
            ", ..." if len(wrong) > 3 else ""
        )
        raise InputError(
            f"view {name!r} must be numeric; got {len(wrong)} column(s) that are not: {shown}. "
            "Drop them or encode them as numbers."
        )
    values = np.asarray(frame.to_numpy())
    return values if values.dtype.kind in "fiub" else values.astype(np.float64)
