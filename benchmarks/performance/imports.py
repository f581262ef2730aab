"""Startup time: imports, and the help of the command line."""

import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

from performance.isolated import ROOT
from performance.stored import Rows, summary

N_ROUNDS = 9
TIMED = "import time; start = time.perf_counter(); {}; print(time.perf_counter() - start)"
CLASSIFIER = "from manyview import ManyviewClassifier"
COMMANDS = (("--help",), ("fit", "--help"), ("bench", "--help"), ("methods",), ("datasets",))


def run(rows: Rows, n_rounds: int = N_ROUNDS) -> None:
    rows.measure({"what": "imports"}, lambda: imports(n_rounds))
    rows.measure({"what": "commands"}, lambda: commands(n_rounds))


def imports(n_rounds: int) -> dict[str, Any]:
    """Time imports in a fresh process, the classifier's also after torch's."""
    cases = {
        "import torch": TIMED.format("import torch"),
        "import manyview": TIMED.format("import manyview"),
        CLASSIFIER: TIMED.format(CLASSIFIER),
        f"{CLASSIFIER}, torch imported before": f"import torch; {TIMED.format(CLASSIFIER)}",
    }
    seconds: dict[str, list[float]] = {case: [] for case in cases}
    for number in range(n_rounds + 1):  # cases take turns; the first round warms up the disk
        for case, code in cases.items():
            taken = float(_output("-c", code))
            if number:
                seconds[case].append(taken)
    return {"seconds": {case: summary(values) for case, values in seconds.items()}}


def commands(n_rounds: int) -> dict[str, Any]:
    """Time whole processes: Python alone, and commands that should return at once."""
    cases: dict[str, Sequence[str]] = {"python -c pass": ("-c", "pass")}
    cases |= {" ".join(("manyview", *words)): ("-m", "manyview", *words) for words in COMMANDS}
    seconds: dict[str, list[float]] = {case: [] for case in cases}
    for number in range(n_rounds + 1):
        for case, arguments in cases.items():
            start = time.perf_counter()
            _output(*arguments)
            if number:
                seconds[case].append(time.perf_counter() - start)
    return {"seconds": {case: summary(values) for case, values in seconds.items()}}


def _output(*arguments: str) -> str:
    command = [sys.executable, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    return done.stdout
