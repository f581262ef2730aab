"""Node confidence without the m x m matrix of rank probabilities, Eq. (9)-(12).

With scores sorted in descending order, row r of the rank probabilities is a bell around its
own rank: its logits are concave in the node with their top at node r. So a block of rows
touches only a window of nodes, the rest is below rounding; the blocks are computed
one after the other and again in the backward pass, in O(m) memory.

In float64 every row is computed: the exact oracle. In float32 a block is as long as its rows
are wide, and since a row changes smoothly with its rank, 16 rows between the ranks stand for
all of them, to rounding: about 100 exponentials a node at any m. Where rows are narrow (a small
tau, few nodes) every row is computed in float32 too.

All differences are taken near the window before they are rounded, so float32 scores lose
nothing when m is large.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import log, pi
from typing import Any

import torch
from torch import Tensor

BLOCK_ROWS = 64
N_BETWEEN = 16  # rows between ranks in a smooth block; 16 give float32 all its digits
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
    ranks: Tensor  # [row] from 0, whole or between
    weights: Tensor  # [row] discount of the ranks the row stands for
    middle: int
    window: slice
    probabilities: Tensor  # [row, node of the window]


class _SortedScores:
    """Scores in descending order, cut into blocks of rank probabilities."""

    def __init__(self, scores: Tensor, temperature: float) -> None:
        ordered = scores.double().sort(descending=True, stable=True)
        self.order = ordered.indices
        self.n_nodes = len(scores)
        self.scores = ordered.values / temperature  # in units of tau from here on
        self.gaps = total_gap(self.scores)
        self.position = torch.arange(self.n_nodes, dtype=torch.float64, device=scores.device)
        self.dtype = scores.dtype

    def slope(self, ranks: Tensor) -> Tensor:
        """Factor of the scores in a row's logits: m + 1 - 2r, ranks counted from 1."""
        return self.n_nodes - 1 - 2 * ranks

    def blocks(self, weights: Tensor, *, every_row: bool) -> Iterator[_Block]:
        """Cover all ranks; with `every_row` each rank is a row of its own."""
        weights = weights.double()
        start = 0
        while start < self.n_nodes:
            n_smooth = 0 if every_row else self._n_smooth(start)
            if n_smooth > 2 * N_BETWEEN:
                stop = start + n_smooth
                ranks, sums = _rows_between(self.position[start:stop], weights[start:stop])
            else:
                stop = min(start + BLOCK_ROWS, self.n_nodes)
                ranks, sums = self.position[start:stop], weights[start:stop]
            window = slice(self._reach(start).start, self._reach(stop - 1).stop)
            middle = (start + stop) // 2
            tilt = self.slope(ranks[:, None]) - self.slope(self.position[middle])
            from_middle = self.scores[window] - self.scores[middle]
            logits = torch.addcmul(self._logits(middle, window), tilt, from_middle)
            logits -= logits.amax(dim=1, keepdim=True)  # rounded only once near 0
            probabilities = torch.softmax(logits.to(self.dtype), dim=1)
            yield _Block(ranks, sums.to(self.dtype), middle, window, probabilities)
            start = stop

    def _n_smooth(self, start: int) -> int:
        """Count the ranks from `start` over which rows change by about one of their widths.

        Scores under a row of spread v fall by 2 v^2 a rank, so over 1 / v ranks they fall by
        2 v: a jump of the scores inside the block shows as a larger fall, a jump beyond it as
        a larger spread at its ends.
        """
        n_ranks = self.position[: self.n_nodes - start] + 1
        fall = self.scores[start] - self.scores[start:]
        n_smooth = int(torch.searchsorted(n_ranks * fall, 2.5))
        while n_smooth > 2 * N_BETWEEN:
            middle, last = start + n_smooth // 2, start + n_smooth - 1
            spread = max(self._spread(row) for row in (start, middle, last))
            if n_smooth * spread <= 1.2:
                break
            n_smooth = int(min(1 / spread, 0.75 * n_smooth))
        return n_smooth

    def _spread(self, row: int) -> float:
        """Return the scores' standard deviation under a row: how fast it changes with its rank."""
        probabilities = torch.softmax(self._logits(row, slice(0, self.n_nodes)), dim=0)
        from_row = self.scores - self.scores[row]
        mean = probabilities @ from_row
        return float((probabilities @ (from_row - mean).square()).sqrt())

    def _logits(self, row: int, window: slice) -> Tensor:
        from_row = self.scores[window] - self.scores[row]
        return self.slope(self.position[row]) * from_row - (self.gaps[window] - self.gaps[row])

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


def _rows_between(ranks: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Replace ranks by a few rows between them that give the same sums of smooth functions.

    sum_r w_r f(r) = sum_k W_k f(t_k) for the polynomial f through the Chebyshev points t_k;
    returns t and W.
    """
    order = torch.arange(N_BETWEEN, dtype=ranks.dtype, device=ranks.device)
    angle = (2 * order + 1) * (pi / (2 * N_BETWEEN))
    middle, half = (ranks[0] + ranks[-1]) / 2, (ranks[-1] - ranks[0]) / 2
    # Chebyshev polynomials are orthogonal on their own points: interpolation is one product.
    degree_at_points = torch.cos(order[:, None] * angle)  # [degree, point]
    degree_at_ranks = torch.cos(order[:, None] * torch.acos((ranks - middle) / half))
    sums = degree_at_ranks @ weights
    scale = torch.where(order == 0, 1.0, 2.0) / N_BETWEEN
    return middle + half * torch.cos(angle), (scale * sums) @ degree_at_points


class _DiscountedGain(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor, temperature: float, as_printed: bool) -> Tensor:
        ctx.save_for_backward(scores)
        ctx.temperature, ctx.as_printed = temperature, as_printed
        ranked = _SortedScores(scores, temperature)
        discount = rank_discount(ranked.n_nodes, scores)
        gain = torch.zeros_like(scores)
        for block in ranked.blocks(discount, every_row=as_printed or scores.dtype != torch.float32):
            increase = torch.expm1(block.probabilities * LN2)  # 2^P - 1
            if as_printed:
                gain[block.ranks.long()] = increase @ discount[ranked.order[block.window]]
            else:
                gain[block.window] += block.weights @ increase
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
        slopes = ranked.slope(ranked.position)
        plain = torch.zeros_like(ranked.scores)
        tilted = torch.zeros_like(ranked.scores)
        every_row = ctx.as_printed or scores.dtype != torch.float32
        for block in ranked.blocks(by_rank, every_row=every_row):
            p = block.probabilities
            d_p = block.weights[:, None] * by_node[block.window] * torch.exp2(p) * LN2
            d_logit = p * (d_p - (d_p * p).sum(dim=1, keepdim=True))
            at_middle = ranked.slope(ranked.position[block.middle])
            tilt = ranked.slope(block.ranks) - at_middle
            total = d_logit.sum(dim=0).double()
            plain[block.window] += total
            tilted[block.window] += (tilt.to(p.dtype) @ d_logit).double()
            tilted[block.window] += (at_middle - slopes[block.window]) * total
        first, past = ranked.tie_bounds()
        before = torch.cat([plain.new_zeros(1), plain.cumsum(0)])
        lower_minus_higher = (before[-1] - before[past]) - before[first]
        sign_sum = ranked.n_nodes - past - first
        slope = (tilted + (slopes - sign_sum) * plain - lower_minus_higher) / ctx.temperature
        gradient = torch.empty_like(slope).scatter_(0, ranked.order, slope)
        return gradient.to(scores.dtype), None, None
