"""Runs of positions over which the rank probabilities are smooth, in the rank and in the score.

With scores sorted, in units of tau, P[r, j] couples r and j only through exp(-2 r s_j). Over a
run of n positions it is smooth in the rank if n times the range of the scores that the run's rows
reach is small, and smooth in the score if the run's own range of scores times the number of rows
that reach it is small. Then 16 points represent the run, whatever its length. Runs are shorter
near the ends, at jumps and under heavy tails.
"""

from functools import lru_cache
from math import ceil

import torch
from torch import Tensor

from manyview.layers.ranking.chebyshev import N_POINTS
from manyview.layers.ranking.sorted_scores import SortedScores

NEGLIGIBLE = 17.0  # a logit this far below the largest of its row is left out
MAX_CHANGE = 8.0  # of the exponents within a run of 16 points; the error is checked


class RankBlocks:
    """All positions divided into blocks: single units of 16 positions, smooth runs of 2^k units.

    Parameters
    ----------
    ranked
        The sorted scores.
    max_change
        A run is one block if its exponents change by no more than this.

    Attributes
    ----------
    n_units : number of units; positions past the last node pad the last one
    first_units, sizes : [block], in units; a block may end past the last unit
    is_smooth : [block], whether Chebyshev points represent the positions
    first_reached, past_reached : [block], the blocks of nodes that its rows reach
    of_unit : [unit], its block
    runs : [block], its number among all runs of 1, 2, 4, ... units, the shortest first
    """

    def __init__(self, ranked: SortedScores, max_change: float = MAX_CHANGE) -> None:
        self.ranked = ranked
        self.n_units = ceil(ranked.n_nodes / N_POINTS)
        self._units = torch.arange(self.n_units, device=ranked.scores.device)
        starts = self._units * N_POINTS
        lasts = (starts + N_POINTS - 1).clamp(max=ranked.n_nodes - 1)
        direction = torch.ones_like(starts)
        reached = ranked.reach(
            torch.cat([starts, lasts]), torch.cat([-direction, direction]), NEGLIGIBLE
        )
        self._highest, self._lowest = reached.chunk(2)  # by a unit's first row, by its last
        self._set_blocks(self._smooth_levels(max_change))

    @property
    def starts(self) -> Tensor:
        """First position of each block."""
        return self.first_units * N_POINTS

    @property
    def lasts(self) -> Tensor:
        """Last node of each block."""
        return self._last_node(self.first_units, self.sizes)

    def halve(self, chosen: Tensor) -> None:
        """Halve the chosen blocks; single units stay."""
        self._set_blocks(self._levels - (chosen & self.is_smooth)[self.of_unit].long())

    def _smooth_levels(self, max_change: float) -> Tensor:
        """Largest k for which the run of 2^k units around a unit is smooth, else 0: [unit]."""
        levels, firsts, runs = _runs_of_units(self.n_units, self._units.device)
        is_smooth = self._change(firsts, 1 << levels) <= max_change
        return (levels * is_smooth)[runs].amax(dim=0)

    def _change(self, firsts: Tensor, sizes: Tensor) -> Tensor:
        """Largest change of an exponent within a run, in the rank and in the score."""
        scores, length = self.ranked.scores, sizes * N_POINTS
        start, last = firsts * N_POINTS, self._last_node(firsts, sizes)
        first_score, last_score = scores[start], scores[last]
        above = scores[self._highest[firsts]] - first_score
        below = last_score - scores[self._lowest[self._last_unit(firsts, sizes)]]
        first_row = torch.searchsorted(self._lowest, start) * N_POINTS
        past_row = torch.searchsorted(self._highest, last, right=True) * N_POINTS
        n_rows = (start - first_row).maximum(past_row - last).maximum(length)
        return torch.maximum(length * above.maximum(below), n_rows * (first_score - last_score))

    def _last_node(self, firsts: Tensor, sizes: Tensor) -> Tensor:
        return ((firsts + sizes) * N_POINTS - 1).clamp(max=self.ranked.n_nodes - 1)

    def _last_unit(self, firsts: Tensor, sizes: Tensor) -> Tensor:
        return (firsts + sizes).clamp_(max=self.n_units) - 1

    def _set_blocks(self, levels: Tensor) -> None:
        """Make the runs of 2^level units around each unit the blocks."""
        self._levels = levels
        is_first = self._units & ((1 << levels) - 1) == 0
        self.of_unit = is_first.cumsum(0) - 1
        self.first_units = is_first.nonzero()[:, 0]
        levels = levels[self.first_units]
        self.sizes, self.is_smooth = 1 << levels, levels > 0
        self.runs = _runs_of_units(self.n_units, levels.device)[2][levels, self.first_units]
        last_units = self._last_unit(self.first_units, self.sizes)
        self.first_reached = self.of_unit[self._highest[self.first_units] // N_POINTS]
        self.past_reached = self.of_unit[self._lowest[last_units] // N_POINTS] + 1


@lru_cache(maxsize=2)
def _runs_of_units(n_units: int, device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    """Enumerate all runs of 2^level units, the shortest first.

    Returns
    -------
    level and first unit of each run, both [run], and the run around each unit, [level, unit]
    """
    n_levels = (n_units - 1).bit_length() + 1
    firsts = [torch.arange(0, n_units, 2**level, device=device) for level in range(n_levels)]
    n_runs = torch.tensor([len(one) for one in firsts], device=device)
    levels = torch.arange(n_levels, device=device)
    units = torch.arange(n_units, device=device)
    runs = (n_runs.cumsum(0) - n_runs)[:, None] + (units >> levels[:, None])
    return levels.repeat_interleave(n_runs), torch.cat(firsts), runs
