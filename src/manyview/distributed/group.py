"""Join the process group that torchrun, or `launch`, has started this process for."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from torch import distributed as dist

from manyview.distributed.launch import RENDEZVOUS, is_member
from manyview.distributed.world import World, cause_of, world
from manyview.errors import ProcessError

# How long a process waits for one that neither answers nor has ended. The end of a process is seen
# at once.
TIMEOUT = timedelta(minutes=10)


@contextmanager
def process_group() -> Iterator[World]:
    """Be one of the processes that share the fits of this block, if started as one of several."""
    if not is_member() or dist.is_initialized():
        yield world()
        return
    try:
        dist.init_process_group(
            "gloo",
            init_method=os.environ.get(RENDEZVOUS, "env://"),
            rank=int(os.environ["RANK"]),
            world_size=int(os.environ["WORLD_SIZE"]),
            timeout=TIMEOUT,
        )
    except RuntimeError as error:
        raise ProcessError(
            "the processes of this fit did not find each other. Check that all of them were "
            f"started, and that their machines can connect to each other. {cause_of(error)}"
        ) from error
    try:
        yield world()
    finally:
        dist.destroy_process_group()
