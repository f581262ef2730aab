"""The network's input H: the scaled views side by side, centered and balanced.

The paper does not define H. Non-negative rows of unit length, such as histograms, all point in
almost the same direction: their common part dominates, and a network may not learn at all. So the
mean row of each view is subtracted, and the view is scaled to a mean row length of 1, which also
gives the learning rate the same effect for narrow and wide views. Sparse views stay sparse: the
mean is subtracted after the first matrix product.

A sample that lacks a view has zeros in its centered columns, which is the mean. Its n of V views
are multiplied by sqrt(V / n), so that its row is as long as those of other samples.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from manyview.data.rows import View, row_blocks


@dataclass(frozen=True)
class InputScaling:
    """Factors and centers that turn scaled views into the network's input."""

    factors: np.ndarray  # [view] multiplied with each view
    center: np.ndarray  # [column of H] subtracted from every row after that

    def __call__(self, features: Sequence[View], present: np.ndarray | None = None) -> View:
        """Return the views times their factors, side by side, not yet centered.

        The caller subtracts `center`, or `row_centers` if samples lack views. Rows of samples that
        lack a view must be zeros in it.
        """
        joined = self._joined(features)
        if present is None:
            return joined
        scale = present_scale(present)
        if isinstance(joined, sparse.csr_array):
            return sparse.csr_array(sparse.diags_array(scale) @ joined)
        joined *= scale[:, None]
        return joined

    def weighed(self, features: Sequence[View], weights: np.ndarray) -> "InputScaling":
        """Multiply each view by its weight, [view]."""
        columns = np.repeat(weights, [view.shape[1] for view in features])
        return InputScaling(
            (self.factors * weights).astype(np.float32), (self.center * columns).astype(np.float32)
        )

    def row_centers(
        self, features: Sequence[View], present: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the centers of the rows as two factors, [sample, view] @ [view, column].

        The first is 0 for views that a sample lacks.
        """
        means = np.zeros((len(features), len(self.center)), dtype=np.float32)
        start = 0
        for view, own in zip(features, means, strict=True):
            columns = slice(start, start + view.shape[1])
            own[columns] = self.center[columns]
            start = columns.stop
        return present * present_scale(present)[:, None], means

    def _joined(self, features: Sequence[View]) -> View:
        dense = [view for view in features if isinstance(view, np.ndarray)]
        if len(dense) == len(features) and all(view.dtype == np.float32 for view in dense):
            joined = np.empty((len(dense[0]), len(self.center)), dtype=np.float32)
            ends = np.cumsum([view.shape[1] for view in dense])
            for view, factor, end in zip(dense, self.factors, ends, strict=True):
                np.multiply(view, factor, out=joined[:, end - view.shape[1] : end])
            return joined
        return side_by_side(
            [view * factor for view, factor in zip(features, self.factors, strict=True)]
        )


def present_scale(present: np.ndarray) -> np.ndarray:
    """Return sqrt(V / n) for samples that have n of V views; 0 for those that have none.

    Examples
    --------
    >>> present_scale(np.array([[True, True, True, True], [False, True, False, False]]))
    array([1., 2.], dtype=float32)
    """
    n_present = present.sum(axis=1)
    scale = np.sqrt(present.shape[1] / np.maximum(n_present, 1)) * (n_present > 0)
    return np.asarray(scale, dtype=np.float32)


def fit_input(features: Sequence[View], present: np.ndarray | None = None) -> InputScaling:
    """Learn how to center and balance the views, from the samples that have them.

    A view whose rows are all equal gets a factor of 1; centered, it is 0.

    Parameters
    ----------
    present
        [sample, view] True where the sample has the view; None if every sample has every view.
    """
    if present is not None:
        features = [view[own] for view, own in zip(features, present.T, strict=True)]
    centers = [np.asarray(view.mean(axis=0, dtype=np.float64)).ravel() for view in features]
    factors = np.ones(len(features), dtype=np.float32)
    for number, (view, center) in enumerate(zip(features, centers, strict=True)):
        square = (
            sparse.linalg.norm(view) ** 2
            if isinstance(view, sparse.csr_array)
            else sum(np.sum(view[rows] ** 2.0) for rows in row_blocks(view))
        )
        spread = square / view.shape[0] - center @ center
        if spread > 1e-6 * (center @ center):
            factors[number] = spread**-0.5
    scaled = [factor * center for factor, center in zip(factors, centers, strict=True)]
    return InputScaling(factors, np.concatenate(scaled).astype(np.float32))


def plain_input(features: Sequence[View]) -> InputScaling:
    """Return the scaling that leaves the views as they are, neither centered nor balanced."""
    n_columns = sum(view.shape[1] for view in features)
    return InputScaling(np.ones(len(features), np.float32), np.zeros(n_columns, np.float32))


def side_by_side(features: Sequence[View]) -> View:
    """Concatenate the columns of all views; sparse if all of them are."""
    sparse_views = [view for view in features if isinstance(view, sparse.csr_array)]
    if len(sparse_views) == len(features):
        return sparse.csr_array(sparse.hstack(sparse_views))
    return np.hstack([v.toarray() if isinstance(v, sparse.csr_array) else v for v in features])
