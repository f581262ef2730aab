"""Threads of torch: one where operations are too short for several."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

ONE_THREAD_BELOW = 50_000  # samples; with fewer, operations are too short for threads


@contextmanager
def threads_for(n_samples: int) -> Iterator[None]:
    """Use one thread of torch for few samples within a block.

    Threads synchronize after every operation. Short operations gain little, and on a busy machine
    each synchronization takes longer than the operation.
    """
    before = torch.get_num_threads()
    if n_samples < ONE_THREAD_BELOW:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
