"""All views of a data set scaled, each its own way."""

from collections.abc import Mapping, Sequence

import numpy as np
from scipy import sparse

from manyview.data.scaling import SCALINGS, ViewScaler, fit_scaler
from manyview.data.views import MultiView, View
from manyview.errors import InputError, check_choice

Scaling = str | Sequence[str] | Mapping[str, str]


def fit_scalers(views: MultiView, scaling: Scaling) -> dict[str, ViewScaler]:
    """Learn how to scale every feature view, from the samples that have it."""
    kinds = scaling_by_view(scaling, views)
    return {name: fit_scaler(_present_rows(views, name), kind) for name, kind in kinds.items()}


def scale_views(views: MultiView, scalers: Mapping[str, ViewScaler]) -> dict[str, View]:
    """Scale every feature view as learned, in the order of the fit.

    Samples that lack a view get zeros in it, whatever their rows hold.
    """
    scaled = {}
    for name, scaler in scalers.items():
        rows = views.rows_with(name)
        scaled[name] = scaler(_present_rows(views, name))
        if rows is not None:
            scaled[name] = _among_zeros(scaled[name], rows, len(views))
    return scaled


def scaling_by_view(
    scaling: Scaling, views: MultiView, choices: Sequence[str] = SCALINGS
) -> dict[str, str]:
    """Name the scaling of each feature view from one word, a list, or a dict by name.

    None is "none", as the command line reads that word. `choices` are the words that may stand
    there.
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
                f"got {len(scaling)}."
            )
        by_view = dict(zip(names, scaling, strict=True))
    by_view = {name: "none" if kind is None else kind for name, kind in by_view.items()}
    for kind in by_view.values():
        check_choice("scaling", kind, choices)
    return by_view


def _present_rows(views: MultiView, name: str) -> View:
    rows = views.rows_with(name)
    view: View = views[name]
    return view if rows is None else view[rows]


def _among_zeros(scaled: View, rows: np.ndarray, n_samples: int) -> View:
    """Lay out some samples' rows among all samples, zeros elsewhere."""
    shape = (n_samples, scaled.shape[1])
    if isinstance(scaled, sparse.csr_array):
        lengths = np.zeros(n_samples + 1, dtype=scaled.indptr.dtype)
        lengths[rows + 1] = np.diff(scaled.indptr)
        return sparse.csr_array((scaled.data, scaled.indices, lengths.cumsum()), shape=shape)
    laid = np.zeros(shape, dtype=scaled.dtype)
    laid[rows] = scaled
    return laid
