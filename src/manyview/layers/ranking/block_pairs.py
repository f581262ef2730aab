"""Pairs of a block of rows of the rank probabilities and a block of nodes it reaches."""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from manyview.layers.ranking.block_points import ScorePoints, rank_points
from manyview.layers.ranking.chebyshev import N_POINTS
from manyview.layers.ranking.rank_blocks import RankBlocks

MAX_PAIRS = 1024  # computed at once; fits the processor's cache


@dataclass(frozen=True)
class Pairs:
    """Some blocks of rows with all node blocks they reach; pairs with single units come first."""

    rows: Tensor  # [pair], block
    nodes: Tensor  # [pair], block
    n_single: int  # pairs whose block of nodes is a single unit
    chunk: slice  # the blocks of rows


class PairLogits:
    """Logits of the rank probabilities at the points of each pair of blocks.

    With c the middle of the row block and q the middle of the node block, all in local
    differences,

        b_t s - D(s) = -fall(c, q) - 2 (t - c) (s_q - s_c) - 2 (t - q) (s - s_q) + a term of t

    where D is replaced by its tangent at q; single units add the fall of their nodes below it.

    Attributes
    ----------
    ranks : [block, point], real numbers from 0
    log_totals : [block, point], subtracted from a row's logits: the log of the row sum, or the
        largest logit until the row sums are known
    """

    def __init__(self, blocks: RankBlocks, nodes: ScorePoints) -> None:
        self._blocks, self._nodes = blocks, nodes
        ranked = blocks.ranked
        self.ranks = rank_points(blocks)
        self._middle_scores = ranked.scores[nodes.middles]
        nearest = self.ranks.round().long().clamp_(0, ranked.n_nodes - 1)
        middles = nodes.middles[:, None]
        self._from_middle = self.ranks - middles
        rise = ranked.scores[nearest] - self._middle_scores[:, None]
        self.log_totals = -2 * self._from_middle * rise - ranked.fall(middles, nearest)

    def count(self) -> int:
        """Return the number of entries; each costs one exponential."""
        n_pairs = (self._blocks.past_reached - self._blocks.first_reached).sum()
        return int(n_pairs) * N_POINTS**2

    def pairs(self) -> Iterator[Pairs]:
        """Iterate over all pairs in chunks of whole row blocks."""
        blocks = self._blocks
        n_reached = blocks.past_reached - blocks.first_reached
        ends = n_reached.cumsum(0)
        end_list = ends.tolist()
        start = n_done = 0
        while start < len(end_list):
            stop = max(start + 1, bisect_right(end_list, n_done + MAX_PAIRS))
            block = torch.arange(start, stop, device=ends.device)
            rows = block.repeat_interleave(n_reached[start:stop])
            nth = torch.arange(n_done, end_list[stop - 1], device=ends.device)
            nodes = blocks.past_reached[rows] - (ends[rows] - nth)
            is_smooth = blocks.is_smooth[nodes]
            n_single = len(nodes) - int(is_smooth.sum())
            if 0 < n_single < len(nodes):
                single_first = is_smooth.sort(stable=True).indices
                rows, nodes = rows[single_first], nodes[single_first]
            yield Pairs(rows, nodes, n_single, slice(start, stop))
            start, n_done = stop, end_list[stop - 1]

    def tilts(self, pairs: Pairs) -> Tensor:
        """Slope b_t - b_q of each row's logits in the score: [pair, rank point]."""
        return -2 * (self.ranks[pairs.rows] - self._nodes.middles[pairs.nodes][:, None])

    def logits(self, pairs: Pairs, tilts: Tensor) -> Tensor:
        """Logits minus `log_totals`: [pair, rank point, score point]."""
        rows, nodes, middles = pairs.rows, pairs.nodes, self._nodes.middles
        rise = self._middle_scores[nodes] - self._middle_scores[rows]
        at_middle = -2 * self._from_middle[rows] * rise[:, None] - self.log_totals[rows]
        at_middle -= self._blocks.ranked.fall(middles[rows], middles[nodes])[:, None]
        logits = at_middle[:, :, None] - self._nodes.falls[nodes][:, None]
        return logits.addcmul_(tilts[:, :, None], self._nodes.scores[nodes][:, None])
