"""The scaling that a fit used in each view, and advice on what it did not try."""

from typing import Any

from manyview.base.classifier import MultiViewClassifier
from manyview.baselines.bases.baseline import Baseline
from manyview.data.imputing import complete_rows
from manyview.data.label_values import shown_names
from manyview.data.scaling import SCALINGS, is_mostly_zeros, scaling_by_view, suggest_scaling
from manyview.data.views import MultiView
from manyview.graphs.scaling_choice import AUTO, CANDIDATES


def scaling_used(model: MultiViewClassifier, views: MultiView) -> dict[str, str] | None:
    """Return the scaling of each feature view in the fit; None where a method has no scaling."""
    if model.scaling_ is not None:
        return dict(model.scaling_)
    return scaling_by_view(model.scaling, views) if isinstance(model, Baseline) else None


def scaling_advice(model: MultiViewClassifier, views: MultiView) -> tuple[str, ...]:
    """Return notes on views that call for a scaling that the fit neither used nor compared.

    Views with the same advice have one note.
    """
    used = scaling_used(model, views)
    if used is None:
        return ()
    asked: Any = getattr(model, "scaling", AUTO)
    asked_by_view = scaling_by_view(asked, views, (AUTO, *SCALINGS))
    names_by_advice: dict[str, list[str]] = {}
    for name, view in complete_rows(views).items():
        if view.dtype.kind not in "biuf" or name in model.column_kinds_:
            continue
        # "auto" compares two scalings, except where it has nothing to compare with.
        is_auto = asked_by_view[name] == AUTO
        has_compared = is_auto and (views.n_views > 1 or is_mostly_zeros(view))
        advice = suggest_scaling(view, CANDIDATES if has_compared else (used[name],))
        if advice is not None:
            names_by_advice.setdefault(advice, []).append(name)
    return tuple(
        f"{'View' if len(names) == 1 else 'Each of views'} {shown_names(names)}: {advice}."
        for advice, names in names_by_advice.items()
    )
