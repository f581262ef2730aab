"""Checks of the views that a fit or a prediction is given."""

from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from manyview.base.method_card import MethodCard
from manyview.data.alignment import align_labels
from manyview.data.column_encoders import ENCODERS
from manyview.data.cross_validation import TransductiveViews
from manyview.data.encoding import TableEncoder, encode_views, fit_encoders
from manyview.data.imputing import fill_unknown, fit_fill_values
from manyview.data.label_values import shown_names
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
    missing: str = "error"  # single NaNs: "error" or "impute"; a parameter of all our methods
    fill_values_: dict[str, np.ndarray] | None = None
    encoders_: dict[str, TableEncoder] | None = None  # by encoded table
    input_record_types: ClassVar[tuple[type, ...]] = (TableEncoder, *ENCODERS.values())

    def _check_fit_views(self, given: Any) -> MultiView:
        """Check the views of a fit, and remember their names, columns and fill values."""
        views, table = self._checked_views(given, is_fit=True)
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
            self._check_columns(table, views)
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

    def _check_columns(self, table: Any, views: MultiView) -> None:
        """Check the columns of a single view as scikit-learn does, and name those that differ."""
        try:
            validate_data(self, table, reset=False, skip_check_array=True)
        except ValueError as error:
            fitted = [str(name) for own in self.columns_.values() for name in own]
            new = [str(name) for own in views.columns.values() for name in own]
            reason = " ".join(str(error).split()).rstrip(".")
            if fitted and new:
                added = [name for name in new if name not in fitted]
                lost = [name for name in fitted if name not in new]
                reason += f". Columns to leave out: {shown_names(added)}" if added else ""
                reason += f". Missing columns: {shown_names(lost)}" if lost else ""
            raise InputError(f"{reason}.") from error

    def check_values(self, given: Any) -> MultiView:
        """Check the views by this method's rule for missing cells."""
        check_choice("missing", self.missing, ("error", "impute"))
        return check_views(
            given,
            may_lack_values=self.missing == "impute",
            way_out=self.missing_cells_advice(),
        )

    @classmethod
    def missing_cells_advice(cls) -> str:
        """Return the way out for data with missing cells, one that this method has."""
        if "missing" not in cls._get_param_names():
            return f"Fill or remove these rows; {cls.__name__} does not fill single cells."
        return (
            "Fill or remove these rows, or fit with missing='impute' to fill single cells with "
            "their column's mean."
        )

    def _checked_views(self, given: Any, *, is_fit: bool = False) -> tuple[MultiView, Any]:
        """Return the encoded views, and what scikit-learn counts columns of.

        That is a single frame as it is, else the views before they are encoded.
        """
        views = given if isinstance(given, MultiView) else MultiView(given)
        if is_fit:
            self.encoders_ = fit_encoders(views)
        encoded = self.check_values(encode_views(views, self.encoders_ or {}))
        is_frame = hasattr(given, "columns") and not isinstance(given, MultiView)
        return encoded, given if is_frame else views

    @property
    def column_kinds_(self) -> dict[str, dict[str, str]]:
        """Kind of each column, by view, for the tables that were encoded column by column."""
        return {name: encoder.kinds for name, encoder in (self.encoders_ or {}).items()}

    def _check_present(self, views: MultiView) -> None:
        """Refuse samples that lack views where the method cannot do without."""
        if views.present.all() or self.takes_missing_views:
            return
        lacking = [name for name in views.names if views.rows_with(name) is not None]
        n_incomplete = int((~views.present.all(axis=1)).sum())
        raise InputError(
            f"{self.card.title} needs every sample in every view, and {n_incomplete} of "
            f"{len(views)} samples lack one ({', '.join(lacking)}). Use manyview, mgcn-dns, "
            "gcn-fusion, ssgcn, grand, logistic-regression, random-forest or "
            "hist-gradient-boosting, which accept samples that lack views, or remove them."
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


def check_sample_weight(
    given: Any, samples: Any, y_encoded: np.ndarray, sample_ids: np.ndarray | None
) -> np.ndarray | None:
    """Return the weight of each sample of a fit: [sample]; None without weights.

    Parameters
    ----------
    given
        One number per row of `samples`; with an index, matched to the samples by it.
    samples
        What the fit was given; rows of `TransductiveViews` are some of its samples.
    y_encoded
        [sample] class numbers; every class needs a labeled sample of a weight above 0.
    sample_ids
        Names of the samples of the fit.
    """
    if given is None:
        return None
    rows = samples.rows if isinstance(samples, TransductiveViews) else np.arange(len(y_encoded))
    ids = None if sample_ids is None else sample_ids[rows]
    try:
        values = np.asarray(align_labels(given, ids), dtype=np.float64)
    except (TypeError, ValueError):
        values = np.full(1, np.nan)
    if values.shape != rows.shape or not (np.isfinite(values) & (values >= 0)).all():
        raise InputError(
            f"sample_weight must hold one number of at least 0 per sample, {len(rows):,} in all.",
            parameter="sample_weight",
        )
    weights = np.zeros(len(y_encoded))
    weights[rows] = values
    known = y_encoded != UNKNOWN
    totals = np.bincount(y_encoded[known], weights[known])
    if not (totals > 0).all():
        raise InputError(
            "sample_weight must not be zero for all labeled samples of a class; it is for "
            f"{int((totals <= 0).sum())} of {len(totals)} classes. Mark labels that should not "
            "count as unknown instead.",
            parameter="sample_weight",
        )
    return weights
