"""A process of a shared fit that is much slower than the others, and lets them wait."""

from dataclasses import dataclass, field
from socket import gethostname
from statistics import median
from time import perf_counter

import torch

from manyview.distributed.world import World, seconds_waited
from manyview.system.progress import show_message

N_EPOCHS = 20  # between two comparisons
SECONDS = 10.0  # that the slowest must have computed; shorter trainings are not compared
RATIO = 1.5  # of its time to the median of the others


@dataclass
class SlowProcess:
    """Compares how long the processes compute, without the time they wait for each other.

    The first process shows one line about the slowest, once.
    """

    n_epochs: int = 0
    has_shown: bool = False
    began: float = field(default_factory=lambda: perf_counter() - seconds_waited())

    def end_epoch(self, world: World) -> None:
        """Compare the processes after some epochs; collective."""
        self.n_epochs += 1
        if self.has_shown or self.n_epochs % N_EPOCHS:
            return
        own = torch.tensor([perf_counter() - seconds_waited() - self.began], dtype=torch.float64)
        seconds = world.gather_rows(own, [1] * world.size).tolist()
        if max(seconds) < SECONDS:
            return
        self.began = perf_counter() - seconds_waited()
        found = slowest(seconds)
        if found is None:
            return
        self.has_shown = True
        rank, ratio = found
        hosts = world.gather_objects(gethostname())
        if world.rank == 0:
            show_message(
                f"Process {rank} of {world.size}, on {hosts[rank]}, is slow: it computes "
                f"{ratio:.1f} times as long as the others, which wait for it."
            )


def slowest(seconds: list[float]) -> tuple[int, float] | None:
    """Return the slowest process and its time relative to the others' median; None if close.

    Examples
    --------
    >>> slowest([10.0, 10.0, 30.0]), slowest([10.0, 12.0])
    ((2, 3.0), None)
    """
    rank = max(range(len(seconds)), key=seconds.__getitem__)
    others = median(one for number, one in enumerate(seconds) if number != rank)
    if seconds[rank] <= RATIO * others:
        return None
    return rank, seconds[rank] / max(others, 1e-9)
