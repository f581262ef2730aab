"""Discounted gain and its gradient in O(m log m), Eq. (9)-(12).

With scores sorted, in units of tau, row t of the rank probabilities is

    P[t, j] = exp(b_t s_j - D_j) / Z_t,   b_t = m - 1 - 2t,   D_j = sum_k |s_j - s_k|

Ranks and nodes are cut into the same blocks, and each block of rows meets the blocks of
nodes it reaches at 16 x 16 points. A block's points are its own 16 positions, or they stand for
a smooth run (see `rank_blocks`). In a smooth block D gives way to its tangent at the middle node,
and each node carries what is missing, `decay`, so that

    P[t, j] = decay_j p_t(s_j),     2^P - 1 = sum_n (ln 2)^n / n! decay_j^n p_t(s_j)^n

with p smooth in the score; P is small there and four terms are enough. Sums over ranks are sums
over rank points, sums over nodes are sums over score points, and what belongs to a node is
interpolated from the points of its block.

The last coefficients of all that is interpolated tell how well the points follow it: blocks where
they are not small are halved, and the sums are made again.
"""

from collections.abc import Callable, Iterator
from math import factorial, log
from typing import Any

import torch
from torch import Tensor

from manyview.layers.block_pairs import PairLogits, Pairs
from manyview.layers.block_points import ScorePoints, in_units, point_weights
from manyview.layers.chebyshev import N_POINTS, chebyshev_coefficients
from manyview.layers.rank_blocks import RankBlocks
from manyview.layers.sorted_scores import SortedScores

TOLERANCE = 1e-5  # of the gain, as a share of its range
RESOLUTION = 1e-6  # a range below this share of the gain is taken for this
LN2 = log(2.0)
N_TERMS = 4  # of the series of 2^p - 1
GAIN_TERMS = [LN2**n / factorial(n) for n in range(1, N_TERMS + 1)]
SLOPE_TERMS = [LN2**n / factorial(n - 1) for n in range(1, N_TERMS + 1)]  # of p times its slope


def fast_gain(scores: Tensor, temperature: float) -> Tensor:
    """Sum each node's discounted rank probabilities as `discounted_gain` does, in O(m log m).

    Shapes
    ------
    scores : [node]
    returns : [node], float64
    """
    gain: Tensor = _FastGain.apply(scores, temperature)  # type: ignore[no-untyped-call]
    return gain


class _FastGain(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor, temperature: float) -> Tensor:
        blocks = RankBlocks(SortedScores(scores, temperature))
        ranking = FastRanking(blocks)
        while (is_coarse := blocks.is_smooth & ~(ranking.error <= TOLERANCE)).any():
            blocks.halve(is_coarse)
            ranking = FastRanking(blocks)
        ctx.ranking, ctx.temperature, ctx.dtype = ranking, temperature, scores.dtype
        return torch.empty_like(ranking.gain).scatter_(0, ranking.order, ranking.gain)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        order = ctx.ranking.order
        slope = ctx.ranking.gradient(gradients[0][order]) / ctx.temperature
        return torch.empty_like(slope).scatter_(0, order, slope).to(ctx.dtype), None


class FastRanking:
    """Gain of all nodes from given blocks, what error to expect, and the gradient.

    Parameters
    ----------
    blocks
        How ranks and nodes are cut.

    Attributes
    ----------
    gain : [node], in sorted order
    error : [block], what the block may add to the error of a gain, as a share of their range
    n_entries : number of exponentials of a pass
    """

    def __init__(self, blocks: RankBlocks) -> None:
        ranked = blocks.ranked
        self.order, self._n_units, self._of_unit = ranked.order, blocks.n_units, blocks.of_unit
        self._first, self._past = ranked.tie_bounds()
        self._nodes = ScorePoints(blocks)
        self._rows = PairLogits(blocks, self._nodes)
        self.n_entries = self._rows.count()
        position = torch.arange(ranked.n_nodes, device=ranked.scores.device)
        self._discount = point_weights(blocks, 1 / torch.log2(position.to(ranked.scores) + 2))
        self.gain, self.error = self._gain_and_error(blocks.is_smooth)

    def _gain_and_error(self, is_smooth: Tensor) -> tuple[Tensor, Tensor]:
        mass = self._nodes.collect(self._nodes.decay[:, :, None])[:, :, 0]
        mass_and_tail = _with_tail(mass, is_smooth).mT.contiguous()
        discount_and_tail = _with_tail(self._discount, is_smooth)
        sums = mass.new_zeros(N_TERMS, len(mass), 3, N_POINTS)
        by_nodes, by_rows = mass.new_zeros(len(mass)), mass.new_zeros(len(mass))
        for pairs in self._rows.pairs():
            p = self._rows.logits(pairs, self._rows.tilts(pairs)).exp_()
            parts = torch.bmm(p, mass_and_tail[pairs.nodes])
            totals = _sum_rows(pairs, parts[:, :, 0])
            self._rows.log_totals[pairs.chunk] += totals.log()
            shares = totals.reciprocal()[pairs.rows - pairs.chunk.start][:, :, None]
            _note_largest(by_nodes, pairs.nodes, parts[:, :, 1:] * shares)
            for part, n, factor, power in _terms(p.mul_(shares), pairs, _gain_of, GAIN_TERMS):
                found = torch.bmm(discount_and_tail[pairs.rows[part]], power) * factor
                sums[n].index_add_(0, pairs.nodes[part], found)
                _note_largest(by_rows, pairs.rows[part], found[:, 1:])
        gain = self._at_nodes(sums[:, :, :1])[0, self._first]
        tail = (sums[0, :, 0] @ chebyshev_coefficients(mass.device)[:, -2:]).abs().amax(
            dim=1
        ) * is_smooth
        left_out = sums[-1, :, 0].abs().amax(dim=1) / (N_TERMS + 1)
        error = torch.stack([by_nodes * gain.max(), by_rows, tail, left_out]).amax(dim=0)
        return gain, error / (gain.max() - gain.min()).clamp(min=RESOLUTION * gain.max())

    def gradient(self, incoming: Tensor) -> Tensor:
        """Gradient by the scores in units of tau, in sorted order: [node].

        With f(p) = 2^p - 1 and an incoming gradient g, the gradient by a logit b_t s_j - D_j is

            d[t, j] = discount_t (g_j p f'(p) - p sum_k g_k p_k f'(p_k)),   p = P[t, j]

        s_j gets sum_t (b_t - b_j) d[t, j], with b_j the slope of D, at the middle of equal scores,
        and from the D of all others the sums of d over higher nodes less those over lower ones.
        """
        nodes, rows = self._nodes, self._rows
        by_node = in_units(incoming, self._n_units)
        powers = torch.stack([nodes.decay**n for n in range(1, N_TERMS + 1)], dim=2)
        incoming_at = nodes.collect(by_node[:, :, None] * powers)
        own = incoming_at.new_zeros(N_TERMS, len(incoming_at), 2, N_POINTS)
        shared = torch.zeros_like(own[:1])
        for pairs in rows.pairs():
            tilts = rows.tilts(pairs)
            p = rows.logits(pairs, tilts).exp_()
            discount = self._discount[pairs.rows]
            weights = torch.stack([discount, discount * tilts], dim=1)
            means = torch.zeros_like(discount)
            for part, n, factor, power in _terms(p, pairs, _slope_of, SLOPE_TERMS):
                at = pairs.nodes[part]
                means[part] += torch.bmm(power, incoming_at[at][:, :, n : n + 1])[:, :, 0] * factor
                own[n].index_add_(0, at, torch.bmm(weights[part], power) * factor)
            means = _sum_rows(pairs, means)[pairs.rows - pairs.chunk.start]
            shared[0].index_add_(0, pairs.nodes, torch.bmm(weights * means[:, None], p))
        own_sums = self._from_middle_of_ties(self._at_nodes(own))
        shared_sums = self._from_middle_of_ties(self._at_nodes(shared))
        plain, tilted = incoming * own_sums - shared_sums
        before = torch.cat([plain.new_zeros(1), plain.cumsum(0)])
        lower_minus_higher = (before[-1] - before[self._past]) - before[self._first]
        slope: Tensor = tilted - lower_minus_higher
        return slope

    def _at_nodes(self, sums: Tensor) -> Tensor:
        """Interpolate sums and give each term its decay: [term, block, n, point] to [n, node]."""
        n_sums, decay = sums.shape[2], self._nodes.decay[:, None]
        terms = self._nodes.spread(sums.permute(1, 2, 0, 3).flatten(1, 2))
        terms = terms.unflatten(1, (n_sums, len(sums)))
        values: Tensor = terms[:, :, -1] * decay
        for n in reversed(range(len(sums) - 1)):
            values = (values + terms[:, :, n]) * decay
        return values.transpose(0, 1).flatten(1)

    def _from_middle_of_ties(self, sums: Tensor) -> Tensor:
        """Take sums with weights 1 and b_t - b_q to weights 1 and b_t - b_j, alike in ties."""
        plain, tilted = sums[:, self._first]
        middles = self._nodes.middles[self._of_unit[self._first // N_POINTS]]
        tilt = self._first + self._past - 1 - 2 * middles
        return torch.stack([plain, tilted + tilt * plain])


def _terms(
    p: Tensor, pairs: Pairs, whole: Callable[[Tensor], Tensor], factors: list[float]
) -> Iterator[tuple[slice, int, float, Tensor]]:
    """Evaluate a function of p: as a whole in single units, by its power series in smooth blocks.

    Yields which pairs, the number of the term, its factor and [pair, rank point, score point].
    """
    if pairs.n_single > 0:
        single = slice(0, pairs.n_single)
        yield single, 0, 1.0, whole(p[single])
    if pairs.n_single < len(p):
        smooth = slice(pairs.n_single, None)
        power = p[smooth]
        for n, factor in enumerate(factors):
            power = power if n == 0 else power * p[smooth]
            yield smooth, n, factor, power


def _gain_of(p: Tensor) -> Tensor:
    return (p * LN2).expm1_()  # f(p) = 2^p - 1


def _slope_of(p: Tensor) -> Tensor:
    return torch.exp2(p).mul_(p).mul_(LN2)  # p f'(p)


def _with_tail(weights: Tensor, is_smooth: Tensor) -> Tensor:
    """Put the last two coefficients, at the weight of the whole block, below the weights.

    Shapes
    ------
    weights : [block, point]
    returns : [block, 3, point]
    """
    total = weights.sum(dim=1) * is_smooth
    tail = chebyshev_coefficients(weights.device)[:, -2:].T
    return torch.cat([weights[:, None], total[:, None, None] * tail], dim=1)


def _sum_rows(pairs: Pairs, by_pair: Tensor) -> Tensor:
    """Sum over all blocks of nodes that a block of rows reaches: [block of the chunk, point]."""
    sums = by_pair.new_zeros(pairs.chunk.stop - pairs.chunk.start, by_pair.shape[1])
    return sums.index_add_(0, pairs.rows - pairs.chunk.start, by_pair)


def _note_largest(largest: Tensor, blocks: Tensor, by_pair: Tensor) -> None:
    largest.scatter_reduce_(0, blocks, by_pair.abs().amax(dim=(1, 2)), "amax")
