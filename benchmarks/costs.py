"""What each method costs: time and memory of one fit each, all in one run.

    python benchmarks/costs.py          # writes results/costs.json

Times are from one machine on one day, so compare their ratios. Each fit runs in its own process
with two threads; nothing else should run.
"""

import json
import os

from rich.console import Console
from stored_records import RESULTS

from manyview.experiments.limits import Limits
from manyview.experiments.trial import Trial, versions
from manyview.experiments.worker import Worker
from manyview.methods import METHODS

OUT = RESULTS / "costs.json"
DATASETS = ("caltech101-20", "mnist-10k")
MAX_MEMORY = {"hlr-m2vs": 6.0}  # GB
LIMITS = Limits(minutes=30, memory_gb=6, n_threads=2)


def main():
    console = Console()
    costs = {name: {} for name in METHODS}
    for dataset in DATASETS:
        for name in METHODS:
            worker = Worker(os.environ.get("MANYVIEW_DATA"), None, LIMITS)
            outcome = worker.run(Trial(dataset, name, max_memory=MAX_MEMORY.get(name)))
            worker.stop()
            measured = ("status", "seconds", "peak_memory_mb", "n_iter", "reason")
            costs[name][dataset] = {key: outcome[key] for key in measured if key in outcome}
            console.print(f"{dataset} {name}: {costs[name][dataset]}")
    document = {"label_ratio": 0.1, "seed": 0, "n_threads": 2, "versions": versions()}
    OUT.write_text(json.dumps(document | {"costs": costs}, indent=1) + "\n")
    console.print(f"wrote {OUT}")


if __name__ == "__main__":
    main()
