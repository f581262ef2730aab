"""All views of a data set scaled, each its own way."""

from collections.abc import Mapping, Sequence

from manyview.data.scaling import SCALINGS, ViewScaler, fit_scaler
from manyview.data.views import MultiView, View
from manyview.errors import InputError, check_choice

Scaling = str | Sequence[str] | Mapping[str, str]


def fit_scalers(views: MultiView, scaling: Scaling) -> dict[str, ViewScaler]:
    """Learn how to scale every feature view."""
    kinds = scaling_by_view(scaling, views)
    return {name: fit_scaler(views[name], kind) for name, kind in kinds.items()}


def scale_views(views: MultiView, scalers: Mapping[str, ViewScaler]) -> dict[str, View]:
    """Scale every feature view as learned, in the order of the fit."""
    return {name: scaler(views[name]) for name, scaler in scalers.items()}


def scaling_by_view(scaling: Scaling, views: MultiView) -> dict[str, str]:
    """Name the scaling of each feature view from one word, a list, or a dict by name.

    None is "none", as the command line reads that word.
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
        check_choice("scaling", kind, SCALINGS)
    return by_view
