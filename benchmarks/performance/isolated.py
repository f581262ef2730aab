"""Run one measurement in its own process, so that its peak memory can be measured."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from manyview.experiments.limits import Limits, memory_of, thread_variables

BENCHMARKS = Path(__file__).parent.parent
ROOT = BENCHMARKS.parent
POLL_SECONDS = 0.1
N_THREADS = int(os.environ.get("OMP_NUM_THREADS", "2"))


def run_isolated(
    function: Callable[..., Any],
    *,
    limits: Limits | None = None,
    source: Path | None = None,
    **arguments: Any,
) -> dict[str, Any]:
    """Call `function(meter, **arguments)` in a new process; a failure becomes the outcome.

    Parameters
    ----------
    limits
        A process that takes more is terminated.
    source
        Folder to import manyview from; None is the one in use.

    Returns
    -------
    What the function returned and `status` "done", or a `status` and its `reason`.
    """
    limits = limits or Limits(n_threads=N_THREADS)
    folders = [str(source or ROOT / "src"), str(BENCHMARKS), os.environ.get("PYTHONPATH", "")]
    with TemporaryFile("w+") as output, TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "performance.meter",
                f"{function.__module__}:{function.__name__}",
                json.dumps(arguments),
            ],
            stdout=output,
            stderr=errors,
            env=os.environ
            | thread_variables(limits.n_threads)
            | {"PYTHONPATH": os.pathsep.join(filter(None, folders))},
        )
        try:
            reason = _wait(process, limits)
        finally:
            process.kill()
            process.wait()
        if reason:
            return reason
        output.seek(0)
        errors.seek(0)
        if process.returncode != 0:
            written = errors.read().strip()
            sys.stderr.write(f"{written}\n")
            last = (written.splitlines() or [f"ended with code {process.returncode}"])[-1]
            return {"status": "failed", "reason": last}
        return {"status": "done", **json.loads(output.read().splitlines()[-1])}


def _wait(process: subprocess.Popen[bytes], limits: Limits) -> dict[str, Any] | None:
    """Wait for the process; return why it must be terminated early, None if it need not."""
    start = time.monotonic()
    while process.poll() is None:
        time.sleep(POLL_SECONDS)
        if limits.minutes is not None and time.monotonic() - start > 60 * limits.minutes:
            return {"status": "out of time", "reason": f"not done in {limits.minutes:g} minutes"}
        taken = memory_of(process.pid) or 0.0
        if limits.memory_gb is not None and taken > limits.memory_gb:
            return {"status": "out of memory", "reason": f"took over {limits.memory_gb:g} GB"}
    return None
