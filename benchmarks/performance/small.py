"""Small data now and before: fits of BBCsports and digits with an older version of the code.

Processes of both versions take turns, and each fits several times; fits with the same seed take the
same number of epochs where both versions compute the same.
"""

import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from performance.isolated import ROOT, run_isolated
from performance.small_fit import measure
from performance.stored import Rows, summary

DATASETS = ("bbcsports", "digits")
BEFORE = "a46ba44"  # the last commit before the work on large data
N_ROUNDS = 7


def run(rows: Rows, before: str = BEFORE, n_rounds: int = N_ROUNDS) -> None:
    """Measure against `before`, a checkout's folder or a commit of this repository."""
    with tempfile.TemporaryDirectory() as temporary:
        source = source_of(before, Path(temporary))
        for dataset in DATASETS:
            rows.measure(
                {"dataset": dataset, "before": before},
                lambda dataset=dataset: compare(dataset, source, n_rounds),
            )


def source_of(before: str, temporary: Path) -> Path:
    """Return the folder of the older package: of a checkout, or extracted from a commit."""
    if (Path(before) / "src" / "manyview").is_dir():
        return Path(before).resolve() / "src"
    archive = temporary / "before.tar"
    taken = subprocess.run(
        ["git", "-C", ROOT, "archive", f"--output={archive}", before, "src"],
        capture_output=True,
        text=True,
        check=False,
    )
    if taken.returncode != 0:
        raise SystemExit(f"{before} is neither a checkout nor a commit: {taken.stderr.strip()}")
    subprocess.run(["tar", "-xf", archive, "-C", temporary], check=True)
    return temporary / "src"


def compare(dataset: str, before: Path, n_rounds: int) -> dict[str, Any]:
    """Run both versions in turn and compare their times."""
    found: dict[str, list[dict[str, Any]]] = {"now": [], "before": []}
    for number in range(n_rounds):
        states = [("now", None), ("before", before)]
        for state, source in states if number % 2 == 0 else states[::-1]:
            outcome = run_isolated(measure, source=source, dataset=dataset)
            if outcome["status"] != "done":
                return outcome
            found[state].append(outcome)
    seconds = {state: [one["seconds"] for one in all_] for state, all_ in found.items()}
    return {
        "seconds": {state: summary(values) for state, values in seconds.items()},
        "n_epochs": {state: all_[0]["n_epochs"] for state, all_ in found.items()},
        "accuracy": {state: all_[0]["accuracy"] for state, all_ in found.items()},
        "ratio": float(np.median(seconds["now"]) / np.median(seconds["before"])),
        "ratio_by_round": summary(np.divide(seconds["now"], seconds["before"]).tolist()),
    }
