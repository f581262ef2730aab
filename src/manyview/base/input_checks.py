"""Checks of the views that a fit or a prediction is given."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from manyview.base.method_card import MethodCard
from manyview.data.imputing import fill_unknown, fit_fill_values
from manyview.data.labels import UNKNOWN
from manyview.data.views import MultiView, check_views
from manyview.errors import DataWarning, InputError, warn_user
from manyview.graphs.precomputed import check_precomputed_graph
from manyview.validation import check_choice


class InputChecksMixin(BaseEstimator):
    """Checks views, remembers those of the fit, and brings new ones in their form."""

    card: ClassVar[MethodCard]
    takes_graphs: ClassVar[bool] = True  # whether a view may be a precomputed graph
    takes_missing_views: ClassVar[bool] = False  # whether samples may lack views
    missing: str = "error"  # what becomes of single NaNs; a parameter where they can be filled in
    fill_values_: dict[str, np.ndarray] | None = None

    def _check_fit_views(self, given: Any) -> MultiView:
        """Check the views of a fit, and remember their names, columns and fill values."""
        views, table = self._checked_views(given)
        self.view_names_: list[str] = list(views.names)
        validate_data(self, table, reset=True, skip_check_array=True)
        self._refuse_graphs(views)
        self._check_present(views)
        self.n_original_ = views.n_original
        self.columns_ = {name: list(columns) for name, columns in views.columns.items()}
        self.n_features_by_view_ = {n: views[n].shape[1] for n in views.feature_names}
        self.fill_values_ = fit_fill_values(views) if self.missing == "impute" else None
        return fill_unknown(views, self.fill_values_ or {})

    def _check_new_views(self, given: Any) -> MultiView:
        """Check that the views of new samples are those of the fit, and bring them in its form."""
        views, table = self._checked_views(given)
        if len(self.view_names_) == 1:
            validate_data(self, table, reset=False, skip_check_array=True)
        if set(views.names) != set(self.view_names_):
            raise InputError(
                f"views must be those of the fit ({', '.join(self.view_names_)}); "
                f"got {', '.join(views.names)}."
            )
        graph_names = set(self.view_names_) - set(self.n_features_by_view_)
        views = MultiView(views, graphs=graph_names)
        self._check_present(views)
        views = views.with_columns_as(self.columns_)
        for name, n_columns in self.n_features_by_view_.items():
            if views[name].shape[1] != n_columns:
                raise InputError(
                    f"view {name!r} has {views[name].shape[1]} features, but was fitted "
                    f"with {n_columns}."
                )
        for name in graph_names:
            check_precomputed_graph(views, name, self.n_original_)
        return fill_unknown(views, self.fill_values_ or {})

    def _checked_views(self, given: Any) -> tuple[MultiView, Any]:
        """Return the views, and what scikit-learn counts columns of: a single frame as it is."""
        check_choice("missing", self.missing, ("error", "impute"))
        views = check_views(given, may_lack_values=self.missing == "impute")
        is_frame = hasattr(given, "columns") and not isinstance(given, MultiView)
        return views, given if is_frame else views

    def _check_present(self, views: MultiView) -> None:
        """Refuse samples that lack views where the method cannot do without."""
        if views.present.all() or self.takes_missing_views:
            return
        lacking = [name for name in views.names if views.rows_with(name) is not None]
        n_incomplete = int((~views.present.all(axis=1)).sum())
        raise InputError(
            f"{self.card.title} needs every sample in every view, and {n_incomplete} of "
            f"{len(views)} samples lack one ({', '.join(lacking)}). Use manyview, mgcn-dns, "
            "gcn-fusion or ssgcn, which accept samples that lack views, or remove them."
        )

    def _refuse_graphs(self, views: MultiView) -> None:
        if views.graph_names and not self.takes_graphs:
            first = next(name for name in views.names if name in views.graph_names)
            raise InputError(
                f"{self.card.title} needs features in every view, and view "
                f"{first!r} is a graph. Leave it out, or use a method "
                "that takes graphs, such as manyview."
            )


def check_views_are_seen(views: MultiView, y_encoded: np.ndarray) -> None:
    """Refuse a view that no sample has, and warn of one that no labeled sample has."""
    for name, present in zip(views.names, views.present.T, strict=True):
        if not present.any():
            raise InputError(
                f"view {name!r} is missing for all {len(views)} samples. Leave the view out."
            )
        if not present[y_encoded != UNKNOWN].any():
            warn_user(
                f"view {name!r} is missing for all labeled samples; it is used through the graph "
                "alone.",
                DataWarning,
            )
