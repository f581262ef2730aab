"""What each part of the default's lessons brings: the same fits with one part left out.

1 % of the samples are labeled. Accuracy is on the unlabeled ones. Every fit is one line of
`results/lesson_parts.jsonl`; a study that was stopped goes on where it stopped.

    python benchmarks/lesson_parts.py [DATA ...]
"""

import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
from kept_records import add_missing, read
from study_lines import scores as scores_of
from study_lines import spread

from manyview.data.label_values import is_known
from manyview.data.splits import hide_labels
from manyview.estimators.mgcn_dns import MGCNDNSClassifier

RECORDS = Path(__file__).parent.parent / "results" / "lesson_parts.jsonl"
DATASETS = ("3sources", "bbcsports", "digits", "mnist", "rosmap", "caltech101-7")
SEEDS = range(3)
RATIO = 0.01
BUILD = MGCNDNSClassifier._build


def build_whole(model, inputs, generator, turn):
    """Make every network with graph learning and node selection, the teachers too."""
    return BUILD(model, inputs, generator, replace(turn, is_last=True))


LESSONS, CLASSIFIER = (
    "manyview.self_training.pseudo_labels",
    "manyview.estimators.mgcn_dns.MGCNDNSClassifier",
)
PARTS = {  # what is left out -> what to put in its place, and parameters of the classifier
    "nothing": ({}, {}),
    "scaling chosen for each view": ({}, {"scaling": "unit"}),
    "linear teacher": ({}, {"linear_teacher": False}),
    "joint graph": ({}, {"early_fusion_graph": False}),
    "all three": ({}, {"scaling": "unit", "linear_teacher": False, "early_fusion_graph": False}),
    "class shares": ({f"{LESSONS}.ANSWERS_COUNT_FOR": 1e12}, {}),
    "agreement of views": ({f"{LESSONS}.assortativity": lambda graph, predictions: 1.0}, {}),
    "neighbors": ({f"{LESSONS}.NEIGHBORS_SHARE": 0.0}, {}),
    "sharpness": ({f"{LESSONS}.SHARPNESS": 1.0}, {}),
    "trust in sure predictions": ({f"{LESSONS}.TRUST": 0.0}, {}),
    "second round": ({}, {"max_iter": 1}),
    "plainness of the teachers": ({f"{CLASSIFIER}._build": build_whole}, {}),
    "graph learning and node selection": ({}, {"graph_learning": None, "node_selection": None}),
    "all rounds": ({}, {"recipe": "paper"}),
}


def run(dataset, part, seed):
    labels = hide_labels(dataset.labels, RATIO, random_state=seed)
    values, params = PARTS[part]
    with ExitStack() as changed:
        for target, value in values.items():
            changed.enter_context(patch(target, value))
        model = MGCNDNSClassifier(random_state=seed, **params).fit(dataset.views, labels)
    found = scores_of(model.transduction_, dataset.labels, ~is_known(labels))
    return found | {"n_rounds": len(model.rounds_), "ratio": RATIO}


def table():
    """Mean percents by what is left out and data set, over the seeds that all parts have."""
    found = {(r["dataset"], r["part"], r["seed"]): 100 * r["accuracy"] for r in read(RECORDS)}
    seeds = {
        dataset: [s for s in SEEDS if all((dataset, part, s) in found for part in PARTS)]
        for dataset in DATASETS
    }
    datasets = [dataset for dataset in DATASETS if seeds[dataset]]
    heads = [f"{dataset} (n = {len(seeds[dataset])})" for dataset in datasets]
    lines = [f"| left out | {' | '.join(heads)} | mean |", f"|---|{'---:|' * (len(heads) + 1)}"]
    for part in PARTS:
        scores = [[found[dataset, part, seed] for seed in seeds[dataset]] for dataset in datasets]
        cells = [spread(values) for values in scores]
        mean = np.mean([np.mean(values) for values in scores]) if scores else np.nan
        lines.append(f"| {part} | {' | '.join(cells)} | {mean:.1f} |")
    return "\n".join(lines) if datasets else "No data set has been run with all parts yet."


if __name__ == "__main__":
    add_missing(
        RECORDS,
        sys.argv[1:] or DATASETS,
        ("part", "seed"),
        [(part, seed) for seed in SEEDS for part in PARTS],
        run,
        lambda found: f"{found['accuracy']:.1%}",
    )
