"""The network's input H: the scaled views side by side, centred and balanced.

The paper leaves H open. Rows of unit length that are nowhere negative, such as histograms,
all point the same way: what they share drowns what tells them apart, and a network may not
learn at all. So each view loses its mean row and is brought to a mean length of 1, which also
makes the learning rate mean the same for narrow and wide views. Sparse views stay sparse: the
mean is subtracted behind the first matrix product.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from manyview.data.views import View, row_blocks


@dataclass(frozen=True)
class InputScaling:
    """How scaled views become the network's input.

    Attributes
    ----------
    factors
        [view] each view is multiplied by its factor.
    center
        [column of H] subtracted from every row after that.
    """

    factors: np.ndarray
    center: np.ndarray

    def __call__(self, features: Sequence[View]) -> View:
        """Multiply the views and put them side by side; `center` is left to subtract."""
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


def fit_input(features: Sequence[View]) -> InputScaling:
    """Learn how to centre and balance the views.

    A view whose rows are all alike keeps a factor of 1; centred, it is 0.
    """
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


def side_by_side(features: Sequence[View]) -> View:
    """Concatenate the columns of all views; sparse where all of them are."""
    sparse_views = [view for view in features if isinstance(view, sparse.csr_array)]
    if len(sparse_views) == len(features):
        return sparse.csr_array(sparse.hstack(sparse_views))
    return np.hstack([v.toarray() if isinstance(v, sparse.csr_array) else v for v in features])
