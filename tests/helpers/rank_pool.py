"""Processes of one gloo group that stay alive for several tests, and run functions by name.

A function of `rank_tasks` gets the `World` of the first `n_ranks` processes and its arguments, and
runs in each of them. Its result must be made of numpy arrays and plain values.
"""

import multiprocessing
import traceback
import warnings
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
from torch import distributed as dist

MOST = 4
SECONDS = 60
PRELOADED = ["torch", "scipy.sparse", "manyview.distributed.world", "manyview.network.training"]


class RankPool:
    """Four processes; the first 1, 2, 3 or 4 of them run a function."""

    def __init__(self, folder: Path) -> None:
        context = multiprocessing.get_context("forkserver")  # imports torch once for all
        context.set_forkserver_preload(PRELOADED)
        self.connections, self.processes = [], []
        for rank in range(MOST):
            own, other = context.Pipe()
            process = context.Process(target=_serve, args=(rank, other, str(folder / "store")))
            process.daemon = True
            process.start()
            other.close()
            self.connections.append(own)
            self.processes.append(process)

    def run(self, task: str, n_ranks: int, *arguments: Any) -> list[Any]:
        """Return what the function returns in each process; raise what it raises."""
        for connection in self.connections[:n_ranks]:
            connection.send((task, n_ranks, arguments))
        answers = []
        for rank, connection in enumerate(self.connections[:n_ranks]):
            assert connection.poll(2 * SECONDS), f"process {rank} does not answer"
            answers.append(connection.recv())
        failures = [text for is_right, text in answers if not is_right]
        assert not failures, failures[0]
        return [result for _, result in answers]

    def close(self) -> None:
        for connection in self.connections:
            with suppress(OSError):  # of a process that has ended
                connection.send(None)
        for process in self.processes:
            process.join(SECONDS)
            if process.is_alive():
                process.kill()


def _serve(rank: int, connection: Any, store: str) -> None:
    import rank_tasks

    from manyview.distributed.world import World, world_of

    warnings.simplefilter("error")
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo",
        init_method=f"file://{store}",
        rank=rank,
        world_size=MOST,
        timeout=timedelta(seconds=SECONDS),
    )
    groups = {size: dist.new_group(list(range(size))) for size in range(2, MOST + 1)}
    while (asked := connection.recv()) is not None:
        task, n_ranks, arguments = asked
        try:
            world = World() if n_ranks == 1 else world_of(groups[n_ranks])
            connection.send((True, getattr(rank_tasks, task)(world, *arguments)))
        except BaseException:
            connection.send((False, traceback.format_exc()))
    dist.destroy_process_group()
