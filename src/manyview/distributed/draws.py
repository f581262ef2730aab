"""Random numbers of a block of rows, the same as in one process that draws those of all rows."""

import torch
from torch import Tensor

from manyview.distributed.blocks import Blocks

CHUNK = 2**20  # numbers drawn at a time for the rows of other processes, and forgotten


def uniform_rows(
    like: Tensor, generator: torch.Generator | None, blocks: Blocks | None, rank: int
) -> Tensor:
    """Draw numbers from [0, 1) in the shape of `like`, the own block of the rows of all processes.

    The numbers of the other blocks are drawn and forgotten, so the generators of all processes
    stay in step, and a fit does not depend on the number of processes. Without blocks, nothing is
    forgotten.

    Shapes
    ------
    like : [own row, ...]
    """
    width = like[0].numel() if len(like) else like.new_empty(1, *like.shape[1:]).numel()
    before = after = 0
    if blocks is not None:
        own = blocks.slice_of(rank)
        before, after = own.start * width, (blocks.n_total - own.stop) * width
    _forget(before, like, generator)
    drawn = torch.rand(like.shape, generator=generator, dtype=like.dtype, device=like.device)
    _forget(after, like, generator)
    return drawn


def _forget(n_numbers: int, like: Tensor, generator: torch.Generator | None) -> None:
    for start in range(0, n_numbers, CHUNK):
        n_drawn = min(CHUNK, n_numbers - start)
        torch.rand(n_drawn, generator=generator, dtype=like.dtype, device=like.device)
