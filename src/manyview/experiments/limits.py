"""Limits of a trial: threads, time, memory."""

import os
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


@dataclass(frozen=True)
class Limits:
    """What one trial may take; None is no limit.

    Attributes
    ----------
    minutes
        Time of one trial.
    memory_gb
        Memory of the process that runs it.
    n_threads
        Threads of that process.
    """

    minutes: float | None = None
    memory_gb: float | None = None
    n_threads: int = 1

    def check(self) -> None:
        """Refuse limits that are no numbers above 0."""
        if self.minutes is not None:
            check_number("the time limit (minutes)", self.minutes, above=0)
        if self.memory_gb is not None:
            check_number("the memory limit (GB)", self.memory_gb, above=0)
            if memory_of(os.getpid()) is None:
                raise InputError(
                    "a memory limit needs psutil on this system. Install it: pip install psutil"
                )


def thread_variables(n_threads: int) -> dict[str, str]:
    """Environment variables that hold the libraries of a new process to this many threads."""
    return dict.fromkeys(THREAD_VARIABLES, str(n_threads))


def memory_of(pid: int) -> float | None:
    """Memory a process takes now, in GB; None where the system does not tell."""
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
