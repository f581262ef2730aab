"""The scaled views concatenated to one table, for methods that do not distinguish views."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar

from scipy import sparse

from manyview.baselines.bases.baseline import Baseline
from manyview.data.network_input import side_by_side
from manyview.data.scaling import Scaling, ViewScaler, fit_scalers, scale_views
from manyview.data.views import MultiView, View


@dataclass(frozen=True)
class ViewConcatenator:
    """Scale and concatenate the views of new samples like those of the fit."""

    scalers: dict[str, ViewScaler]  # scaler of each view, by name, in the order of the fit
    # whether the table of the fit was sparse; that of new samples is then sparse too
    is_sparse: bool

    @property
    def n_columns(self) -> int:
        """Number of columns of the table."""
        return sum(scaler.n_columns for scaler in self.scalers.values())

    def __call__(self, views: MultiView) -> View:
        """Return the scaled views as one table: [sample, all features]."""
        table = _table(views, self.scalers)
        if self.is_sparse:
            return sparse.csr_array(table)
        return table.toarray() if isinstance(table, sparse.csr_array) else table


@dataclass(kw_only=True, eq=False, repr=False)
class ConcatenatedViewsClassifier(Baseline):
    """Base of the methods on the concatenated views; `Baseline` documents their `scaling`."""

    record_types: ClassVar[tuple[type, ...]] = (ViewConcatenator, ViewScaler)
    takes_graphs: ClassVar[bool] = False

    def _concatenate(self, views: MultiView) -> View:
        """Scale and concatenate the views of a fit; set `concatenator_` for new samples."""
        self.concatenator_, table = concatenate_views(views, self.scaling)
        return table


def concatenate_views(views: MultiView, scaling: Scaling) -> tuple[ViewConcatenator, View]:
    """Fit the scalers of the views and return the scaled views as one table."""
    scalers = fit_scalers(views, scaling)
    table = _table(views, scalers)
    return ViewConcatenator(scalers, isinstance(table, sparse.csr_array)), table


@contextmanager
def many_classes_allowed() -> Iterator[None]:
    """Silence scikit-learn's warning that the labels have many classes for so few samples."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The number of unique classes")
        yield


def _table(views: MultiView, scalers: dict[str, ViewScaler]) -> View:
    return side_by_side(list(scale_views(views, scalers).values()))
