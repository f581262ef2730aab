"""Exact node confidence without the m x m matrix of rank probabilities, Eq. (9)-(12).

With scores sorted in descending order, row r of the rank probabilities is a bell around its
own rank: its logits are concave in the node with their top at node r. So a block of rows
touches only a window of nodes, the rest is below rounding; the blocks are computed
one after the other and again in the backward pass. Time O(m x window), memory O(m).

All differences are taken near the window before they are rounded, so float32 scores lose
nothing when m is large.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import log
from typing import Any

import torch
from torch import Tensor

BLOCK_ROWS = 64
# A logit this far below the top of its row adds less than rounding does, and is left out.
NEGLIGIBLE = {torch.float32: 25.0, torch.float64: 40.0}
LN2 = log(2.0)


def rank_discount(n_nodes: int, like: Tensor) -> Tensor:
    """Weight of each position: 1 / log2(position + 1), positions from 1."""
    return 1.0 / torch.log2(torch.arange(2, n_nodes + 2, dtype=like.dtype, device=like.device))


def total_gap(sorted_scores: Tensor) -> Tensor:
    """Sum of distances to all other scores, from scores in descending order: Delta 1, Eq. (10)."""
    n_nodes = len(sorted_scores)
    below_first = sorted_scores - sorted_scores[0]  # gaps alone count: equal scores give exact 0
    position = torch.arange(n_nodes, dtype=sorted_scores.dtype, device=sorted_scores.device)
    before = below_first.cumsum(0) - below_first
    after = below_first.sum() - before - below_first
    return before - after + (n_nodes - 1 - 2 * position) * below_first


def discounted_gain(scores: Tensor, temperature: float, rank_axis: str = "rows") -> Tensor:
    """Sum each node's discounted rank probabilities: I, Eq. (9)-(12).

        P[r, :] = softmax(((m + 1 - 2r) a_s - Delta 1) / tau)       [rank, node]
        I_j = sum_r (2^P[r, j] - 1) / log2(r + 1)                   rank_axis="rows"
        I_i = sum_j (2^P[i, j] - 1) / log2(j + 1)                   rank_axis="as-printed"

    The second form is the paper's: it takes row i for node i although row i is rank i, and
    depends on how nodes are numbered.

    Shapes
    ------
    scores : [node]
    returns : [node]
    """
    gain: Tensor = _DiscountedGain.apply(scores, temperature, rank_axis == "as-printed")  # type: ignore[no-untyped-call]
    return gain


@dataclass(frozen=True)
class _Block:
    rows: slice
    window: slice
    probabilities: Tensor  # [rank of the block, node of the window]


class _SortedScores:
    """Scores in descending order, cut into blocks of rank probabilities."""

    def __init__(self, scores: Tensor, temperature: float) -> None:
        ordered = scores.double().sort(descending=True, stable=True)
        self.order = ordered.indices
        self.n_nodes = len(scores)
        self.scores = ordered.values / temperature  # in units of tau from here on
        self.gaps = total_gap(self.scores)
        position = torch.arange(self.n_nodes, dtype=torch.float64, device=scores.device)
        self.slope = self.n_nodes - 1 - 2 * position  # m + 1 - 2r, ranks from 1
        self.dtype = scores.dtype

    def blocks(self) -> Iterator[_Block]:
        for start in range(0, self.n_nodes, BLOCK_ROWS):
            rows = slice(start, min(start + BLOCK_ROWS, self.n_nodes))
            window = slice(self._reach(rows.start).start, self._reach(rows.stop - 1).stop)
            middle = (rows.start + rows.stop) // 2
            tilt = self.slope[rows, None] - self.slope[middle]
            from_middle = self.scores[window] - self.scores[middle]
            logits = torch.addcmul(self._logits(middle, window), tilt, from_middle)
            logits -= logits.amax(dim=1, keepdim=True)  # rounded only once near 0
            logits = logits.to(self.dtype)
            yield _Block(rows, window, torch.softmax(logits, dim=1))

    def _logits(self, row: int, window: slice) -> Tensor:
        from_row = self.scores[window] - self.scores[row]
        return self.slope[row] * from_row - (self.gaps[window] - self.gaps[row])

    def _reach(self, row: int) -> slice:
        """Nodes whose logit in this row is not negligible; they are contiguous."""
        near = self._logits(row, slice(0, self.n_nodes)) > -NEGLIGIBLE[self.dtype]
        inside = near.nonzero()
        return slice(int(inside[0]), int(inside[-1]) + 1)

    def tie_bounds(self) -> tuple[Tensor, Tensor]:
        """First and one past the last position of each node's run of equal scores."""
        _, run, length = torch.unique_consecutive(
            self.scores, return_inverse=True, return_counts=True
        )
        stop = length.cumsum(0)
        return (stop - length)[run], stop[run]


class _DiscountedGain(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor, temperature: float, as_printed: bool) -> Tensor:
        ctx.save_for_backward(scores)
        ctx.temperature, ctx.as_printed = temperature, as_printed
        ranked = _SortedScores(scores, temperature)
        discount = rank_discount(ranked.n_nodes, scores)
        gain = torch.zeros_like(scores)
        for block in ranked.blocks():
            increase = torch.expm1(block.probabilities * LN2)  # 2^P - 1
            if as_printed:
                gain[block.rows] = increase @ discount[ranked.order[block.window]]
            else:
                gain[block.window] += discount[block.rows] @ increase
        return gain if as_printed else torch.empty_like(gain).scatter_(0, ranked.order, gain)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        (scores,) = ctx.saved_tensors
        ranked = _SortedScores(scores, ctx.temperature)
        by_rank = rank_discount(ranked.n_nodes, scores)
        by_node = gradients[0][ranked.order]
        if ctx.as_printed:
            by_rank, by_node = gradients[0], by_rank[ranked.order]
        # Through the logits b_r s_j - D_j. Sums over r of d(logit) and of (b_r - b_j) d(logit):
        # b_j times the first cancels against the path through D_j, all but the ties.
        plain = torch.zeros_like(ranked.scores)
        tilted = torch.zeros_like(ranked.scores)
        for block in ranked.blocks():
            p = block.probabilities
            d_p = by_rank[block.rows, None] * by_node[block.window] * torch.exp2(p) * LN2
            d_logit = p * (d_p - (d_p * p).sum(dim=1, keepdim=True))
            middle = (block.rows.start + block.rows.stop) // 2
            tilt = ranked.slope[block.rows] - ranked.slope[middle]
            total = d_logit.sum(dim=0).double()
            plain[block.window] += total
            tilted[block.window] += (tilt.to(p.dtype) @ d_logit).double()
            tilted[block.window] += (ranked.slope[middle] - ranked.slope[block.window]) * total
        first, past = ranked.tie_bounds()
        before = torch.cat([plain.new_zeros(1), plain.cumsum(0)])
        lower_minus_higher = (before[-1] - before[past]) - before[first]
        sign_sum = ranked.n_nodes - past - first
        slope = (tilted + (ranked.slope - sign_sum) * plain - lower_minus_higher) / ctx.temperature
        gradient = torch.empty_like(slope).scatter_(0, ranked.order, slope)
        return gradient.to(scores.dtype), None, None
