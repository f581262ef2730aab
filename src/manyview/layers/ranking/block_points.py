"""Interpolation points of each block, in the rank and in the score.

The points of a single unit are its 16 positions; a smooth block has 16 Chebyshev points.
"""

from functools import lru_cache
from math import ceil

import torch
from torch import Tensor
from torch.nn.functional import pad

from manyview.layers.ranking.chebyshev import (
    N_POINTS,
    chebyshev_coefficients,
    chebyshev_points,
    chebyshev_polynomials,
    halves_to_whole,
)
from manyview.layers.ranking.rank_blocks import RankBlocks


def in_units(values: Tensor, n_units: int) -> Tensor:
    """Pad values of all positions with zeros and reshape them by unit: [unit, position]."""
    n_missing = n_units * N_POINTS - len(values)
    return (pad(values, (0, n_missing)) if n_missing else values).view(n_units, N_POINTS)


def rank_points(blocks: RankBlocks) -> Tensor:
    """Rank of each point, from 0: [block, point]."""
    scores = blocks.ranked.scores
    own = torch.arange(N_POINTS, dtype=scores.dtype, device=scores.device)
    half = blocks.sizes[:, None] * (N_POINTS / 2)
    between = half * (1 + chebyshev_points(scores.device)) - 0.5
    return blocks.starts[:, None] + torch.where(blocks.is_smooth[:, None], between, own)


def point_weights(blocks: RankBlocks, by_rank: Tensor | None = None) -> Tensor:
    """Sum weights of the ranks onto the points: [block, point].

    Default weights are the discount of each rank, 1 / log2(rank + 2) with ranks from 0.
    """
    if by_rank is None:
        return _discount_of_runs(blocks.ranked.n_nodes, blocks.ranked.scores.device)[blocks.runs]
    return _weights_of_runs(by_rank)[blocks.runs]


@lru_cache(maxsize=2)
def _discount_of_runs(n_nodes: int, device: torch.device) -> Tensor:
    positions = torch.arange(n_nodes, dtype=torch.float64, device=device)
    return _weights_of_runs(1 / torch.log2(positions + 2))


def _weights_of_runs(by_rank: Tensor) -> Tensor:
    """Sum weights of the ranks onto the points of every run of 2^k units: [run, point].

    Weights of a run are computed from those of its halves; all runs together have twice as many
    weights as there are ranks.
    """
    n_units = ceil(len(by_rank) / N_POINTS)
    weights = in_units(by_rank, n_units)
    own = torch.arange(2 * N_POINTS, dtype=by_rank.dtype, device=by_rank.device)
    places = (own + 0.5) / N_POINTS - 1
    merge = chebyshev_polynomials(places) @ chebyshev_coefficients(by_rank.device).T
    levels = [weights]
    for _ in range((n_units - 1).bit_length()):
        if len(weights) % 2:
            weights = torch.cat([weights, weights.new_zeros(1, N_POINTS)])
        weights = weights.view(-1, 2 * N_POINTS) @ merge
        levels.append(weights)
        merge = halves_to_whole(by_rank.device)
    return torch.cat(levels)


class ScorePoints:
    """Scores at the points of each block, and maps from nodes to points and back.

    The logits of a smooth block leave out `fall`, which is not smooth in the node; each node has
    it in its own factor `decay` = exp(-fall) instead.

    Attributes
    ----------
    middles : [block], the middle node
    scores : [block, point], relative to the score of the middle node
    falls : [block, point], of a unit's nodes below the row of the middle; 0 in smooth blocks
    decay : [unit, position], of the nodes of smooth blocks; 1 in units, 0 in the padding
    """

    def __init__(self, blocks: RankBlocks) -> None:
        self._blocks, ranked = blocks, blocks.ranked
        self.middles = (blocks.starts + blocks.lasts + 1) // 2
        middle_scores = ranked.scores[self.middles]
        is_smooth = blocks.is_smooth[blocks.of_unit][:, None]
        positions = torch.arange(blocks.n_units * N_POINTS, device=is_smooth.device)
        nodes = positions.clamp(max=ranked.n_nodes - 1).view(-1, N_POINTS)
        from_middle = ranked.scores[nodes] - middle_scores[blocks.of_unit][:, None]
        fall = ranked.fall(self.middles[blocks.of_unit][:, None], nodes)
        first = ranked.scores[blocks.starts] - middle_scores
        last = ranked.scores[blocks.lasts] - middle_scores
        center, half = (first + last) / 2, (last - first) / 2
        between = center[:, None] + half[:, None] * chebyshev_points(half.device)
        self.scores = torch.where(
            blocks.is_smooth[:, None], between, from_middle[blocks.first_units]
        )
        self.falls = fall[blocks.first_units].masked_fill(blocks.is_smooth[:, None], 0.0)
        decay = torch.exp(-fall).masked_fill_(~is_smooth, 1.0)
        self.decay = decay.masked_fill_((positions >= ranked.n_nodes).view(-1, N_POINTS), 0.0)
        places = from_middle - center[blocks.of_unit][:, None]
        places /= torch.where(half == 0, 1.0, half)[blocks.of_unit][:, None]
        # A single unit has one node per point, so both maps are the identity there.
        places = torch.where(is_smooth, places, chebyshev_points(half.device))
        self._polynomials = chebyshev_polynomials(places, dim=1)  # [unit, degree, node]
        self._coefficients = chebyshev_coefficients(half.device)

    def collect(self, by_node: Tensor) -> Tensor:
        """Sum weights of the nodes onto the points: [unit, n, position] to [block, n, point]."""
        moments = by_node.new_zeros(len(self.middles), *by_node.shape[1:])
        moments.index_add_(0, self._blocks.of_unit, torch.bmm(by_node, self._polynomials.mT))
        return moments @ self._coefficients.T

    def interpolate(self, by_point: Tensor) -> Tensor:
        """Interpolate at the nodes: [block, n, point] to [unit, n, position]."""
        coefficients = (by_point @ self._coefficients).index_select(0, self._blocks.of_unit)
        return torch.bmm(coefficients, self._polynomials)
