"""Free memory, peak memory, and refusal of work that does not fit."""

import os
import sys
from contextlib import suppress
from pathlib import Path

from manyview.errors import InputError
from manyview.system.config import get_config

GB = 2**30


def free_memory() -> float:
    """Return the memory in GB that this process can still use, container limits included."""
    limits = [_machine_memory()]
    group = Path("/sys/fs/cgroup")
    for limit, used in (
        ("memory.max", "memory.current"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
    ):
        try:
            limits.append(int((group / limit).read_text()) - int((group / used).read_text()))
        except (OSError, ValueError):  # no container, or no limit ("max")
            continue
    return max(min(limits), 0) / GB


def memory_limit(free_fraction: float = 1.0) -> float:
    """Return the GB that may be used: `max_memory`, or for "auto" a fraction of what is free."""
    limit = get_config().max_memory
    return free_fraction * free_memory() if isinstance(limit, str) else limit


def check_memory(needed_gb: float, what: str, way_out: str, *, free_fraction: float = 1.0) -> None:
    """Refuse work that needs more memory than it may use, before it starts.

    The limit is `max_memory` of `config_context`; for "auto", `free_fraction` of the free memory.

    Examples
    --------
    >>> from manyview.system.config import config_context
    >>> with config_context(max_memory=6.0):
    ...     check_memory(48.2, "hlr-m2vs on 10,000 samples in 3 views", "Use another method")
    Traceback (most recent call last):
    manyview.errors.InputError: hlr-m2vs on 10,000 samples in 3 views needs about 48.2 GB of memory,
    and 6.0 GB may be used. Use another method, or raise max_memory (manyview.config_context).
    """
    limit = memory_limit(free_fraction)
    if needed_gb > limit:
        raise InputError(
            f"{what} needs about {needed_gb:.1f} GB of memory, and {limit:.1f} GB may be used. "
            f"{way_out}, or raise max_memory (manyview.config_context)."
        )


def reset_peak_memory() -> None:
    """Reset the peak memory of this process, where the system supports it."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_memory() -> float:
    """Return the peak memory of this process in MB, since the last reset if there was one."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    import resource

    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return largest / (2**20 if sys.platform == "darwin" else 2**10)


def _machine_memory() -> float:
    """Return the memory that is free or can be freed, in bytes."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024.0
    except OSError:
        pass
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):  # the system does not report it
        return float("inf")
