"""Scores in descending order, and the reach of each row of the rank probabilities, Eq. (9)-(10).

Row r of the rank probabilities is a bell around node r of the sorted scores. The logit of node j
lies below its maximum by

    fall(r, j) = 2 sum_{i between r and j} |s_i - s_j| + |s_r - s_j|        (in units of tau)
               = 2 (c_j - c_r - (j - r) s_j),    c_j = s_0 + ... + s_(j-1) + s_j / 2
               = 2 (c_j - j s_j + r s_j - c_r)

which never decreases away from r, so bisection finds the reach of a row.
"""

from functools import cached_property

import torch
from torch import Tensor


def descending_order(scores: Tensor) -> Tensor:
    """Return the stable descending argsort of the scores: [node].

    On a CPU, score and position are packed into one integer: numpy sorts integers several times
    faster than torch argsorts floats.
    """
    if scores.dtype != torch.float32 or scores.device.type != "cpu":
        return scores.sort(descending=True, stable=True).indices
    bits = (scores + 0.0).view(torch.int32)  # -0.0 becomes 0.0, its equal
    # As integers, floats above 0 ascend and floats below 0 descend; flip the former.
    keys = torch.where(bits < 0, bits & 0x7FFFFFFF, ~bits)
    packed = torch.arange(len(scores)).add_(keys.long(), alpha=2**32)
    packed.numpy().sort()
    return packed.bitwise_and_(0xFFFFFFFF)


class SortedScores:
    """Scores in descending order, in units of tau, as float64.

    Attributes
    ----------
    order : [node], original position of each
    scores : [node], descending, relative to the middle one
    """

    def __init__(self, scores: Tensor, temperature: float) -> None:
        scores = scores.detach()
        self.order = descending_order(scores)
        self.n_nodes = len(scores)
        values = scores.index_select(0, self.order).double()
        self.scores = (values - values[self.n_nodes // 2]) / temperature
        self._sums = self.scores.cumsum(0) - self.scores / 2
        positions = torch.arange(self.n_nodes, dtype=torch.float64, device=scores.device)
        self._sums_less_own = torch.addcmul(self._sums, positions, self.scores, value=-1)

    def fall(self, rows: Tensor, nodes: Tensor) -> Tensor:
        """Return how far a node's logit lies below the largest of a row."""
        below = (rows - nodes) * self.scores[nodes]
        return below.add_(self._sums[nodes]).sub_(self._sums[rows]).mul_(2)

    def reach(self, rows: Tensor, direction: Tensor, depth: float) -> Tensor:
        """Return the last node in a direction (-1 or 1) whose logit falls by at most `depth`."""
        last, real_rows = rows, rows.to(self.scores)
        limit = self._sums.index_select(0, rows) + depth / 2
        for bit in reversed(range(self.n_nodes.bit_length())):
            further = torch.add(last, direction, alpha=2**bit).clamp_(0, self.n_nodes - 1)
            half_fall = torch.addcmul(  # without the term of the row
                self._sums_less_own.index_select(0, further),
                self.scores.index_select(0, further),
                real_rows,
            )
            last = torch.where(half_fall <= limit, further, last)
        return last

    @cached_property
    def tie_bounds(self) -> tuple[Tensor, Tensor]:
        """The first and one past the last position of each node's run of equal scores."""
        _, run, length = torch.unique_consecutive(
            self.scores, return_inverse=True, return_counts=True
        )
        stop = length.cumsum(0)
        return (stop - length)[run], stop[run]
