"""Masks of the views that both samples of a pair have, for data with missing views."""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

MAX_BITS = 62  # views that fit into one integer


class ViewMasks(NamedTuple):
    """The views that both ends of each pair have: few distinct masks, many pairs.

    Attributes
    ----------
    masks
        [mask, view] 1 for views of the mask, else 0.
    of_pairs
        [pair] number of the mask.
    """

    masks: Tensor
    of_pairs: Tensor

    def to(self, device: torch.device | str) -> "ViewMasks":
        """Move to a device."""
        return ViewMasks(self.masks.to(device), self.of_pairs.to(device))

    def total(self, coefficients: Tensor) -> Tensor:
        """Sum the coefficients of the views that both ends of a pair have: [view] -> [pair]."""
        by_mask = self.masks.to(coefficients.dtype) @ coefficients
        return by_mask.index_select(0, self.of_pairs)


def find_view_masks(present: np.ndarray, lower: np.ndarray, higher: np.ndarray) -> ViewMasks | None:
    """Group pairs by the views that both of their ends have; None if all samples have all views.

    Parameters
    ----------
    present
        [sample, view] True where the sample has the view.
    lower, higher
        [pair] the two samples of each pair.

    Examples
    --------
    >>> present = np.array([[True, True], [True, False]])
    >>> found = find_view_masks(present, np.array([0, 0, 1]), np.array([1, 0, 1]))
    >>> found.total(torch.tensor([0.75, 0.25]))
    tensor([0.7500, 1.0000, 0.7500])
    """
    if present.all():
        return None
    n_views = present.shape[1]
    if n_views > MAX_BITS:
        masks, of_pairs = np.unique(present[lower] & present[higher], axis=0, return_inverse=True)
    else:
        bits = np.int64(1) << np.arange(n_views)
        packed = present @ bits
        numbers, of_pairs = np.unique(packed[lower] & packed[higher], return_inverse=True)
        masks = (numbers[:, None] & bits) > 0
    return ViewMasks(torch.from_numpy(masks), torch.from_numpy(of_pairs.ravel()))
