"""A table of all views, with a rule for samples that lack some of them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse

from manyview.baselines.bases.concatenated import ConcatenatedViewsClassifier
from manyview.data.scaling import ViewScaler
from manyview.data.views import MultiView, View
from manyview.distributed.world import ALONE, World


@dataclass(kw_only=True, eq=False, repr=False)
class TableClassifier(ConcatenatedViewsClassifier):
    """Base of the reference methods: one table, trained on its labeled rows.

    They are not methods of the paper, but what users of scikit-learn would try first. Unlabeled
    samples are not used in training, except by the scaling.

    Parameters
    ----------
    class_weight
        None, "balanced" (by the given labels), or a dict of class -> weight.
    """

    class_weight: str | Mapping[Any, float] | None = None

    takes_missing_views = True

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from the labeled samples, and label the others.

        Parameters
        ----------
        X, y
            As every method takes them.
        sample_weight
            How much each label counts, one number per sample; those of unlabeled samples do not
            matter. Multiplied with `class_weight`.
        """
        return self._fit_samples(X, y, sample_weight)

    def fit_held_out(
        self,
        views: MultiView,
        y_encoded: np.ndarray,
        classes: np.ndarray,
        parts: np.ndarray,
        world: World = ALONE,
    ) -> np.ndarray:
        """Fit to checked views; return predictions for labels that the fits did not see.

        Parameters
        ----------
        y_encoded
            [sample] class numbers, -1 where unknown.
        parts
            [sample] part in which a label is hidden, -1 for those that never are.
        world
            Processes that all make this fit; they may divide the predictions of all samples.

        Returns
        -------
        [sample, class], NaN for samples that were never hidden.
        """
        raise NotImplementedError

    def column_effects(self, views: MultiView, pair: tuple[int, int]) -> np.ndarray:
        """Return what each column adds to the log-odds of two classes of a sample: [column].

        That is the change when the column's value takes the place of the mean of its column.

        Parameters
        ----------
        views
            One checked sample.
        pair
            Class numbers.
        """
        raise NotImplementedError

    def column_importance(self) -> np.ndarray:
        """Return how much the classifier relies on each column, summing to 1: [column]."""
        raise NotImplementedError

    def column_places(self) -> list[tuple[str, int]]:
        """Return the view of each column, and its number in the view."""
        return [
            (name, number)
            for name, scaler in self.concatenator_.scalers.items()
            for number in range(scaler.n_columns)
        ]

    def _fill(self, table: View, views: MultiView, values: np.ndarray) -> View:
        """Put values, [column], where samples lack the view of a column."""
        return fill_absent(table, views, self.concatenator_.scalers, values)


def absent_blocks(
    views: MultiView, scalers: Mapping[str, ViewScaler]
) -> Iterator[tuple[np.ndarray, slice]]:
    """Yield the samples that lack a view and the view's columns, for views that samples lack."""
    start = 0
    for name, scaler in scalers.items():
        columns = slice(start, start + scaler.n_columns)
        start = columns.stop
        absent = np.flatnonzero(~views.present[:, views.names.index(name)])
        if len(absent):
            yield absent, columns


def fill_absent(
    table: View, views: MultiView, scalers: Mapping[str, ViewScaler], values: np.ndarray
) -> View:
    """Put values, [column], where samples lack a view; the table must hold zeros there."""
    blocks = list(absent_blocks(views, scalers))
    if not blocks:
        return table
    if not isinstance(table, sparse.csr_array):
        table = table.copy()
        for rows, columns in blocks:
            table[rows, columns] = values[columns]
        return table
    entries = [
        (
            np.tile(values[columns], len(rows)),
            np.repeat(rows, columns.stop - columns.start),
            np.tile(np.arange(columns.start, columns.stop), len(rows)),
        )
        for rows, columns in blocks
    ]
    filled, of_rows, of_columns = (np.concatenate(parts) for parts in zip(*entries, strict=True))
    added = sparse.csr_array((filled.astype(table.dtype), (of_rows, of_columns)), table.shape)
    return sparse.csr_array(table + added)


def present_means(table: View, views: MultiView, scalers: Mapping[str, ViewScaler]) -> np.ndarray:
    """Return the mean of each column over the samples that have its view: [column].

    The table must hold zeros where samples lack a view.
    """
    totals = np.asarray(table.sum(axis=0, dtype=np.float64)).ravel()
    n_present = np.full(len(totals), table.shape[0])
    for rows, columns in absent_blocks(views, scalers):
        n_present[columns] -= len(rows)
    return np.asarray(totals / np.maximum(n_present, 1))
