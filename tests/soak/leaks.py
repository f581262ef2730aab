"""Fit, save, load and predict again and again in one process: nothing may pile up."""

import os
import sys
import threading
from pathlib import Path

import numpy as np

from tests.soak.campaign import Limits, Violation, main, shared_folder
from tests.soak.commands import preload, write_data

N_FITS = 200
N_WARM = 5  # fits until caches are full
MAX_GROWTH_MB = 40.0


def prepare(shared: Path) -> None:
    """Write the data."""
    write_data(shared)


def case(rng: np.random.Generator, folder: Path) -> str:
    """Count open files, threads and memory over many runs."""
    return watch_fits(shared_folder() / "data.npz", folder, N_FITS, int(rng.integers(1000)))


def watch_fits(data: Path, folder: Path, n_fits: int, seed: int) -> str:
    """Raise a violation if open files, threads or memory grow from fit to fit."""
    from manyview.report.run.page import report_files
    from manyview.runs.fitting import fit_run
    from manyview.runs.predicting import predict_run, write_predictions
    from manyview.runs.settings import RunSettings
    from manyview.runs.sources import DataSource

    source, first = DataSource((str(data),)), None
    for number in range(n_fits):
        settings = RunSettings(
            source, params={"max_epochs": 2}, label_ratio=0.2, seed=seed, out=folder / str(number)
        )
        fitted = fit_run(settings, extra_files=report_files)
        write_predictions(predict_run(fitted.folder, source), folder / "predicted.csv")
        if number == min(N_WARM, n_fits // 2):
            first = _used()
    last = _used()
    if first is not None:
        for name, at_most in (("files", 0.0), ("threads", 0.0), ("memory", MAX_GROWTH_MB)):
            if last[name] - first[name] > at_most:
                raise Violation(f"leak of {name}", f"{first} after {N_WARM}, {last} after {n_fits}")
    return f"{n_fits} fits held"


def _used() -> dict[str, float]:
    files = Path("/proc/self/fd")
    pages = Path("/proc/self/statm")
    if not files.exists():
        return {"files": 0, "threads": threading.active_count(), "memory": 0}
    memory = int(pages.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    return {
        "files": len(list(files.iterdir())),
        "threads": len(list(Path("/proc/self/task").iterdir())),
        "memory": memory,
    }


if __name__ == "__main__":
    preload()
    sys.exit(main("leaks", case, n_cases=1, limits=Limits(seconds=1800), prepare=prepare))
