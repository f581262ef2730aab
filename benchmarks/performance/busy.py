"""A busy machine: one and two threads beside a process that never waits.

Wall time of the default, processes of one and of two threads taking turns.
"""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from manyview.experiments.limits import Limits
from performance.isolated import run_isolated
from performance.stored import Rows, summary
from performance.whole_job import measure

SIZES = (2000, 10_000, 100_000)
THREADS = (1, 2)
N_ROUNDS = 3
ONE_ROUND_FROM = 50_000


def run(rows: Rows, sizes: Sequence[int] = SIZES, n_rounds: int = N_ROUNDS) -> None:
    for n_samples in sizes:
        own_rounds = 1 if n_samples >= ONE_ROUND_FROM else n_rounds
        rows.measure(
            {"n_samples": n_samples},
            lambda n_samples=n_samples, own_rounds=own_rounds: compare(n_samples, own_rounds),
        )


def compare(n_samples: int, n_rounds: int) -> dict[str, Any]:
    """Return the wall seconds by number of threads, and the ratio of two threads to one."""
    found: dict[int, list[float]] = {n_threads: [] for n_threads in THREADS}
    with spinning_process():
        for number in range(n_rounds):
            for n_threads in THREADS if number % 2 == 0 else THREADS[::-1]:
                outcome = run_isolated(
                    measure,
                    limits=Limits(n_threads=n_threads),
                    n_samples=n_samples,
                    method="manyview",
                )
                if outcome["status"] != "done":
                    return outcome
                found[n_threads].append(outcome["seconds"])
    seconds = {f"{n_threads}": summary(all_) for n_threads, all_ in found.items()}
    return {
        "status": "done",
        "seconds": seconds,
        "ratio": seconds["2"]["median"] / seconds["1"]["median"],
    }


@contextmanager
def spinning_process() -> Iterator[None]:
    """Run a process that computes without a pause beside a block."""
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        process.kill()
        process.wait()
