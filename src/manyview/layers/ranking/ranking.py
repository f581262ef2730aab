"""Node confidence without the m x m matrix of rank probabilities, Eq. (9)-(12).

With scores sorted in descending order, row r of the rank probabilities is a bell around its
own rank: its logits are concave in the node, with their maximum at node r. A block of rows
therefore involves only a window of nodes; the rest is below rounding. Blocks are computed one by
one, and again in the backward pass, in O(m) memory. This is the exact form, which computes every
row: O(m^2) if rows are wide. `fast_ranking` computes a few rows only.

Differences are taken within the window before rounding, so float32 scores lose no precision when
m is large.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import log
from typing import Any

import torch
from torch import Tensor

from manyview.layers.ranking.fast_ranking import fast_gain
from manyview.layers.ranking.sorted_scores import SortedScores

FAST_FROM = 1000  # nodes; with fewer, computing every row is faster
BLOCK_ROWS = 64
BLOCK_ENTRIES = 2**18  # a block of few nodes takes more rows, up to this many entries
KEPT_ENTRIES = 2**20  # probabilities stored for the backward pass; more are recomputed
# A logit this far below the largest of its row adds less than rounding does, and is left out.
NEGLIGIBLE = {torch.float32: 25.0, torch.float64: 40.0}
LN2 = log(2.0)


def rank_discount(n_nodes: int, like: Tensor) -> Tensor:
    """Weight of each position: 1 / log2(position + 1), positions from 1."""
    return 1.0 / torch.log2(torch.arange(2, n_nodes + 2, dtype=like.dtype, device=like.device))


def discounted_gain(
    scores: Tensor, temperature: float, rank_axis: str = "rows", ranking: str = "auto"
) -> Tensor:
    """Sum each node's discounted rank probabilities: I, Eq. (9)-(12).

        P[r, :] = softmax(((m + 1 - 2r) a_s - Delta 1) / tau)       [rank, node]
        I_j = sum_r (2^P[r, j] - 1) / log2(r + 1)                   rank_axis="rows"
        I_i = sum_j (2^P[i, j] - 1) / log2(j + 1)                   rank_axis="as-printed"

    The second form is the paper's: it reads row i as node i although row i is rank i, and so
    depends on how nodes are numbered.

    Parameters
    ----------
    scores
        [node]
    temperature
        Temperature tau.
    rank_axis
        "rows" or "as-printed".
    ranking
        "exact" computes every row; "fast" computes a few and interpolates, in O(m log m), with an
        error that is checked to be below 1e-5 of the gains' range; "auto" uses the faster one for
        the number of nodes. "as-printed" is always exact.

    Returns
    -------
    [node], in float64 if fast, because gains may differ by less than float32 resolves
    """
    is_fast = ranking == "fast" or (ranking == "auto" and len(scores) >= FAST_FROM)
    if is_fast and rank_axis == "rows":
        return fast_gain(scores, temperature)
    gain: Tensor = _DiscountedGain.apply(scores, temperature, rank_axis == "as-printed")  # type: ignore[no-untyped-call]
    return gain


@dataclass(frozen=True)
class _Block:
    rows: slice
    window: slice  # of nodes
    tilts: Tensor  # [row], slope of its logits in the score, relative to the middle row
    middle: int
    probabilities: Tensor  # [row, node of the window]


def _blocks(ranked: SortedScores, dtype: torch.dtype) -> Iterator[_Block]:
    n_rows = max(BLOCK_ROWS, BLOCK_ENTRIES // ranked.n_nodes)
    position = torch.arange(ranked.n_nodes, device=ranked.scores.device)
    starts = position[::n_rows]
    lasts = (starts + n_rows).clamp(max=ranked.n_nodes) - 1
    up = ranked.reach(starts, -torch.ones_like(starts), NEGLIGIBLE[dtype])
    down = ranked.reach(lasts, torch.ones_like(lasts), NEGLIGIBLE[dtype])
    bounds = torch.stack([starts, lasts + 1, up, down + 1], dim=1).tolist()
    for start, stop, first, past in bounds:
        rows, window, middle = slice(start, stop), slice(first, past), (start + stop) // 2
        from_middle = ranked.scores[window] - ranked.scores[middle]
        fall = ranked.fall(position[middle], position[window])
        tilts = (-2.0 * (position[rows] - middle)).to(fall)
        own = slice(start - first, stop - first)
        tops = tilts * from_middle[own] - fall[own]
        by_row = torch.stack([tilts, -torch.ones_like(tilts), -tops], dim=1)
        by_node = torch.stack([from_middle, fall, torch.ones_like(fall)])
        logits = (by_row @ by_node).to(dtype)  # rounded once, near 0
        yield _Block(rows, window, tilts.to(dtype), middle, torch.softmax(logits, dim=1))


class _DiscountedGain(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor, temperature: float, as_printed: bool) -> Tensor:
        ranked = SortedScores(scores, temperature)
        ctx.save_for_backward(scores)
        ctx.temperature, ctx.as_printed, ctx.blocks = temperature, as_printed, None
        ctx.ranked = ranked
        discount = rank_discount(ranked.n_nodes, scores)
        gain = torch.zeros_like(scores)
        blocks: Iterable[_Block] = _blocks(ranked, scores.dtype)
        if ranked.n_nodes**2 <= KEPT_ENTRIES:
            blocks = ctx.blocks = list(blocks)
        for block in blocks:
            increase = torch.expm1(block.probabilities * LN2)  # 2^P - 1
            if as_printed:
                gain[block.rows] = increase @ discount[ranked.order[block.window]]
            else:
                gain[block.window] += discount[block.rows] @ increase
        if as_printed:
            return gain
        first, _ = ranked.tie_bounds
        return torch.empty_like(gain).scatter_(0, ranked.order, gain[first])

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        (scores,) = ctx.saved_tensors
        ranked: SortedScores = ctx.ranked
        by_rank = rank_discount(ranked.n_nodes, scores)
        by_node = gradients[0][ranked.order]
        if ctx.as_printed:
            by_rank, by_node = gradients[0], by_rank[ranked.order]
        # Through the logits b_r s_j - D_j: sums over r of d(logit) and of (b_r - b_j) d(logit),
        # with b_j, the slope of D_j, at the middle of equal scores.
        first, past = ranked.tie_bounds
        plain = torch.zeros_like(ranked.scores)
        tilted = torch.zeros_like(ranked.scores)
        for block in ctx.blocks or _blocks(ranked, scores.dtype):
            p, window = block.probabilities, block.window
            slope = torch.exp2(p).mul_(p).mul_(LN2)  # p f'(p), f(p) = 2^p - 1
            weights = torch.stack([by_rank[block.rows], by_rank[block.rows] * block.tilts])
            slope *= by_node[window]
            d_logit = slope.addcmul_(p, slope.sum(dim=1, keepdim=True), value=-1)
            total, tilt = (weights @ d_logit).double()
            plain[window] += total
            tilted[window] += tilt
            tilted[window] += (first[window] + past[window] - 1 - 2 * block.middle) * total
        before = torch.cat([plain.new_zeros(1), plain.cumsum(0)])
        lower_minus_higher = (before[-1] - before[past]) - before[first]
        slope = (tilted - lower_minus_higher) / ctx.temperature
        gradient = torch.empty_like(slope).scatter_(0, ranked.order, slope)
        return gradient.to(scores.dtype), None, None
