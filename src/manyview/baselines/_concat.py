"""The scaled views side by side: one wide table for methods that know of no views."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from scipy import sparse

from manyview.data.network_input import side_by_side
from manyview.data.scaling import Scaling, ViewScaler, fit_scalers, scale_views
from manyview.data.views import MultiView, View


@dataclass(frozen=True)
class JoinedViews:
    """How the views of a fit become one table, remembered for new samples.

    Attributes
    ----------
    scalers
        Scaling of each view, by its name, in the order of the fit.
    is_sparse
        Whether the table of the fit was sparse; that of new samples is then too.
    """

    scalers: dict[str, ViewScaler]
    is_sparse: bool

    def __call__(self, views: MultiView) -> View:
        """Scale the views as learned and put them side by side."""
        table = _table(views, self.scalers)
        if self.is_sparse:
            return sparse.csr_array(table)
        return table.toarray() if isinstance(table, sparse.csr_array) else table


def join_views(views: MultiView, scaling: Scaling) -> tuple[JoinedViews, View]:
    """Learn how to scale the views and put them side by side: [sample, all features]."""
    scalers = fit_scalers(views, scaling)
    table = _table(views, scalers)
    return JoinedViews(scalers, isinstance(table, sparse.csr_array)), table


@contextmanager
def few_labels_a_class() -> Iterator[None]:
    """Keep scikit-learn from wondering whether so many classes are meant: they are."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The number of unique classes")
        yield


def _table(views: MultiView, scalers: dict[str, ViewScaler]) -> View:
    return side_by_side(list(scale_views(views, scalers).values()))
