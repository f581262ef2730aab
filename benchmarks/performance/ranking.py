"""Accuracy with the fast and with the exact node confidence, by seed.

The trials are those of `benchmarks/plans/ranking.toml`, in the store of all records.
"""

import os
import subprocess
import sys
from typing import Any

import numpy as np

from manyview.experiments.plan import load_plan
from manyview.experiments.study import Study
from manyview.report.study.results import METRICS, study_results
from performance.isolated import BENCHMARKS
from performance.stored import FOLDER, Rows

PLAN = BENCHMARKS / "plans" / "ranking.toml"
STORE = FOLDER.parent
N_JOBS = 2


def run(rows: Rows) -> None:
    command = ["-m", "manyview", "bench", "run", str(PLAN), "--out", str(STORE), "-j", str(N_JOBS)]
    subprocess.run([sys.executable, *command], check=True)
    study = Study.open(load_plan(str(PLAN)), STORE, os.environ.get("MANYVIEW_DATA"))
    for dataset in study.plan.datasets:
        rows.measure({"dataset": dataset}, lambda dataset=dataset: compare(study, dataset))


def compare(study: Study, dataset: str) -> dict[str, Any]:
    """Return the accuracy in percent by seed, exact and fast, and their mean difference."""
    by_seed = {
        cell.entry: result.by_seed
        for cell, result in study_results(study, METRICS["accuracy"]).items()
        if cell.dataset == dataset
    }
    seeds = sorted(set(by_seed["exact"]) & set(by_seed["fast"]))
    if not seeds:
        return {"status": "failed", "reason": f"no finished trials of {dataset}"}
    accuracy = {entry: [values[seed] for seed in seeds] for entry, values in by_seed.items()}
    differences = np.subtract(accuracy["fast"], accuracy["exact"])
    return {
        "status": "done",
        "seeds": seeds,
        "accuracy": accuracy,
        "difference": float(differences.mean()),
        "largest": float(np.abs(differences).max()),
    }
