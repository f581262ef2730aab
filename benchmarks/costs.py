"""What each method costs: time and memory of one fit, one after the other, in one run.

    python benchmarks/costs.py          # writes results/costs.json

Times are of one machine on one day; read their ratios. Each fit has a process of its own with two
threads; nothing else should run.
"""

import json
import os
from pathlib import Path

from rich.console import Console

from manyview.experiments.limits import Limits
from manyview.experiments.trial import Trial, versions
from manyview.experiments.worker import Worker
from manyview.methods import METHODS

OUT = Path(__file__).parent.parent / "results" / "costs.json"
DATASETS = ("caltech101-20", "mnist-10k")
PARAMS = {"hlr-m2vs": {"max_memory": 6.0}, "mgcn-dns": {"recipe": "paper"}}
LIMITS = Limits(minutes=30, memory_gb=6, n_threads=2)


def main():
    console = Console()
    costs = {name: {} for name in METHODS}
    for dataset in DATASETS:
        for name in METHODS:
            worker = Worker(os.environ.get("MANYVIEW_DATA"), None, LIMITS)
            outcome = worker.run(Trial(dataset, name, PARAMS.get(name, {}), 0.1))
            worker.stop()
            kept = ("status", "seconds", "peak_memory_mb", "n_iter", "reason")
            costs[name][dataset] = {key: outcome[key] for key in kept if key in outcome}
            console.print(f"{dataset} {name}: {costs[name][dataset]}")
    document = {"label_ratio": 0.1, "seed": 0, "n_threads": 2, "versions": versions()}
    OUT.write_text(json.dumps(document | {"costs": costs}, indent=1) + "\n")
    console.print(f"wrote {OUT}")


if __name__ == "__main__":
    main()
