"""Discounted gain and its gradient in O(m log m), Eq. (9)-(12).

With scores sorted, in units of tau, row t of the rank probabilities is

    P[t, j] = exp(b_t s_j - D_j) / Z_t,   b_t = m - 1 - 2t,   D_j = sum_k |s_j - s_k|

Ranks and nodes are divided into the same blocks. Each block of rows is evaluated against the
blocks of nodes it reaches at 16 x 16 points. The points of a block are its own 16 positions, or
they interpolate a smooth run (see `rank_blocks`). In a smooth block D is replaced by its tangent
at the middle node, and the difference is a factor of each node, `decay`, so that

    P[t, j] = decay_j p_t(s_j),     2^P - 1 = sum_n (ln 2)^n / n! decay_j^n p_t(s_j)^n

with p smooth in the score. P is small there, so one to four terms suffice, depending on the
largest p. Sums over ranks become sums over rank points, sums over nodes become sums over score
points, and values at nodes are interpolated from the points of their block.

The last Chebyshev coefficients estimate the interpolation error: blocks where they are not small
are halved, and the sums are computed again.
"""

from collections.abc import Callable, Iterator
from math import factorial, log
from typing import Any

import torch
from torch import Tensor

from manyview.layers.ranking.block_pairs import PairLogits, Pairs
from manyview.layers.ranking.block_points import ScorePoints, in_units, point_weights
from manyview.layers.ranking.chebyshev import N_POINTS, chebyshev_coefficients
from manyview.layers.ranking.rank_blocks import RankBlocks
from manyview.layers.ranking.sorted_scores import SortedScores

TOLERANCE = 1e-5  # error of the gain, relative to its range
RESOLUTION = 1e-6  # smallest range that counts, relative to the gain
GRADIENT_TOLERANCE = 1e-6  # relative error of the series of the gradient
KEPT_ENTRIES = 2**18  # probabilities stored for the backward pass; more are recomputed
LN2 = log(2.0)
MAX_TERMS = 4
# Series of f(p) = 2^p - 1 and of p f'(p), both divided by ln 2.
GAIN_TERMS = [LN2**n / factorial(n + 1) for n in range(MAX_TERMS)]
SLOPE_TERMS = [LN2**n / factorial(n) for n in range(MAX_TERMS)]


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
    """Gain of all nodes for one division into blocks, with an error estimate and the gradient.

    Parameters
    ----------
    blocks
        Division of ranks and nodes into blocks.

    Attributes
    ----------
    gain : [node], in sorted order
    error : [block], estimated contribution to the error of a gain, relative to their range
    """

    def __init__(self, blocks: RankBlocks) -> None:
        ranked = blocks.ranked
        self.order, self._n_units, self._of_unit = ranked.order, blocks.n_units, blocks.of_unit
        self._first, self._past = ranked.tie_bounds
        self._nodes = ScorePoints(blocks)
        self._rows = PairLogits(blocks, self._nodes)
        self._kept: list[_Probabilities] | None = None
        if self._rows.count() <= KEPT_ENTRIES:
            self._kept = []
        self._discount = point_weights(blocks)
        self.gain, self.error = self._gain_and_error(blocks.is_smooth)

    def _gain_and_error(self, is_smooth: Tensor) -> tuple[Tensor, Tensor]:
        mass = self._nodes.collect(self._nodes.decay[:, None])[:, 0]
        mass_and_tail = _with_tail(mass, is_smooth).mT.contiguous()
        discount_and_tail = _with_tail(self._discount, is_smooth)
        sums = mass.new_zeros(len(mass), MAX_TERMS, N_POINTS)
        by_nodes, by_rows = mass.new_zeros(2, len(mass))
        self._largest = 0.0  # probability of a smooth block
        for pairs, tilts, p in self._exponentials():
            parts = torch.bmm(p, mass_and_tail.index_select(0, pairs.nodes))
            totals = _sum_rows(pairs, parts[:, :, 0])
            self._rows.log_totals[pairs.chunk] += totals.log()
            scale = totals.reciprocal().index_select(0, pairs.rows - pairs.chunk.start)[:, :, None]
            _update_largest(by_nodes, pairs.nodes, parts[:, :, 1:] * scale)
            p.mul_(scale)
            if pairs.n_single < len(p):
                self._largest = max(self._largest, p[pairs.n_single :].max().item())
            n_terms = _n_terms(self._largest, TOLERANCE * RESOLUTION)
            for part, powers in _terms(p, pairs, n_terms, _gain_of):
                weights = discount_and_tail.index_select(0, pairs.rows[part])
                found = torch.bmm(weights, powers.flatten(2))
                by_term = found[:, 0].unflatten(1, (-1, N_POINTS))
                sums[:, : by_term.shape[1]].index_add_(0, pairs.nodes[part], by_term)
                _update_largest(by_rows, pairs.rows[part], found[:, 1:])
            if self._kept is not None:
                self._kept.append((pairs, tilts, p))
        sums *= sums.new_tensor(GAIN_TERMS)[:, None]
        terms = self._nodes.interpolate(sums[:, :n_terms])
        gain = self._add_terms(terms).flatten().index_select(0, self._first)
        last = chebyshev_coefficients(mass.device)[:, -2:]
        tail = (sums[:, 0] @ last).abs().amax(dim=1) * is_smooth
        left_out = sums[:, -1].abs().amax(dim=1) / (MAX_TERMS + 1)
        largest, smallest = gain.max(), gain.min()
        error = torch.stack([by_nodes * largest, by_rows, tail, left_out]).amax(dim=0)
        return gain * LN2, error / (largest - smallest).clamp(min=RESOLUTION * largest)

    def gradient(self, incoming: Tensor) -> Tensor:
        """Return the gradient by the scores in units of tau, in sorted order: [node].

        With f(p) = 2^p - 1 and an incoming gradient g, the gradient by a logit b_t s_j - D_j is

            d[t, j] = discount_t (g_j p f'(p) - p sum_k g_k p_k f'(p_k)),   p = P[t, j]

        The gradient by s_j is sum_t (b_t - b_j) d[t, j], with b_j the slope of D (at the middle of
        equal scores), plus, through D of the other nodes, the sum of d over higher nodes minus
        that over lower ones.
        """
        nodes, n_terms = self._nodes, _n_terms(self._largest, GRADIENT_TOLERANCE)
        factors = incoming.new_tensor(SLOPE_TERMS[:n_terms])[:, None]
        weighted = _powers(in_units(incoming, self._n_units) * nodes.decay, nodes.decay, n_terms)
        incoming_at = nodes.collect(weighted) * factors
        own = incoming_at.new_zeros(len(incoming_at), 2, n_terms, N_POINTS)
        common = torch.zeros_like(own[:, :, :1])
        for pairs, tilts, p in self._kept or self._exponentials():
            discount = self._discount.index_select(0, pairs.rows)
            weights = torch.stack([discount, discount * tilts], dim=1)
            means = torch.zeros_like(discount)
            for part, powers in _terms(p, pairs, n_terms, _slope_of):
                n_found, at = powers.shape[2], pairs.nodes[part]
                powers = powers.flatten(2)
                gradients = incoming_at.index_select(0, at)[:, :n_found].flatten(1)
                means[part] = torch.bmm(powers, gradients[:, :, None])[:, :, 0]
                found = torch.bmm(weights[part], powers).unflatten(2, (n_found, N_POINTS))
                own[:, :, :n_found].index_add_(0, at, found)
            means = _sum_rows(pairs, means).index_select(0, pairs.rows - pairs.chunk.start)
            found = torch.bmm(weights * means[:, None], p)
            common.index_add_(0, pairs.nodes, found[:, :, None])
        sums = torch.cat([own * factors, common], dim=2).flatten(1, 2)
        terms = nodes.interpolate(sums).unflatten(1, (2, n_terms + 1))
        at_nodes = [self._add_terms(terms[:, :, :-1]), self._add_terms(terms[:, :, -1:])]
        own, common = self._from_middle_of_ties(torch.cat(at_nodes, dim=1)).split(2)
        plain, tilted = incoming * own - common
        before = torch.cat([plain.new_zeros(1), plain.cumsum(0)])
        lower_minus_higher = (before[-1] - before[self._past]) - before[self._first]
        slope: Tensor = (tilted - lower_minus_higher) * LN2
        return slope

    def _exponentials(self) -> Iterator["_Probabilities"]:
        """Iterate over all pairs with their tilts and exp(logits)."""
        for pairs in self._rows.pairs():
            tilts = self._rows.tilts(pairs)
            yield pairs, tilts, self._rows.logits(pairs, tilts).exp_()

    def _add_terms(self, terms: Tensor) -> Tensor:
        """Sum terms times powers of decay: [unit, ..., term, position] to [unit, ..., position]."""
        decay = self._nodes.decay.view(self._n_units, *[1] * (terms.ndim - 3), N_POINTS)
        values = terms[..., -1, :] * decay
        for n in reversed(range(terms.shape[-2] - 1)):
            values = values.add_(terms[..., n, :]).mul_(decay)
        return values

    def _from_middle_of_ties(self, sums: Tensor) -> Tensor:
        """Convert sums with weights 1 and b_t - b_q to weights 1 and b_t - b_j, equal in ties.

        Shapes
        ------
        sums : [unit, sum, position], the two weights alternating
        returns : [sum, node]
        """
        tie_middles = in_units(self._first + self._past - 1, self._n_units)
        tilt = tie_middles - 2 * self._nodes.middles[self._of_unit][:, None]
        sums[:, 1::2] += tilt[:, None] * sums[:, ::2]
        return sums.transpose(0, 1).flatten(1).index_select(1, self._first)


_Probabilities = tuple[Pairs, Tensor, Tensor]  # with tilts and [pair, rank point, score point]


def _n_terms(largest: float, tolerance: float) -> int:
    """Count the terms after which the rest of the series is below the relative tolerance."""
    n_terms = 1
    while n_terms < MAX_TERMS and (LN2 * largest) ** n_terms / factorial(n_terms) > tolerance:
        n_terms += 1
    return n_terms


def _terms(
    p: Tensor, pairs: Pairs, n_terms: int, direct: Callable[[Tensor], Tensor]
) -> Iterator[tuple[slice, Tensor]]:
    """Evaluate a function of p: directly in single units, by its power series in smooth blocks.

    Yields a slice of the pairs and [pair, rank point, term, score point], without the factors of
    the terms.
    """
    if pairs.n_single > 0:
        single = slice(0, pairs.n_single)
        yield single, direct(p[single])[:, :, None]
    if pairs.n_single < len(p):
        smooth = slice(pairs.n_single, None)
        yield smooth, _powers(p[smooth], p[smooth], n_terms)


def _powers(first: Tensor, factor: Tensor, n_powers: int) -> Tensor:
    """Compute first * factor^n for n = 0, 1, ...: [..., point] to [..., power, point]."""
    powers = first.new_empty(*first.shape[:-1], n_powers, first.shape[-1])
    by_power = powers.unbind(-2)
    by_power[0].copy_(first)
    for n in range(1, n_powers):
        torch.mul(by_power[n - 1], factor, out=by_power[n])
    return powers


def _gain_of(p: Tensor) -> Tensor:
    return (p * LN2).expm1_().div_(LN2)  # (2^p - 1) / ln 2


def _slope_of(p: Tensor) -> Tensor:
    return torch.exp2(p).mul_(p)  # p f'(p) / ln 2


def _with_tail(weights: Tensor, is_smooth: Tensor) -> Tensor:
    """Append two rows to the weights: the last two coefficients times the block's total weight.

    Shapes
    ------
    weights : [block, point]
    returns : [block, 3, point]
    """
    total = weights.sum(dim=1) * is_smooth
    tail = chebyshev_coefficients(weights.device)[:, -2:].T
    return torch.cat([weights[:, None], total[:, None, None] * tail], dim=1)


def _sum_rows(pairs: Pairs, by_pair: Tensor) -> Tensor:
    """Sum over all node blocks that a row block reaches: [block of the chunk, point]."""
    sums = by_pair.new_zeros(pairs.chunk.stop - pairs.chunk.start, by_pair.shape[1])
    return sums.index_add_(0, pairs.rows - pairs.chunk.start, by_pair)


def _update_largest(largest: Tensor, blocks: Tensor, by_pair: Tensor) -> None:
    largest.scatter_reduce_(0, blocks, by_pair.flatten(1).abs().amax(dim=1), "amax")
