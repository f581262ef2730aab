"""Whether the label generator of the released AMGL and MLAN programs explains the paper's rows.

Every fit is one line of `results/replication.jsonl`; a run that was stopped goes on where it
stopped. `benchmarks/result_pages.py` makes `docs/replication.md` from these lines.

    python benchmarks/replication.py
"""

import json
import sys
from collections import defaultdict
from itertools import product
from pathlib import Path

import numpy as np
from rich.console import Console

from manyview.baselines.amgl import AMGLClassifier
from manyview.baselines.mlan import MLANClassifier
from manyview.baselines.released_labels import equal_class_labels
from manyview.data.catalog import load_dataset
from manyview.data.splits import hide_labels
from manyview.experiments.plan import load_plan

ROOT = Path(__file__).parent.parent
RECORDS = ROOT / "results" / "replication.jsonl"
TEMPLATE = Path(__file__).parent / "templates" / "replication.md"

DATASETS = ("bbcsports", "bbcnews", "mnist")
RATIOS = (0.01, 0.1)
SEEDS = range(5)
# As their released programs do: AMGL on raw features with halved labels, MLAN with weights that
# compound.
METHODS = {
    "amgl": lambda: AMGLClassifier(scaling="none", halve_unlabeled=True),
    "mlan": lambda: MLANClassifier(compound_weights=True, max_iter=30, tol=0.0),
}
LABELS = ("made up", "true")


def run(dataset, method, labels, ratio, seed):
    """Accuracy on the samples whose label was not given, by the labels of the same kind."""
    if labels == "true":
        truth = dataset.labels
        known = hide_labels(truth, ratio, random_state=seed)
    else:
        n_classes = len(set(dataset.labels.tolist()))
        truth, is_labeled = equal_class_labels(
            len(dataset.labels), n_classes, ratio, random_state=seed
        )
        known = np.where(is_labeled, truth, -1)
    model = METHODS[method]().fit(dataset.views, known)
    hidden = known == -1
    return round(float(np.mean(model.transduction_[hidden] == truth[hidden])), 6)


def read_records():
    lines = RECORDS.read_text().splitlines() if RECORDS.exists() else []
    return {tuple(record.values())[:-1]: record for record in map(json.loads, lines)}


def measure(console):
    done = read_records()
    RECORDS.parent.mkdir(exist_ok=True)
    for name in DATASETS:
        dataset = load_dataset(name)
        for case in product(METHODS, LABELS, RATIOS, SEEDS):
            if (name, *case) in done:
                continue
            method, labels, ratio, seed = case
            accuracy = run(dataset, *case)
            record = {
                "dataset": name,
                "method": method,
                "labels": labels,
                "ratio": ratio,
                "seed": seed,
                "accuracy": accuracy,
            }
            with RECORDS.open("a") as file:
                file.write(json.dumps(record) + "\n")
            console.print(f"{name} {method} {labels} {ratio:.0%} seed {seed}: {accuracy:.1%}")


def page():
    groups = defaultdict(list)
    for record in read_records().values():
        place = record["dataset"], record["method"], record["labels"], record["ratio"]
        groups[place].append(100 * record["accuracy"])
    paper = load_plan("accuracy").paper
    lines = [
        "| method | labels | data set | labels made up | paper | true labels |",
        "|---|---|---|---|---|---|",
    ]
    distances = []
    for method, ratio, dataset in product(METHODS, RATIOS, DATASETS):
        made_up, true = (groups[dataset, method, labels, ratio] for labels in LABELS)
        mean, deviation = paper[dataset][method][ratio]
        distances.append((abs(np.mean(made_up) - mean), np.mean(true) - mean))
        lines.append(
            f"| {method.upper()} | {ratio:.0%} | {dataset} | {cell(made_up)} | "
            f"{mean} ({deviation}) | {cell(true)} |"
        )
    near, far = zip(*distances, strict=True)
    summary = (
        f"With the made-up labels all {len(near)} means lie within {max(near):.1f} points of the "
        f"paper's, {np.mean(near):.1f} on average. With the true labels they lie "
        f"{min(far):.1f} to {max(far):.1f} points above them."
    )
    return TEMPLATE.read_text().format(table="\n".join(lines), summary=summary)


def cell(values):
    return f"{np.mean(values):.1f} ({np.std(values, ddof=1):.1f})"


def main():
    console = Console()
    try:
        measure(console)
    except KeyboardInterrupt:
        console.print("stopped; the next call goes on from here")
        sys.exit(130)


if __name__ == "__main__":
    main()
