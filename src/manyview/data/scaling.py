"""Scale each view, with parameters learned at fit and reused for new samples."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from manyview.data.ranks import column_ranks, fit_quantiles
from manyview.data.rows import row_blocks, scatter_rows
from manyview.data.views import MultiView, View
from manyview.errors import InputError
from manyview.validation import check_choice

SCALINGS = ("unit", "standard", "columns", "rank", "rows", "tfidf", "none")
Scaling = str | Sequence[str] | Mapping[str, str]  # for all views, one per view, or by view name

# Beyond these ratios a single column decides the direction of every row.
MAX_SPREAD_RATIO = 100.0  # standard deviation of a column over the median of all columns
MAX_OFFSET_RATIO = 100.0  # mean of a column over its own standard deviation
SPARSE_BELOW = 0.1  # fraction of nonzero entries
CONSTANT = 1e-7  # a standard deviation below this fraction of the mean is rounding
MAX_UNSCALED = 1e15  # sums of squares stay within single precision
ROW_EPSILON = 1e-8  # added to the standard deviation of each row


@dataclass(frozen=True)
class ViewScaler:
    """Transform the columns, and then the rows, of one view.

    Attributes
    ----------
    center
        [column] subtracted first; None for no centering, and always None for sparse views.
    factor
        [column] multiplied next.
    add_one
        Whether to add a column of ones. A single column has no direction; next to a column of
        ones its size becomes a direction.
    unit_rows
        Whether to scale each row to length 1 at the end; rows of zeros stay zeros.
    standard_rows
        Whether to scale each row to mean 0 and variance 1 at the end (see `standard_rows`).
    limited
        Whether to limit values to those that single precision can square; new samples may have
        values of any size.
    quantiles
        [quantile, column] of the fitted samples; values become their ranks among these first (see
        `column_ranks`). None for no ranks.
    """

    center: np.ndarray | None
    factor: np.ndarray
    add_one: bool
    unit_rows: bool
    standard_rows: bool = False
    limited: bool = False
    quantiles: np.ndarray | None = None

    @property
    def n_columns(self) -> int:
        """Number of columns of a scaled view."""
        return len(self.factor) + self.add_one

    def __call__(self, view: View) -> View:
        """Return the scaled view in float32, sparse if most entries are 0.

        Standardized rows are always dense: subtracting a row's mean fills its zeros. So are
        ranks.
        """
        if not (self.unit_rows or self.standard_rows or self.limited):
            _check_unscaled(view)
        is_filled = self.standard_rows or self.quantiles is not None
        if isinstance(view, sparse.csr_array) and not is_filled:
            return sparse.csr_array(self._scaled(view), dtype=np.float32)
        blocks = list(row_blocks(view))
        if len(blocks) <= 1:
            return self._compact(self._scaled(view).astype(np.float32))
        scaled = np.empty((view.shape[0], self.n_columns), dtype=np.float32)
        for rows in blocks:
            scaled[rows] = self._scaled(view[rows])
        return self._compact(scaled)

    def _scaled(self, view: View) -> Any:
        """Scale some rows, in float64."""
        scaled: Any = (
            view.astype(np.float64)
            if self.quantiles is None
            else column_ranks(view, self.quantiles)
        )
        if self.center is not None:
            scaled = scaled - self.center
        if isinstance(scaled, sparse.csr_array):
            scaled = sparse.csr_array(scaled @ sparse.diags_array(self.factor))
            if self.limited:
                np.clip(scaled.data, -MAX_UNSCALED, MAX_UNSCALED, out=scaled.data)
            if self.add_one:
                ones = sparse.csr_array(np.ones((scaled.shape[0], 1)))
                scaled = sparse.csr_array(sparse.hstack([scaled, ones]))
        else:
            scaled = scaled * self.factor
            if self.limited:
                np.clip(scaled, -MAX_UNSCALED, MAX_UNSCALED, out=scaled)
            if self.add_one:
                scaled = np.column_stack([scaled, np.ones(len(scaled))])
        if self.standard_rows:
            return standard_rows(scaled)
        return unit_rows(scaled) if self.unit_rows else scaled

    def _compact(self, scaled: np.ndarray) -> View:
        if not self.standard_rows and is_mostly_zeros(scaled):
            return sparse.csr_array(scaled)
        return scaled


def fit_scaler(view: View, scaling: str = "unit") -> ViewScaler:
    """Learn how to scale a view.

    - "unit": rows to length 1. Columns that would dominate the others are adjusted first: constant
      columns are dropped, columns with a mean far above their standard deviation are centered,
      columns with more than 100 times the median standard deviation are scaled down to it.
    - "standard": columns to mean 0 and variance 1 (sparse views keep their zeros and are not
      centered), then rows to length 1.
    - "columns": columns to mean 0 and variance 1 as in "standard", divided by the root of their
      number, so that wide and narrow views have the same weight. Rows keep their length.
    - "rank": each value to its rank among those of its column in the fit, from -1 to 1, then rows
      to length 1. For raw counts over many orders of magnitude. Constant columns are dropped.
      Sparse views become dense.
    - "rows": each row to mean 0 and variance 1, for views whose columns share one unit. Needs two
      columns: a single one becomes zeros. Sparse views become dense.
    - "tfidf": columns weighted by inverse document frequency, then rows to length 1.
    - "none": no scaling.
    """
    n_columns = view.shape[1]
    ones = np.ones(n_columns)
    if scaling == "none":
        return ViewScaler(None, ones, add_one=False, unit_rows=False)
    if scaling == "rows":
        return ViewScaler(None, ones, add_one=False, unit_rows=False, standard_rows=True)
    if scaling == "tfidf":
        return ViewScaler(None, _inverse_document_frequency(view), add_one=False, unit_rows=True)
    if scaling == "rank":
        quantiles = fit_quantiles(view)
        factor = (quantiles[0] < quantiles[-1]).astype(np.float64)
        return ViewScaler(None, factor, add_one=n_columns == 1, unit_rows=True, quantiles=quantiles)
    mean, spread = _column_moments(view)
    varies = spread > CONSTANT * np.abs(mean)
    factor = varies.astype(np.float64)
    if scaling in ("standard", "columns") or n_columns == 1:
        factor[varies] /= spread[varies]
        center = None if isinstance(view, sparse.csr_array) else mean
        if scaling == "columns":
            factor /= np.sqrt(n_columns)
            return ViewScaler(center, factor, add_one=False, unit_rows=False, limited=True)
        return ViewScaler(center, factor, add_one=n_columns == 1, unit_rows=True)
    limit = MAX_SPREAD_RATIO * np.median(spread[varies]) if varies.any() else np.inf
    too_wide = spread > limit
    factor[too_wide] *= limit / MAX_SPREAD_RATIO / spread[too_wide]
    is_offset = varies & (np.abs(mean) > MAX_OFFSET_RATIO * spread)
    center = np.where(is_offset, mean, 0.0)
    needs_center = is_offset.any() and not isinstance(view, sparse.csr_array)
    return ViewScaler(center if needs_center else None, factor, add_one=False, unit_rows=True)


def fit_scalers(views: MultiView, scaling: Scaling) -> dict[str, ViewScaler]:
    """Learn how to scale every feature view, from the samples that have it."""
    kinds = scaling_by_view(scaling, views)
    return {name: fit_scaler(_present_rows(views, name), kind) for name, kind in kinds.items()}


def scale_views(views: MultiView, scalers: Mapping[str, ViewScaler]) -> dict[str, View]:
    """Apply fitted scalers to the feature views, in the order of the fit.

    Samples that lack a view get zeros in it.
    """
    scaled = {}
    for name, scaler in scalers.items():
        rows = views.rows_with(name)
        scaled[name] = scaler(_present_rows(views, name))
        if rows is not None:
            scaled[name] = scatter_rows(scaled[name], rows, len(views))
    return scaled


def scaling_by_view(
    scaling: Scaling, views: MultiView, choices: Sequence[str] = SCALINGS
) -> dict[str, str]:
    """Return the scaling of each feature view; every one must be among `choices`.

    Views that a dict leaves out are scaled by "unit". None is read as "none", which is how the
    command line parses that word.
    """
    names = views.feature_names
    if isinstance(scaling, Mapping):
        for name in scaling:
            check_choice("a name in scaling", name, names)
        by_view = {name: scaling.get(name, "unit") for name in names}
    elif isinstance(scaling, str) or scaling is None:
        by_view = dict.fromkeys(names, scaling)
    else:
        if len(scaling) != len(names):
            raise InputError(
                f"scaling must be one word, or one for each of the {len(names)} feature views; "
                f"got {len(scaling)}.",
                parameter="scaling",
            )
        by_view = dict(zip(names, scaling, strict=True))
    by_view = {name: "none" if kind is None else kind for name, kind in by_view.items()}
    for kind in by_view.values():
        check_choice("scaling", kind, choices)
    return by_view


def suggest_scaling(view: View, tried: Collection[str] = ("unit",)) -> str | None:
    """Suggest a scaling that was not tried if the values of a view call for one, in a clause."""
    mean, spread = _column_moments(view)
    varies = spread > CONSTANT * np.abs(mean)
    if not varies.any():
        return "all its columns are constant, so it cannot separate samples"
    values = view.data if isinstance(view, sparse.csr_array) else view
    is_sparse = np.count_nonzero(values) < SPARSE_BELOW * view.shape[0] * view.shape[1]
    is_count = values.min() >= 0 and all(
        np.array_equal(values[rows], np.floor(values[rows])) for rows in row_blocks(values)
    )
    if is_count and values.max() > 1 and is_sparse:
        if "tfidf" in tried:
            return None
        return "it holds mostly zeros and whole numbers, like word counts: try scaling 'tfidf'"
    if "standard" in tried:
        return None
    ratio = spread.max() / np.median(spread[varies])
    offset = np.median(np.abs(mean[varies]) / spread[varies])
    if ratio > 10 and view.shape[1] <= 256:
        return (
            f"its columns differ in size (the widest has {ratio:,.0f} times the median spread): "
            "try scaling 'standard'"
        )
    if offset > 10:
        return (
            f"its columns lie far from 0 (by {offset:,.0f} times their spread): "
            "try scaling 'standard'"
        )
    return None


def is_mostly_zeros(view: View) -> bool:
    """Return whether fewer than a tenth of the entries are nonzero."""
    n_nonzero = view.nnz if isinstance(view, sparse.csr_array) else np.count_nonzero(view)
    return bool(n_nonzero < SPARSE_BELOW * view.shape[0] * view.shape[1])


def unit_rows(view: View) -> View:
    """Scale each row to length 1; rows of zeros stay zeros."""
    if isinstance(view, sparse.csr_array):
        norms = sparse.linalg.norm(view, axis=1)
    else:
        norms = np.linalg.norm(view, axis=1)
    inverse = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    if isinstance(view, sparse.csr_array):
        return sparse.csr_array(sparse.diags_array(inverse) @ view)
    return np.asarray(view * inverse[:, None])


def standard_rows(view: View) -> np.ndarray:
    """Subtract each row's mean and divide by its standard deviation + 1e-8.

    The deviation divides by n - 1. Constant rows, and rows of a single column, become zeros.
    The result is dense and in float64.

    Examples
    --------
    >>> import numpy as np
    >>> standard_rows(np.array([[1.0, 2.0, 3.0], [7.0, 7.0, 7.0]])).round(6)
    array([[-1.,  0.,  1.],
           [ 0.,  0.,  0.]])
    """
    values = view.toarray() if isinstance(view, sparse.csr_array) else view
    values = values.astype(np.float64)
    # The mean of equal values may differ from them by rounding; the mean of zeros is exact.
    values -= values.min(axis=1, keepdims=True)
    values -= values.mean(axis=1, keepdims=True)
    n_free = max(values.shape[1] - 1, 1)
    spread = np.sqrt(np.einsum("ij,ij->i", values, values) / n_free)
    values /= spread[:, None] + ROW_EPSILON
    return values


def _check_unscaled(view: View) -> None:
    """Refuse values whose squares single precision cannot hold."""
    values = view.data if isinstance(view, sparse.csr_array) else view
    if not values.size:
        return
    largest = max(float(values.max()), -float(values.min()))
    if largest > MAX_UNSCALED:
        raise InputError(
            f"values must be at most {MAX_UNSCALED:g} in magnitude with scaling 'none', so that "
            f"their squares can be computed; a view has {largest:.3g}. Choose another scaling, "
            "or divide them.",
            parameter="scaling",
        )


def _present_rows(views: MultiView, name: str) -> View:
    rows = views.rows_with(name)
    view: View = views[name]
    return view if rows is None else view[rows]


def _column_moments(view: View) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean and standard deviation of each column, in float64."""
    if isinstance(view, sparse.csr_array):
        mean = np.asarray(view.mean(axis=0, dtype=np.float64)).ravel()
        square = np.asarray(view.astype(np.float64).power(2).mean(axis=0)).ravel()
        return mean, np.sqrt(np.maximum(square - mean**2, 0.0))
    mean = view.mean(axis=0, dtype=np.float64)
    blocks = list(row_blocks(view))
    if len(blocks) <= 1:
        return mean, view.std(axis=0, dtype=np.float64)
    square = np.zeros(view.shape[1])
    for rows in blocks:
        square += ((view[rows] - mean) ** 2).sum(axis=0)
    return mean, np.sqrt(square / view.shape[0])


def _inverse_document_frequency(view: View) -> np.ndarray:
    n_samples = view.shape[0]
    if isinstance(view, sparse.csr_array):
        nonzero = sparse.csr_array(view)
        n_documents = np.bincount(nonzero.indices[nonzero.data != 0], minlength=view.shape[1])
    else:
        n_documents = np.count_nonzero(view, axis=0)
    return np.asarray(np.log((1 + n_samples) / (1 + n_documents)) + 1)
