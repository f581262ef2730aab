"""PerView: apply scikit-learn transformers to the views of a `MultiView`."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from manyview.data.coerce import as_matrix
from manyview.data.cross_validation import TransductiveViews
from manyview.data.labels import UNKNOWN, check_labels
from manyview.data.mixed_table import MixedTable
from manyview.data.rows import scatter_rows
from manyview.data.views import MultiView, check_views
from manyview.errors import InputError
from manyview.validation import check_choice


class PerView(TransformerMixin, BaseEstimator):
    """Apply one scikit-learn transformer to every view, or a different one to each.

    Each view gets its own copy, fitted on the samples that have the view; samples that lack it
    still lack it in the result. Graphs, and views that a dict does not name, do not change. The
    result is a `MultiView`, so a method can follow in a `Pipeline`. A view whose columns are not
    all numbers reaches its transformer as a pandas frame, as skrub's TableVectorizer takes it.

    Parameters
    ----------
    transformer
        A transformer for all feature views, or a dict of view name -> transformer. Parameters are
        set as in a `Pipeline`: `transformer__n_components`, or with a dict `rna__n_components`.
    with_labels
        Whether to fit on the labeled samples only, with their labels, as supervised feature
        selection requires; otherwise on all samples, without labels.

    Attributes
    ----------
    transformers_ : dict of view -> fitted transformer
    view_names_, columns_ : names of the views of the fit, and of their columns

    Examples
    --------
    >>> from sklearn.decomposition import PCA
    >>> from sklearn.preprocessing import StandardScaler
    >>> views = MultiView({"shape": np.arange(12.0).reshape(4, 3), "color": np.eye(4)})
    >>> PerView(StandardScaler()).fit_transform(views)
    MultiView(4 samples; shape: 3, color: 4)
    >>> PerView({"color": PCA(2)}).fit_transform(views)
    MultiView(4 samples; shape: 3, color: 2)
    """

    def __init__(self, transformer: Any, *, with_labels: bool = False) -> None:
        self.transformer = transformer
        self.with_labels = with_labels

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; with `deep`, those of the transformers too."""
        params: dict[str, Any] = super().get_params(deep)
        if deep and isinstance(self.transformer, Mapping):
            for view, transformer in self.transformer.items():
                params[view] = transformer
                for name, value in transformer.get_params().items():
                    params[f"{view}__{name}"] = value
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters; `rna__n_components` belongs to the transformer of view `rna`."""
        for name in ("transformer", "with_labels"):
            if name in params:
                setattr(self, name, params.pop(name))
        if not isinstance(self.transformer, Mapping):
            super().set_params(**params)
            return self
        changed = dict(self.transformer)
        for name, value in params.items():
            view, is_deep, own = name.partition("__")
            check_choice("a parameter of PerView", view, (*changed, "transformer", "with_labels"))
            if is_deep:
                changed[view].set_params(**{own: value})
            else:
                changed[view] = value
        self.transformer = changed
        return self

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit a copy of the transformer on each view, from the samples that have it."""
        views = self._check_views(X)
        self.view_names_, self.columns_ = list(views.names), dict(views.columns)
        by_view = self.transformer
        if not isinstance(by_view, Mapping):
            by_view = dict.fromkeys(views.feature_names, self.transformer)
        for name in by_view:
            check_choice("a view of PerView", name, views.feature_names)
        y_encoded = None
        if self.with_labels:
            _, y_encoded = check_labels(
                X.expand_labels(y) if isinstance(X, TransductiveViews) else y, len(views)
            )
        self.transformers_ = {}
        for name, transformer in by_view.items():
            rows = _rows_of(views, name)
            if y_encoded is not None:
                rows = rows[y_encoded[rows] != UNKNOWN]
            own = None if y_encoded is None else y_encoded[rows]
            self.transformers_[name] = clone(transformer).fit(_table(views, name, rows), own)
        return self

    def transform(self, X: Any) -> MultiView | TransductiveViews:
        """Transform each view; `TransductiveViews` give `TransductiveViews`."""
        check_is_fitted(self)
        views = self._check_views(X)
        if set(views.names) != set(self.view_names_):
            raise InputError(
                f"views must be those of the fit ({', '.join(self.view_names_)}); "
                f"got {', '.join(views.names)}."
            )
        views = views.with_columns_as(self.columns_)
        changed, columns = {}, {}
        for name, transformer in self.transformers_.items():
            rows = _rows_of(views, name)
            if not len(rows):
                rows = np.arange(1)  # one row, for the number of columns
            values = as_matrix(transformer.transform(_table(views, name, rows)), name)
            changed[name] = scatter_rows(values, rows, len(views))
            if hasattr(transformer, "get_feature_names_out"):
                named = transformer.get_feature_names_out(self.columns_.get(name))
                columns[name] = [str(column) for column in named]
        result = views.with_views(changed, columns)
        return X.with_views(result) if isinstance(X, TransductiveViews) else result

    def set_output(self, *, transform: str | None = None) -> Self:
        """Do nothing: a `Pipeline` calls this for each step; the result stays a `MultiView`."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "transformers_")

    def _check_views(self, X: Any) -> MultiView:
        return check_views(X.views if isinstance(X, TransductiveViews) else X, may_lack_values=True)


def _table(views: MultiView, name: str, rows: np.ndarray) -> Any:
    """Return rows of a view, a data frame if its columns are not all numbers."""
    table = views[name][rows]
    return table.to_frame() if isinstance(table, MixedTable) else table


def _rows_of(views: MultiView, name: str) -> np.ndarray:
    rows = views.rows_with(name)
    return np.arange(len(views)) if rows is None else rows
