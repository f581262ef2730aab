"""Runs of positions over which the rank probabilities are smooth, in the rank and in the score.

With scores sorted, in units of tau, P[r, j] joins r and j only in exp(-2 r s_j). Over a run of n
positions it is smooth in the rank where n times the range of the scores under the run's rows
is small, and smooth in the score where the run's own range of scores times the number of
rows that reach it is small. Then 16 points stand for the run, however long it is. Runs
shorten by themselves towards the ends, at jumps and under heavy tails.
"""

from math import ceil

import torch
from torch import Tensor

from manyview.layers.chebyshev import N_POINTS
from manyview.layers.sorted_scores import SortedScores

NEGLIGIBLE = 17.0  # a logit this far below the top of its row is left out
MAX_TURN = 8.0  # change of the exponents in a run that 16 points follow; the error is checked


class RankBlocks:
    """All positions cut into blocks: single units of 16 positions, and smooth runs of 2^k units.

    Parameters
    ----------
    ranked
        The scores.
    max_turn
        A run is one block when its exponents change by no more than this.

    Attributes
    ----------
    n_units : number of units; positions past the last node pad the last one
    first_units, sizes : [block], in units; a block may end past the last unit
    is_smooth : [block], whether points stand for the positions
    first_reached, past_reached : [block], the blocks of nodes that its rows reach
    of_unit : [unit], its block
    """

    def __init__(self, ranked: SortedScores, max_turn: float = MAX_TURN) -> None:
        self.ranked = ranked
        self.n_units = ceil(ranked.n_nodes / N_POINTS)
        starts = torch.arange(self.n_units, device=ranked.scores.device) * N_POINTS
        lasts = (starts + N_POINTS - 1).clamp(max=ranked.n_nodes - 1)
        direction = torch.ones_like(starts)
        reached = ranked.reach(
            torch.cat([starts, lasts]), torch.cat([-direction, direction]), NEGLIGIBLE
        )
        self._highest, self._lowest = reached.chunk(2)  # by a unit's first row, by its last
        self._set_blocks(*self._smooth_runs(max_turn))

    @property
    def starts(self) -> Tensor:
        """First position of each block."""
        return self.first_units * N_POINTS

    @property
    def lasts(self) -> Tensor:
        """Last node of each block."""
        return self._last_node(self.first_units, self.sizes)

    def halve(self, chosen: Tensor) -> None:
        """Cut the chosen blocks in two; single units stay."""
        chosen = chosen & self.is_smooth
        sizes = torch.where(chosen, self.sizes // 2, self.sizes)
        firsts = torch.cat([self.first_units, (self.first_units + sizes)[chosen]])
        sizes = torch.cat([sizes, sizes[chosen]])
        is_inside = firsts < self.n_units
        self._set_blocks(firsts[is_inside], sizes[is_inside])

    def _smooth_runs(self, max_turn: float) -> tuple[Tensor, Tensor]:
        """Halve the whole until each run is smooth or one unit: first unit and size of each."""
        size = 1 << (self.n_units - 1).bit_length()
        firsts = self._highest.new_zeros(1)
        found = []
        while size > 1:
            is_smooth = self._turn(firsts, size) <= max_turn
            found.append((firsts[is_smooth], size))
            rest = firsts[~is_smooth]
            size //= 2
            firsts = torch.cat([rest, rest + size])
            firsts = firsts[firsts < self.n_units]
        found.append((firsts, 1))
        sizes = [torch.full_like(firsts, size) for firsts, size in found]
        return torch.cat([firsts for firsts, _ in found]), torch.cat(sizes)

    def _turn(self, firsts: Tensor, size: int) -> Tensor:
        """Largest change of an exponent within a run, in the rank and in the score."""
        scores, length = self.ranked.scores, size * N_POINTS
        start, last = firsts * N_POINTS, self._last_node(firsts, size)
        own = scores[start] - scores[last]
        above = scores[self._highest[firsts]] - scores[start]
        below = scores[last] - scores[self._lowest[last // N_POINTS]]
        first_row = torch.searchsorted(self._lowest, start) * N_POINTS
        past_row = torch.searchsorted(self._highest, last, right=True) * N_POINTS
        n_rows = (start - first_row).maximum(past_row - last).clamp(min=length)
        return torch.maximum(length * above.maximum(below), n_rows * own)

    def _last_node(self, firsts: Tensor, sizes: Tensor | int) -> Tensor:
        return ((firsts + sizes) * N_POINTS - 1).clamp(max=self.ranked.n_nodes - 1)

    def _set_blocks(self, firsts: Tensor, sizes: Tensor) -> None:
        self.first_units, order = firsts.sort()
        self.sizes = sizes[order]
        self.is_smooth = self.sizes > 1
        starts = torch.zeros(self.n_units, dtype=torch.long, device=firsts.device)
        starts[self.first_units] = 1
        self.of_unit = starts.cumsum(0) - 1
        last_units = self.lasts // N_POINTS
        self.first_reached = self.of_unit[self._highest[self.first_units] // N_POINTS]
        self.past_reached = self.of_unit[self._lowest[last_units] // N_POINTS] + 1
