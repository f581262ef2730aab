"""Limits of a trial: threads, time and memory."""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from manyview.errors import InputError
from manyview.validation import check_number

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)
CGROUPS, OWN_CGROUP = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")


@dataclass(frozen=True)
class Limits:
    """Limits of one trial and of the process that runs it; None is no limit."""

    minutes: float | None = None
    memory_gb: float | None = None
    n_threads: int = 1

    def check(self) -> None:
        """Refuse limits that are not above 0."""
        if self.minutes is not None:
            check_number("minutes", self.minutes, above=0)
        if self.memory_gb is not None:
            check_number("memory", self.memory_gb, above=0)
            if memory_of(os.getpid()) is None:
                raise InputError(
                    "a memory limit needs psutil on this system. Install it: pip install psutil"
                )


def thread_variables(n_threads: int) -> dict[str, str]:
    """Return environment variables that limit the threads of a new process."""
    return dict.fromkeys(THREAD_VARIABLES, str(n_threads))


def memory_of(pid: int) -> float | None:
    """Return the memory of a process in GB; None if the system does not report it."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**30
    except (OSError, IndexError, ValueError, AttributeError):
        pass
    try:
        import psutil
    except ImportError:
        return None
    try:
        return float(psutil.Process(pid).memory_info().rss / 2**30)
    except psutil.Error:
        return None


def oom_kills() -> int | None:
    """Count the processes of this cgroup that the system killed for lack of memory.

    None if the system does not report it.
    """
    try:
        lines = OWN_CGROUP.read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if not controllers:  # version 2
            files = [CGROUPS / path.lstrip("/") / "memory.events", CGROUPS / "memory.events"]
        elif "memory" in controllers.split(","):
            folder = CGROUPS / "memory"
            files = [
                folder / path.lstrip("/") / "memory.oom_control",
                folder / "memory.oom_control",
            ]
        else:
            continue
        for file in files:
            with suppress(OSError, ValueError):
                counts = dict(line.split() for line in file.read_text().splitlines())
                if "oom_kill" in counts:
                    return int(counts["oom_kill"])
    return None
