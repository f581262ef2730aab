"""Random numbers of some rows, the same as in one process that draws those of all rows."""

import math

import torch
from torch import Tensor

CHUNK = 2**20  # numbers drawn at a time, at most, of which those of other processes are forgotten


def uniform_rows(
    like: Tensor, generator: torch.Generator | None, places: Tensor, n_total: int
) -> Tensor:
    """Draw numbers from [0, 1) in the shape of `like`, which has some rows of all.

    The numbers of the other rows are drawn and forgotten, so the generators of all processes stay
    in step, and a fit does not depend on the number of processes.

    Shapes
    ------
    like, returns : [own row, ...]
    places : [own row], ascending, below `n_total`
    """
    shape = like.shape[1:]
    n_rows = max(1, CHUNK // max(1, math.prod(shape)))
    starts = range(0, n_total, n_rows)
    bounds = torch.searchsorted(places, torch.tensor([*starts, n_total], device=places.device))
    found = torch.empty_like(like)
    for start, first, past in zip(starts, bounds.tolist(), bounds[1:].tolist(), strict=False):
        drawn = torch.rand(
            (min(n_rows, n_total - start), *shape),
            generator=generator,
            dtype=like.dtype,
            device=like.device,
        )
        torch.index_select(drawn, 0, places[first:past] - start, out=found[first:past])
    return found
