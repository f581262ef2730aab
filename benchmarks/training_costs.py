"""What self-training costs: CPU time of a fit, as ratios to one network trained on labels alone.

5% of the samples are labeled; one thread, the forms taking turns, the median of the ratios of all
repeats. Writes `results/training_costs.json`.

    python benchmarks/training_costs.py
"""

import json
from time import process_time

import numpy as np
import torch
from compared import FORMS, make
from formatting import table
from rich.console import Console
from stored_records import RESULTS

from manyview.data.catalog.load import load_dataset
from manyview.data.splits import hide_labels

OUT = RESULTS / "training_costs.json"
DATASETS = ("bbcsports", "digits", "mnist", "caltech101-7")
N_REPEATS = 3
LABEL_RATIO = 0.05


def measure(dataset):
    """Return CPU seconds of every form, and the number of networks it trained, by repeat."""
    found = {name: [] for name in FORMS}
    for repeat in range(N_REPEATS):
        labels = hide_labels(dataset.labels, LABEL_RATIO, random_state=repeat)
        for name in FORMS:
            start = process_time()
            model = make(name, repeat).fit(dataset.views, labels)
            seconds = process_time() - start
            found[name].append([round(seconds, 2), model.fit_summary().n_networks])
    return found


def cost_table():
    """Ratios of CPU time to the paper's method and to a plain GCN."""
    stored = json.loads(OUT.read_text())["seconds"] if OUT.exists() else {}
    pairs = (("manyview", "mgcn-dns"), ("manyview", "plain"), ("plain-self-trained", "plain"))
    rows = []
    for dataset, found in stored.items():
        seconds = {name: np.array(values)[:, 0] for name, values in found.items()}
        networks = np.mean([n for _, n in found["manyview"]])
        ratios = [f"{np.median(seconds[above] / seconds[below]):.1f}" for above, below in pairs]
        rows.append([dataset, *ratios, f"{networks:.1f}"])
    heads = (
        "data set", "manyview / MGCN-DNS", "manyview / plain GCN",
        "self-trained plain GCN / plain GCN", "networks of manyview",
    )  # fmt: skip
    return table(heads, rows)


def main():
    torch.set_num_threads(1)
    seconds = {}
    for name in DATASETS:
        seconds[name] = measure(load_dataset(name))
        document = {"label_ratio": LABEL_RATIO, "n_threads": 1, "seconds": seconds}
        OUT.write_text(json.dumps(document, indent=1) + "\n")
    Console().print(cost_table(), soft_wrap=True)


if __name__ == "__main__":
    main()
