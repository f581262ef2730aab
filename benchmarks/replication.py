"""Whether the label generator of the released AMGL and MLAN programs explains the paper's rows.

And what HLR-M2VS makes of samples that are sorted by class, as files of this field are.

Every fit is one line of `results/replication.jsonl`; a run that was stopped goes on where it
stopped. `benchmarks/result_pages.py` makes `docs/replication.md` from these lines.

    python benchmarks/replication.py
"""

import json
import sys
from collections import defaultdict
from contextlib import nullcontext
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np
from released_labels import equal_class_labels
from rich.console import Console

from manyview.baselines import hlr_m2vs
from manyview.baselines.amgl import AMGLClassifier
from manyview.baselines.hlr_m2vs import HLRM2VSClassifier
from manyview.baselines.mlan import MLANClassifier
from manyview.data.catalog.load import load_dataset
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
ORDERS = ("order of the file", "order by content")
ORDER_DATASETS = ("bbcsports", "mnist")


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


def run_in_order(dataset, order, ratio, seed, cache):
    """Accuracy of HLR-M2VS with the samples as the file has them, or in its own order."""
    known = hide_labels(dataset.labels, ratio, random_state=seed)
    model = HLRM2VSClassifier(memory=cache)
    as_given = patch.object(hlr_m2vs, "order_by_content", lambda _: np.arange(len(known)))
    with as_given if order == "order of the file" else nullcontext():
        model.fit(dataset.views, known)
    hidden = known == -1
    return round(float(np.mean(model.transduction_[hidden] == dataset.labels[hidden])), 6)


def read_records():
    lines = RECORDS.read_text().splitlines() if RECORDS.exists() else []
    return {tuple(record.values())[:-1]: record for record in map(json.loads, lines)}


def cases():
    """Everything to fit: data set, method, kind of labels or order, share of labels, seed."""
    yield from product(DATASETS, METHODS, LABELS, RATIOS, SEEDS)
    yield from product(ORDER_DATASETS, ["hlr-m2vs"], ORDERS, RATIOS, SEEDS)


def measure(console):
    done = read_records()
    RECORDS.parent.mkdir(exist_ok=True)
    loaded = {name: None for name in DATASETS}
    with TemporaryDirectory() as cache:
        for case in cases():
            if case in done:
                continue
            name, method, kind, ratio, seed = case
            loaded[name] = loaded[name] or load_dataset(name)
            if method == "hlr-m2vs":
                accuracy = run_in_order(loaded[name], kind, ratio, seed, cache)
            else:
                accuracy = run(loaded[name], method, kind, ratio, seed)
            names = ("dataset", "method", "labels", "ratio", "seed")
            record = dict(zip(names, case, strict=True)) | {"accuracy": accuracy}
            with RECORDS.open("a") as file:
                file.write(json.dumps(record) + "\n")
            console.print(f"{name} {method} {kind} {ratio:.0%} seed {seed}: {accuracy:.1%}")


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
    orders = [f"| data set | labels | {' | '.join(ORDERS)} |", "|---|---|---:|---:|"]
    orders += [
        f"| {dataset} | {ratio:.0%} | "
        + " | ".join(cell(groups[dataset, "hlr-m2vs", order, ratio]) for order in ORDERS)
        + " |"
        for dataset, ratio in product(ORDER_DATASETS, RATIOS)
    ]
    return TEMPLATE.read_text().format(
        table="\n".join(lines), summary=summary, orders="\n".join(orders)
    )


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
