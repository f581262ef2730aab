"""Where the samples of a fit lie in the columns of each view; `shift` compares new ones with it."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from manyview.data.rows import View, row_blocks
from manyview.data.views import MultiView

COMMON = 0.1  # fraction of the samples that differ from the others in a column that counts
THRESHOLD_ROWS, THRESHOLD_VALUES = (64, 128), 2**22  # what the thresholds are computed from


@dataclass(frozen=True)
class FittedRange:
    """Where the fitted samples lie in the columns of one view.

    Attributes
    ----------
    low, high
        [column] thresholds. About a quarter of the samples lie below `low`, and above `high`; in
        columns of two values, the samples of the smaller, and of the larger one.
    smallest, largest
        [column]
    n_below, n_above
        [class, column] number of samples beyond the thresholds, by predicted class.
    n_samples
        [class] number of samples that have the view, by predicted class.
    """

    low: np.ndarray
    high: np.ndarray
    smallest: np.ndarray
    largest: np.ndarray
    n_below: np.ndarray
    n_above: np.ndarray
    n_samples: np.ndarray

    def far_limits(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the values [column] below and above which a single sample is far outside.

        That is outside the range by more than w^2 / q, if the range is w and its middle half q
        wide: about 5 w for normal values, and more where rare values are large. Columns whose
        middle half is a single value have no limits.
        """
        width, middle = self.largest - self.smallest, self.high - self.low
        margin = np.full_like(width, np.inf)
        np.divide(width**2, middle, out=margin, where=middle > 0)
        return self.smallest - margin, self.largest + margin

    def compared_columns(self) -> np.ndarray:
        """Return a mask of the columns whose median p-value counts.

        Columns in which almost all samples are equal hardly show a shift, nor do columns of two
        values, such as encoded categories: they count if there are no others.
        """
        n_all = self.n_samples.sum()
        common = np.zeros(len(self.low), dtype=bool)
        for counts in (self.n_below, self.n_above):
            common |= np.abs(counts.sum(axis=0) / n_all - 0.5) <= 0.5 - COMMON
        has_two_values = (self.low == self.largest) & (self.high == self.smallest)
        for mask in (common & ~has_two_values, common):
            if mask.any():
                return np.asarray(mask)
        return np.ones(len(self.low), dtype=bool)


def fit_ranges(views: MultiView, y_encoded: np.ndarray, n_classes: int) -> dict[str, FittedRange]:
    """Record where the samples of a fit lie in every feature view, by predicted class."""
    parts = ((name, *present_rows(views, name, y_encoded)) for name in views.feature_names)
    return {name: fit_range(view, own, n_classes) for name, view, own in parts if len(own)}


def fit_range(view: View, y_encoded: np.ndarray, n_classes: int) -> FittedRange:
    """Record where samples lie in the columns of one view, by class.

    Examples
    --------
    >>> fitted = fit_range(np.array([[0.0], [0.0], [1.0], [5.0]]), np.array([0, 0, 1, 1]), 2)
    >>> fitted.high, fitted.n_above.tolist()
    (array([1.]), [[0], [1]])
    """
    low, high = _thresholds(view)
    smallest, largest = _bounds(view)
    members = (np.arange(n_classes)[:, None] == y_encoded).astype(np.float32)
    return FittedRange(
        low=low,
        high=high,
        smallest=smallest,
        largest=largest,
        n_below=count_beyond(view, low, members, is_above=False),
        n_above=count_beyond(view, high, members, is_above=True),
        n_samples=np.bincount(y_encoded, minlength=n_classes),
    )


def present_rows(views: MultiView, name: str, y_encoded: np.ndarray) -> tuple[View, np.ndarray]:
    """Return the rows of the samples that have a view, and their class numbers."""
    rows = views.rows_with(name)
    return (views[name], y_encoded) if rows is None else (views[name][rows], y_encoded[rows])


def count_beyond(
    view: View, threshold: np.ndarray, members: np.ndarray, *, is_above: bool
) -> np.ndarray:
    """Count the values beyond the threshold of their column, by class: [class, column].

    Parameters
    ----------
    members
        [class, sample] 1 where the sample is of the class, else 0.
    """
    compare = np.greater if is_above else np.less
    if isinstance(view, sparse.csr_array):
        # Count the zeros that are not stored as if all values were 0, and correct the others.
        of_zero = compare(0.0, threshold).astype(np.float32)
        data = compare(view.data, threshold[view.indices]) - of_zero[view.indices]
        stored = sparse.csr_array((data, view.indices, view.indptr), shape=view.shape)
        counts = members.sum(axis=1)[:, None] * of_zero + members @ stored
    else:
        counts = sum(
            members[:, rows] @ compare(view[rows], threshold).astype(np.float32)
            for rows in row_blocks(view)
        )
    return np.asarray(counts).round().astype(np.int32)


def _thresholds(view: View) -> tuple[np.ndarray, np.ndarray]:
    """Return values near the quartiles, from some rows: the samples beyond are counted anyway."""
    n_samples, n_columns = view.shape
    n_rows = min(n_samples, int(np.clip(THRESHOLD_VALUES // n_columns, *THRESHOLD_ROWS)))
    chosen = view[np.linspace(0, n_samples - 1, n_rows).astype(np.int64)]
    values = chosen.toarray() if isinstance(chosen, sparse.csr_array) else chosen
    values = np.sort(values.astype(np.float64), axis=0)
    smallest, largest = values[0], values[-1]
    low, high = values[n_rows // 4], values[n_rows - 1 - n_rows // 4]
    # Nothing lies above a quartile that is the largest value, as in columns of 0 and 1: then the
    # threshold is the next smaller value.
    above_smallest = np.where(values > smallest, values, np.inf).min(axis=0)
    below_largest = np.where(values < largest, values, -np.inf).max(axis=0)
    varies = smallest < largest
    return (
        np.where(varies & (low == smallest), above_smallest, low),
        np.where(varies & (high == largest), below_largest, high),
    )


def _bounds(view: View) -> tuple[np.ndarray, np.ndarray]:
    """Return the smallest and the largest value of each column."""
    if isinstance(view, sparse.csr_array):
        bounds = [bound.toarray().ravel() for bound in (view.min(axis=0), view.max(axis=0))]
    else:
        bounds = [view.min(axis=0), view.max(axis=0)]
    smallest, largest = (np.asarray(bound, dtype=np.float64) for bound in bounds)
    return smallest, largest
