"""Impute single NaNs with the mean of their column, learned at fit.

Samples that lack a whole view are not imputed: they are left out of that view.
"""

from collections.abc import Mapping

import numpy as np
from scipy import sparse

from manyview.data.mixed_table import MixedTable
from manyview.data.views import MultiView, View
from manyview.errors import InputError


def fit_fill_values(views: MultiView) -> dict[str, np.ndarray]:
    """Return the mean of the known values of each column [column], by feature view."""
    return {name: _known_means(views, name) for name in views.feature_names}


def fill_unknown(views: MultiView, fill_values: Mapping[str, np.ndarray]) -> MultiView:
    """Replace single NaNs by the column means of the fit.

    Examples
    --------
    >>> views = MultiView({"a": [[1.0, 2.0], [3.0, np.nan], [np.nan, np.nan]]})
    >>> fill_unknown(views, fit_fill_values(views))["a"]
    array([[ 1.,  2.],
           [ 3.,  2.],
           [nan, nan]])
    """
    filled = {}
    for name, means in fill_values.items():
        rows = _rows_to_fill(views, name)
        if len(rows):
            filled[name] = _filled(views[name], rows, means)
    return views.with_views(filled) if filled else views


def complete_rows(views: MultiView) -> dict[str, View]:
    """Return the rows of each view of numbers without missing values, where there are any."""
    complete = {}
    for name in views.feature_names:
        gone = ~views.present[:, views.names.index(name)]
        gone[views.nonfinite_rows(name)] = True
        view = views[name]
        if not isinstance(view, MixedTable):
            complete[name] = view[~gone] if gone.any() else view
    return {name: view for name, view in complete.items() if view.shape[0]}


def _rows_to_fill(views: MultiView, name: str) -> np.ndarray:
    rows = views.nonfinite_rows(name)
    return np.asarray(rows[views.present[rows, views.names.index(name)]])


def _known_means(views: MultiView, name: str) -> np.ndarray:
    rows = views.rows_with(name)
    view: View = views[name] if rows is None else views[name][rows]
    if not len(_rows_to_fill(views, name)):
        return np.asarray(view.mean(axis=0, dtype=np.float64)).ravel()
    if isinstance(view, sparse.csr_array):
        is_known = ~np.isnan(view.data)
        n_columns = view.shape[1]
        n_unknown = np.bincount(view.indices[~is_known], minlength=n_columns)
        values = np.where(is_known, view.data, 0.0)
        totals = np.bincount(view.indices, weights=values, minlength=n_columns)
        n_known = view.shape[0] - n_unknown
    else:
        n_known = (~np.isnan(view)).sum(axis=0)
        totals = np.nansum(view, axis=0, dtype=np.float64)
    if not n_known.all():
        column = int(np.flatnonzero(n_known == 0)[0])
        named = repr(views.columns[name][column]) if name in views.columns else str(column)
        raise InputError(
            f"view {name!r} must have at least one known value per column to impute; column "
            f"{named} has none. Drop the column."
        )
    return np.asarray(totals / n_known)


def _filled(view: View, rows: np.ndarray, means: np.ndarray) -> View:
    filled = view.copy()
    if isinstance(filled, sparse.csr_array):
        of_rows = np.repeat(np.arange(filled.shape[0]), np.diff(filled.indptr))
        is_unknown = np.isnan(filled.data) & np.isin(of_rows, rows)
        filled.data[is_unknown] = means[filled.indices[is_unknown]]
        return filled
    chosen = filled[rows]
    filled[rows] = np.where(np.isnan(chosen), means, chosen)
    return filled
