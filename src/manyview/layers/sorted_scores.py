"""Scores in descending order and how far the rank probabilities of each rank reach, Eq. (9)-(10).

Row r of the rank probabilities is a bell around node r of the sorted scores. Below its top,
node j lies by

    fall(r, j) = 2 sum_{i between r and j} |s_i - s_j| + |s_r - s_j|        (in units of tau)

which never decreases away from r. Prefix sums give it in O(1), bisection gives a row's reach.
"""

import torch
from torch import Tensor


class SortedScores:
    """Scores in descending order, in units of tau, as float64.

    Attributes
    ----------
    order : [node], where each came from
    scores : [node], descending, from the middle one
    """

    def __init__(self, scores: Tensor, temperature: float) -> None:
        ordered = scores.detach().double().sort(descending=True, stable=True)
        self.order = ordered.indices
        self.n_nodes = len(scores)
        self.scores = (ordered.values - ordered.values[self.n_nodes // 2]) / temperature
        self._sums = torch.cat([self.scores.new_zeros(1), self.scores.cumsum(0)])

    def fall(self, rows: Tensor, nodes: Tensor) -> Tensor:
        """How far a node's logit lies below the top of a row, both whole positions; >= 0."""
        upper, lower = torch.minimum(rows, nodes), torch.maximum(rows, nodes)
        score = self.scores[nodes]
        between = self._sums[lower] - self._sums[upper + 1]
        between -= (lower - upper - 1) * score
        return between.abs_().mul_(2).add_((self.scores[rows] - score).abs_())

    def reach(self, rows: Tensor, direction: Tensor, depth: float) -> Tensor:
        """Return the last node in a direction (-1 or 1) whose logit falls by at most `depth`."""
        last = rows
        for bit in reversed(range(self.n_nodes.bit_length())):
            further = (last + direction * 2**bit).clamp_(0, self.n_nodes - 1)
            last = torch.where(self.fall(rows, further) <= depth, further, last)
        return last

    def tie_bounds(self) -> tuple[Tensor, Tensor]:
        """First and one past the last position of each node's run of equal scores."""
        _, run, length = torch.unique_consecutive(
            self.scores, return_inverse=True, return_counts=True
        )
        stop = length.cumsum(0)
        return (stop - length)[run], stop[run]
