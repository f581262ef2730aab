"""Contiguous blocks of numbered things, one per process."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Blocks:
    """Numbers from 0 divided into contiguous blocks; a block may be empty.

    Attributes
    ----------
    bounds
        [process + 1] first number of each block, and the end of the last.

    Examples
    --------
    >>> blocks = Blocks((0, 3, 3, 5))
    >>> blocks.counts, blocks.slice_of(2), blocks.owners(torch.tensor([0, 3])).tolist()
    ([3, 0, 2], slice(3, 5, None), [0, 2])
    """

    bounds: tuple[int, ...]

    @property
    def n_total(self) -> int:
        """Number of things in all blocks."""
        return self.bounds[-1]

    @property
    def counts(self) -> list[int]:
        """[process] number of things in each block."""
        return [end - start for start, end in zip(self.bounds, self.bounds[1:], strict=False)]

    def slice_of(self, rank: int) -> slice:
        """Return the block of a process."""
        return slice(self.bounds[rank], self.bounds[rank + 1])

    def owners(self, numbers: Tensor) -> Tensor:
        """Return the process in whose block each number is."""
        ends = torch.tensor(self.bounds[1:], device=numbers.device)
        return torch.searchsorted(ends, numbers.long(), right=True)


def even_blocks(n_total: int, n_blocks: int, multiple_of: int = 1) -> Blocks:
    """Divide into blocks of nearly equal size, whose bounds are multiples of a number.

    Examples
    --------
    >>> even_blocks(10, 3).counts
    [3, 3, 4]
    >>> even_blocks(10, 3, multiple_of=4).counts
    [4, 4, 2]
    """
    n_parts = -(-n_total // multiple_of)
    bounds = (n_parts * number // n_blocks for number in range(n_blocks + 1))
    return Blocks(tuple(min(n_total, bound * multiple_of) for bound in bounds))


def balanced_blocks(costs: Sequence[float] | Tensor, n_blocks: int) -> Blocks:
    """Divide into blocks of nearly equal cost, which is above 0 for each of the things.

    Examples
    --------
    >>> balanced_blocks([6.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], 2).counts
    [1, 6]
    """
    totals = torch.as_tensor(costs, dtype=torch.float64).cumsum(0)
    if len(totals) == 0:
        return even_blocks(0, n_blocks)
    wanted = totals[-1] * torch.arange(1, n_blocks) / n_blocks
    # The bound is where the total comes closest to what is wanted.
    before = torch.cat([totals.new_zeros(1), totals])
    above = torch.searchsorted(before, wanted)
    is_nearer_below = wanted - before[above - 1] < before[above] - wanted
    inner = (above - is_nearer_below.long()).tolist()
    return Blocks((0, *inner, len(totals)))
