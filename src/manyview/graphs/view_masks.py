"""Pairs of samples of which one lacks a view: which views both of them have."""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

MAX_BITS = 62  # views of a sample that fit into one number


class ViewMasks(NamedTuple):
    """The views that both ends of each pair have: few sets of views, and many pairs.

    Attributes
    ----------
    sets
        [set, view] 1 where the view belongs to the set, else 0.
    of_pairs
        [pair] number of the set of views that both ends have.
    """

    sets: Tensor
    of_pairs: Tensor

    def to(self, device: torch.device | str) -> "ViewMasks":
        """Move to a device."""
        return ViewMasks(self.sets.to(device), self.of_pairs.to(device))

    def total(self, coefficients: Tensor) -> Tensor:
        """Add up the coefficients of the views that both ends of a pair have: [view] -> [pair]."""
        by_set = self.sets.to(coefficients.dtype) @ coefficients
        return by_set.index_select(0, self.of_pairs)


def find_view_masks(present: np.ndarray, lower: np.ndarray, higher: np.ndarray) -> ViewMasks | None:
    """Sort pairs by the views that both of their ends have.

    Parameters
    ----------
    present
        [sample, view] True where the sample has the view.
    lower, higher
        [pair] the two samples of each pair.

    Examples
    --------
    >>> present = np.array([[True, True], [True, False]])
    >>> shared = find_view_masks(present, np.array([0, 0, 1]), np.array([1, 0, 1]))
    >>> shared.total(torch.tensor([0.75, 0.25]))
    tensor([0.7500, 1.0000, 0.7500])
    """
    if present.all():
        return None
    n_views = present.shape[1]
    if n_views > MAX_BITS:
        sets, of_pairs = np.unique(present[lower] & present[higher], axis=0, return_inverse=True)
    else:
        bits = np.int64(1) << np.arange(n_views)
        own = present @ bits
        y_encoded, of_pairs = np.unique(own[lower] & own[higher], return_inverse=True)
        sets = (y_encoded[:, None] & bits) > 0
    return ViewMasks(torch.from_numpy(sets), torch.from_numpy(of_pairs.ravel()))
