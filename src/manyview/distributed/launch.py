"""Start the processes of one fit on this machine, and end all of them when one fails.

It does not import torch: the processes do.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from manyview.errors import ProcessError
from manyview.system.interrupts import interrupted_code

RENDEZVOUS = "MANYVIEW_RENDEZVOUS"  # where the processes of `launch` meet
POLL_SECONDS = 0.1
FAILED_ELSEWHERE = 3  # exit code of a process that ends because another has failed
GRACE_SECONDS = 10.0  # for the others to end by themselves when one has failed


def is_member() -> bool:
    """Whether torchrun or `launch` started this process as one of several."""
    where = RENDEZVOUS in os.environ or {"MASTER_ADDR", "MASTER_PORT"} <= os.environ.keys()
    return where and "RANK" in os.environ and int(os.environ.get("WORLD_SIZE", "1")) > 1


def n_members() -> int:
    """Return the number of processes that this one was started with, itself included."""
    return int(os.environ["WORLD_SIZE"]) if is_member() else 1


def n_members_here() -> int:
    """Return how many of them are on this machine, as far as is known."""
    return int(os.environ.get("LOCAL_WORLD_SIZE", "1")) if is_member() else 1


def launch(arguments: Sequence[str], n_processes: int) -> int:
    """Run `python -m ARGUMENTS` in several processes; return the exit code.

    The first process has this one's input and output. The others print nothing; if one of them
    fails first, an error says so with the last line it wrote. An interrupt of this process ends
    all, and then this one.
    """
    with TemporaryDirectory(prefix="manyview-") as folder:
        members: list[_Member] = []
        try:
            for rank in range(n_processes):
                members.append(_start(arguments, rank, n_processes, Path(folder)))
            return _wait(members)
        except KeyboardInterrupt:  # which the first process reports
            raise SystemExit(interrupted_code()) from None
        finally:
            for member in members:
                member.end()


@dataclass(frozen=True)
class _Member:
    rank: int
    process: subprocess.Popen[bytes]
    errors: Path | None  # what it wrote to its error stream; None if that is ours

    @property
    def code(self) -> int | None:
        return self.process.poll()

    @property
    def has_failed(self) -> bool:
        return bool(self.code)

    def end(self) -> None:
        """Ask it to end, and end it if it does not."""
        if self.code is None:
            self.process.terminate()
            try:
                self.process.wait(GRACE_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def reason(self) -> str:
        """Return why it failed: its last line, or the signal that ended it."""
        lines = []
        if self.errors is not None:
            lines = self.errors.read_text(errors="replace").strip().splitlines()
        if lines:
            return lines[-1].removeprefix("Error: ")
        code = self.process.returncode
        if code < 0:
            with suppress(ValueError):
                return f"it was ended by {signal.Signals(-code).name}."
        return f"it ended with code {code}."


def _start(arguments: Sequence[str], rank: int, size: int, folder: Path) -> _Member:
    n_cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    environment = {
        "OMP_NUM_THREADS": str(max(1, (n_cores or 1) // size)),
        **os.environ,
        "RANK": str(rank),
        "WORLD_SIZE": str(size),
        "LOCAL_WORLD_SIZE": str(size),
        RENDEZVOUS: f"file://{folder / 'store'}",
    }
    if Path("/sys/class/net/lo").exists():
        environment.setdefault("GLOO_SOCKET_IFNAME", "lo")  # no name server, no network
    errors = None if rank == 0 else folder / f"errors-{rank}"
    file: IO[bytes] | None = None if errors is None else errors.open("wb")
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", *arguments],
            env=environment,
            stdin=None if rank == 0 else subprocess.DEVNULL,
            stdout=None if rank == 0 else subprocess.DEVNULL,
            stderr=file,
        )
    finally:
        if file is not None:
            file.close()
    return _Member(rank, process, errors)


def _wait(members: Sequence[_Member]) -> int:
    """Wait until all have ended, or one has failed and the others had time to end, too."""
    while not any(member.code for member in members):
        if all(member.code == 0 for member in members):
            return 0
        time.sleep(POLL_SECONDS)
    deadline = time.monotonic() + GRACE_SECONDS
    while any(member.code is None for member in members) and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
    first, *others = members
    if first.code is not None and first.code > 0 and first.code != FAILED_ELSEWHERE:
        return first.code  # it has said why
    failed = [member for member in (*others, first) if member.has_failed]
    named = next((member for member in failed if member.code != FAILED_ELSEWHERE), failed[0])
    raise ProcessError(
        f"process {named.rank} of {len(members)} failed, and with it the fit: {named.reason()}"
    )
