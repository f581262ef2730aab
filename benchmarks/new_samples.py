"""Samples that come later: labeled by `predict`, against being in the fit without a label.

A random fifth of the samples is either kept out of the fit and given to `predict`, or put into
the fit unlabeled; 10 % of the others are labeled. Every fit is one line of
`results/new_samples.jsonl`; a run that was stopped goes on where it stopped.

    python benchmarks/new_samples.py
"""

import json
import sys
from itertools import product
from pathlib import Path

import numpy as np
from rich.console import Console

from manyview.classifier import MGCNDNSClassifier
from manyview.data.catalog import load_dataset
from manyview.data.splits import draw_labeled, hide_labels
from manyview.data.views import MultiView

RECORDS = Path(__file__).parent.parent / "results" / "new_samples.jsonl"
DATASETS = ("bbcsports", "mnist", "digits")
VARIANTS = ("held out", "in the fit")
RATIO = 0.1
SEEDS = range(5)


def run(dataset, variant, seed):
    """Accuracy on the fifth that comes later."""
    is_new = draw_labeled(dataset.labels, 0.2, random_state=1000 + seed)
    labels = np.full(len(is_new), None, dtype=object)
    labels[~is_new] = hide_labels(dataset.labels[~is_new], RATIO, random_state=seed).astype(object)
    model = MGCNDNSClassifier(random_state=seed)
    views = MultiView(dataset.views)
    if variant == "held out":
        answers = model.fit(views[~is_new], labels[~is_new]).predict(views[is_new])
    else:
        answers = model.fit(views, labels).transduction_[is_new]
    return round(float(np.mean(answers == dataset.labels[is_new])), 6)


def read_records():
    lines = RECORDS.read_text().splitlines() if RECORDS.exists() else []
    records = map(json.loads, lines)
    return {(record["dataset"], record["variant"], record["seed"]): record for record in records}


def main():
    console = Console()
    done = read_records()
    try:
        for name in DATASETS:
            for variant, seed in product(VARIANTS, SEEDS):
                if (name, variant, seed) in done:
                    continue
                dataset = load_dataset(name)
                record = {
                    "dataset": name,
                    "variant": variant,
                    "ratio": RATIO,
                    "seed": seed,
                    "accuracy": run(dataset, variant, seed),
                    "sha256": dataset.sha256,
                }
                with RECORDS.open("a") as file:
                    file.write(json.dumps(record) + "\n")
                console.print(f"{name} {variant} seed {seed}: {record['accuracy']:.1%}")
    except KeyboardInterrupt:
        console.print("stopped; the next call goes on from here")
        sys.exit(130)


if __name__ == "__main__":
    main()
