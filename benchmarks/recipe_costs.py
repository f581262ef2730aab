"""What the default costs: CPU time of a fit, as ratios to one network of the paper's recipe.

5 % of the samples are labeled, one thread, the forms in turn, the median of the repeats of the
ratio. Writes `results/recipe_costs.json`.

    python benchmarks/recipe_costs.py
"""

import json
from pathlib import Path
from time import process_time

import numpy as np
import torch
from compared import PARAMETERS, fresh
from rich.console import Console

from manyview.data.catalog.load import load_dataset
from manyview.data.splits import hide_labels

OUT = Path(__file__).parent.parent / "results" / "recipe_costs.json"
DATASETS = ("bbcsports", "digits", "mnist", "caltech101-7")
N_REPEATS = 3
RATIO = 0.05


def measure(dataset):
    """CPU seconds of every form, and the number of networks it trained, by repeat."""
    found = {name: [] for name in PARAMETERS}
    for repeat in range(N_REPEATS):
        labels = hide_labels(dataset.labels, RATIO, random_state=repeat)
        for name in PARAMETERS:
            start = process_time()
            model = fresh(name, repeat).fit(dataset.views, labels)
            found[name].append([round(process_time() - start, 2), model.n_networks_])
    return found


def table():
    """Ratios of CPU time to the paper's recipe and to a plain GCN."""
    stored = json.loads(OUT.read_text())["seconds"] if OUT.exists() else {}
    lines = [
        "| data set | default / paper's recipe | default / plain GCN | self-trained plain GCN / "
        "plain GCN | networks |",
        "|---|---:|---:|---:|---:|",
    ]
    for dataset, found in stored.items():
        seconds = {name: np.array(values)[:, 0] for name, values in found.items()}
        networks = np.mean([n for _, n in found["mgcn-dns"]])
        pairs = (("mgcn-dns", "paper"), ("mgcn-dns", "plain"), ("plain-taught", "plain"))
        ratios = [f"{np.median(seconds[above] / seconds[below]):.1f}" for above, below in pairs]
        lines.append(f"| {dataset} | {' | '.join(ratios)} | {networks:.1f} |")
    return "\n".join(lines)


def main():
    torch.set_num_threads(1)
    seconds = {}
    for name in DATASETS:
        seconds[name] = measure(load_dataset(name))
        document = {"label_ratio": RATIO, "n_threads": 1, "seconds": seconds}
        OUT.write_text(json.dumps(document, indent=1) + "\n")
    Console().print(table(), soft_wrap=True)


if __name__ == "__main__":
    main()
