"""Peaks of the memory of this process, by kind."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

POLL_SECONDS = 0.1


@contextmanager
def memory_watched() -> Iterator[dict[str, float]]:
    """Poll the memory of this process within a block; yield its peaks in MB, by kind."""
    peaks = {"RssAnon": 0.0, "RssFile": 0.0, "VmRSS": 0.0}
    is_done = threading.Event()

    def watch() -> None:
        while not is_done.wait(POLL_SECONDS):
            for line in Path("/proc/self/status").read_text().splitlines():
                kind = line.partition(":")[0]
                if kind in peaks:
                    peaks[kind] = max(peaks[kind], int(line.split()[1]) / 1024)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield peaks
    finally:
        is_done.set()
        thread.join()
