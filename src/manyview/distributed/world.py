"""The processes that share one fit: torch's process group, or this process alone.

Methods of `World` are collective unless they say otherwise: all processes of the group have to call
them, in the same order. In a world of one they return what they are given.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Event, Thread
from time import perf_counter
from typing import Any, TypeVar

import torch
from torch import Tensor
from torch import distributed as dist

from manyview.errors import InputError, ProcessError

SOURCE_PLACE = re.compile(r"^\[[^\]]*\.cc:\d+\] ")
N_CAUSE = 200  # characters of the connection's own message
PULSE_SECONDS = 60.0  # between signs of life of a process that the others wait for
_BUSY, _DONE, _FAILED = range(3)
Result = TypeVar("Result")
_waited = [0.0]  # seconds in messages to other processes
_WORLD: ContextVar["World | None"] = ContextVar("manyview_world", default=None)


@dataclass(frozen=True)
class World:
    """The processes of one fit.

    Attributes
    ----------
    rank, size
        Number of this process, from 0, and number of processes.
    group
        Torch's process group; None is the default group.
    """

    rank: int = 0
    size: int = 1
    group: Any = None

    @property
    def is_shared(self) -> bool:
        """Whether there are other processes."""
        return self.size > 1

    def check_backend(self) -> None:
        """Refuse a process group that cannot exchange arrays of the processor; not collective."""
        if not self.is_shared:
            return
        backends = dist.get_backend_config(self.group)
        if "cpu:" not in backends:
            raise InputError(
                "the process group must exchange arrays of the processor; its backend is "
                f"{backends}. Initialize it with 'gloo', or with 'cpu:gloo,cuda:nccl'."
            )

    def sum(self, values: Tensor) -> Tensor:
        """Add the values of all processes; every process gets the same sums."""
        return self._reduced(values, dist.ReduceOp.SUM)

    def max(self, values: Tensor) -> Tensor:
        """Take the largest value over all processes, entry by entry."""
        return self._reduced(values, dist.ReduceOp.MAX)

    def broadcast(self, values: Tensor) -> Tensor:
        """Return the values of the first process, which all must give in the same shape."""
        if not self.is_shared:
            return values
        received = values.detach().clone().contiguous()
        with _failures_named():
            dist.broadcast(received, self._first, group=self.group)
        return received

    def from_first(self, compute: Callable[[], Result]) -> Result:
        """Return what the first process computes, however long it takes; the others wait for it.

        What it computes is not collective. If it fails, the others raise an error, too.

        Examples
        --------
        >>> World().from_first(lambda: 3)
        3
        """
        if not self.is_shared:
            return compute()
        results: list[Any] = [None]
        if self.rank == 0:
            with self._pulse():
                results[0] = compute()
        else:
            while (state := self._signal(_BUSY)) == _BUSY:
                pass
            if state == _FAILED:
                raise ProcessError(
                    "the first process of this fit has failed, so this one ends, too; the first "
                    "says why."
                )
        with _failures_named():
            dist.broadcast_object_list(results, self._first, group=self.group)
        result: Result = results[0]
        return result

    def gather_rows(self, rows: Tensor, counts: Sequence[int]) -> Tensor:
        """Join the rows of all processes, in their order.

        Parameters
        ----------
        rows
            [own row, ...]
        counts
            [process] number of rows of each.
        """
        if not self.is_shared or max(counts) == 0:
            return rows
        # gloo gathers only blocks of one size.
        padded = rows.new_zeros(max(counts), *rows.shape[1:])
        padded[: len(rows)] = rows.detach()
        blocks = [torch.empty_like(padded) for _ in counts]
        with _failures_named():
            dist.all_gather(blocks, padded, group=self.group)
        return torch.cat([block[:count] for block, count in zip(blocks, counts, strict=True)])

    def exchange(self, rows: Tensor, n_sent: Sequence[int], n_received: Sequence[int]) -> Tensor:
        """Send rows to every process, and return those that come from every process.

        Parameters
        ----------
        rows
            [sent row, ...] those for the first process first.
        n_sent, n_received
            [process] number of rows for and from each.
        """
        if not self.is_shared:
            return rows
        received = rows.new_empty(sum(n_received), *rows.shape[1:])
        with _failures_named():
            dist.all_to_all_single(
                received,
                rows.detach().contiguous(),
                list(n_received),
                list(n_sent),
                group=self.group,
            )
        return received

    def gather_objects(self, own: Any) -> list[Any]:
        """Return an object of every process, such as a text, in their order."""
        if not self.is_shared:
            return [own]
        gathered = [None] * self.size
        with _failures_named():
            dist.all_gather_object(gathered, own, group=self.group)
        return gathered

    def check_equal(self, what: str, own: Any, way_out: str) -> None:
        """Refuse, in every process, what is not the same in all of them.

        Parameters
        ----------
        what
            Subject of the sentence, in the plural: "the views".
        own
            What this process has, or a checksum of it.
        way_out
            A sentence.
        """
        gathered = self.gather_objects(own)
        others = [rank for rank, one in enumerate(gathered) if one != gathered[0]]
        if others:
            ranks = ", ".join(map(str, others))
            raise InputError(
                f"{what} must be the same in all {self.size} processes of the fit; those of "
                f"process {ranks} differ from those of process 0. {way_out}"
            )

    @contextmanager
    def _pulse(self) -> Iterator[None]:
        """Let the others know that the first process is busy, and then whether it has failed.

        Otherwise they would take a long computation for the end of the connection.
        """
        is_done = Event()

        def signal_busy() -> None:
            with suppress(ProcessError):  # the main thread will see it
                while not is_done.wait(PULSE_SECONDS):
                    self._signal(_BUSY)

        pulse = Thread(target=signal_busy, daemon=True)
        pulse.start()
        try:
            yield
        except BaseException:
            is_done.set()
            pulse.join()
            with suppress(ProcessError):
                self._signal(_FAILED)
            raise
        is_done.set()
        pulse.join()
        self._signal(_DONE)

    def _signal(self, state: int) -> int:
        """Return the state of the first process."""
        return int(self.broadcast(torch.tensor(state)))

    @property
    def _first(self) -> int:
        """Number of the first process among those of the default group."""
        return 0 if self.group is None else dist.get_global_rank(self.group, 0)

    def _reduced(self, values: Tensor, operation: Any) -> Tensor:
        if not self.is_shared:
            return values
        reduced = values.detach().clone().contiguous()
        with _failures_named():
            dist.all_reduce(reduced, operation, group=self.group)
        return reduced


ALONE = World()


def world() -> World:
    """Return the processes that share a fit here: those of the block, else the default group's.

    Outside of an initialized process group it is this process alone.

    Examples
    --------
    >>> world()
    World(rank=0, size=1, group=None)
    """
    chosen = _WORLD.get()
    if chosen is not None:
        return chosen
    if not (dist.is_available() and dist.is_initialized()):
        return ALONE
    return World(dist.get_rank(), dist.get_world_size())


@contextmanager
def use_world(chosen: World) -> Iterator[None]:
    """Share the fits within a block among the processes of `chosen`; `ALONE` shares nothing."""
    token = _WORLD.set(chosen)
    try:
        yield
    finally:
        _WORLD.reset(token)


def seconds_waited() -> float:
    """Return how long this process has exchanged messages with others, and waited for them."""
    return _waited[0]


def world_of(group: Any) -> World:
    """Return the world of a process group that this process belongs to."""
    return World(dist.get_rank(group), dist.get_world_size(group), group)


@contextmanager
def _failures_named() -> Iterator[None]:
    """Turn an error of the connections between processes into one sentence, and add up the time."""
    began = perf_counter()
    try:
        yield
    except RuntimeError as error:
        raise ProcessError(
            "another process of this fit has ended or does not answer, so this one ends, too; the "
            f"first process that failed says why. {cause_of(error)}"
        ) from error
    finally:
        _waited[0] += perf_counter() - began


def cause_of(error: RuntimeError) -> str:
    """Return the first line of an error of a connection, without the place in its source."""
    sentence = SOURCE_PLACE.sub("", str(error).strip().partition("\n")[0]).partition(". ")[0]
    return f"The connection reports: {sentence[:N_CAUSE].rstrip('.')}."
