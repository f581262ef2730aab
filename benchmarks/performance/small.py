"""Small data now and before: fits of BBCsports and digits with an older version of the code.

Processes of both versions take turns, and each fits several times; fits with the same seed take the
same number of epochs where both versions compute the same.
"""

import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from manyview import MGCNDNSClassifier, hide_labels, load_dataset
from performance.isolated import ROOT, Meter, run_isolated
from performance.stored import Rows, summary

DATASETS = ("bbcsports", "digits")
BEFORE = "a46ba44"  # the last commit before the work on large data
N_ROUNDS = 7
N_FITS = 5  # in each process, after one to warm up
LABEL_RATIO = 0.1


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


def single_network() -> MGCNDNSClassifier:
    """Return the classifier of one network; older versions have it under a switch."""
    has_recipes = "recipe" in MGCNDNSClassifier().get_params()
    return MGCNDNSClassifier(random_state=0, **({"recipe": "paper"} if has_recipes else {}))


def measure(meter: Meter, dataset: str) -> dict[str, Any]:
    """Return the median seconds of a fit."""
    data = load_dataset(dataset)
    labels = hide_labels(data.labels, LABEL_RATIO, random_state=0)
    seconds = []
    for _ in range(N_FITS + 1):
        start = time.perf_counter()
        model = single_network().fit(data.views, labels)
        seconds.append(time.perf_counter() - start)
    hidden = labels != data.labels
    return {
        "seconds": float(np.median(seconds[1:])),
        "n_epochs": model.training_curve_.n_epochs,
        "accuracy": float(np.mean(model.transduction_[hidden] == data.labels[hidden])),
    }
