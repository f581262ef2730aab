"""One fit over processes: time by step, traffic and memory, beside one process with more threads.

Every row is one whole fit of the default's network, in processes of its own with one thread each,
or in one process with several threads; "on disk" with a scratch folder. Speeds are ratios within
one run; nothing else may run. `anonymous_mb` is the memory that only the process can free, of the
process that needs most.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

import numpy as np
import torch

from manyview import config_context
from manyview.distributed.group import process_group
from manyview.distributed.launch import launch
from manyview.distributed.world import World
from manyview.estimators.manyview import ManyviewClassifier
from performance.isolated import BENCHMARKS, ROOT
from performance.memory import memory_watched
from performance.stored import Rows, summary
from performance.synthetic_data import synthetic_problem
from performance.training import FitClock

SIZES = (30_000, 300_000)
FORMS = {  # name -> processes and threads of each
    "one process": (1, 1),
    "two processes": (2, 1),
    "one process, two threads": (1, 2),
    "one process, on disk": (1, 1),
    "two processes, on disk": (2, 1),
}
ON_DISK = "on disk"
LABEL_RATIO = 0.01
MAX_EPOCHS, N_NEIGHBORS = 30, 10
RESULT = "result.json"


def run(rows: Rows, sizes: Sequence[int] = SIZES) -> None:
    for n_samples in sizes:
        for form in FORMS:
            request = {"n_samples": n_samples, "form": form}
            rows.measure(request, lambda request=request: measure(**request))


def measure(n_samples: int, form: str) -> dict[str, Any]:
    """Fit in new processes; return what the first of them measured."""
    n_processes, n_threads = FORMS[form]
    folders = [str(ROOT / "src"), str(BENCHMARKS)]
    variables = {
        "PYTHONPATH": os.pathsep.join(folders),
        "OMP_NUM_THREADS": str(n_threads),
        "MANYVIEW_THREADS": str(n_threads),
    }
    with TemporaryDirectory(dir=ROOT) as folder:
        result = Path(folder) / RESULT
        started = [sys.executable, "-m", "performance.processes"]
        scratch = str(Path(folder) / "scratch") if form.endswith(ON_DISK) else ""
        arguments = [str(n_samples), str(n_processes), str(result), scratch]
        ended = subprocess.run(
            [*started, *arguments], env=os.environ | variables, capture_output=True, text=True
        )
        if ended.returncode:
            lines = ended.stderr.strip().splitlines() or ["nothing was printed"]
            return {"status": "failed", "reason": lines[-1]}
        return {"status": "done", **json.loads(result.read_text())}


class Traffic:
    """Counts the bytes that this process sends to the others, and the time it waits for them."""

    def __init__(self) -> None:
        self.n_bytes, self.seconds = 0.0, 0.0

    def watch(self, stack: ExitStack) -> None:
        """Count until the stack is closed."""
        for name in ("exchange", "gather_rows", "_reduced"):
            stack.enter_context(mock.patch.object(World, name, self._counted(name)))

    def _counted(self, name: str) -> Any:
        original = getattr(World, name)

        def counted(world: World, values: torch.Tensor, *rest: Any) -> Any:
            start = time.perf_counter()
            found = original(world, values, *rest)
            self.seconds += time.perf_counter() - start
            copies = 1 if name == "exchange" else world.size - 1
            self.n_bytes += copies * values.numel() * values.element_size()
            return found

        return counted


def fit(n_samples: int, world: World, scratch: str) -> dict[str, Any]:
    """Fit once in this process, with the others of its group; return what it took.

    `scratch` is the folder of what is on disk, "" for none.
    """
    views, labels, classes = synthetic_problem(n_samples, LABEL_RATIO)
    model = ManyviewClassifier(cross_fit=False, random_state=0)
    model.set_params(estimator__max_epochs=MAX_EPOCHS, graph__n_neighbors=N_NEIGHBORS)
    clock, traffic = FitClock(), Traffic()
    with ExitStack() as stack:
        stack.enter_context(clock.watching(lambda: traffic.n_bytes))
        traffic.watch(stack)
        stack.enter_context(config_context(scratch_dir=scratch or None))
        peaks = stack.enter_context(memory_watched())
        start, cpu_start = time.perf_counter(), time.process_time()
        model.fit(views, labels)
        end, cpu_end = time.perf_counter(), time.process_time()
    hidden = labels == -1
    return {
        "n_edges": int(model.fused_graph_.nnz),
        "seconds": {
            "graphs": clock.graphs_end - start,
            "training": clock.training,
            "whole": end - start,
        },
        "cpu_seconds": cpu_end - cpu_start,  # of the first process
        "fixed_epoch": summary(clock.fixed),
        "epoch": summary(clock.learned),
        "sent_bytes_per_epoch": clock.counted,
        "waiting_seconds": traffic.seconds,
        "anonymous_mb": max(world.gather_objects(peaks["RssAnon"])),
        "accuracy": float(np.mean(model.transduction_[hidden] == classes[hidden])),
    }


def main() -> None:
    n_samples, n_processes, result = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    scratch = sys.argv[4]
    if n_processes > 1 and "RANK" not in os.environ:
        sys.exit(launch(["performance.processes", *sys.argv[1:]], n_processes))
    torch.set_num_threads(int(os.environ["MANYVIEW_THREADS"]))
    with process_group() as world:
        found = fit(n_samples, world, scratch)
        if world.rank == 0:
            result.write_text(json.dumps(found))


if __name__ == "__main__":
    main()
