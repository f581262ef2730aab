"""What each part of self-training contributes: manyview's network alone, one part switched off.

1% of the samples are labeled. Accuracy is on the unlabeled ones. Every fit is one line of
`results/pseudo_label_parts.jsonl`; a study that was stopped continues where it stopped.

    python benchmarks/pseudo_label_parts.py [DATA ...]
"""

import sys
from dataclasses import replace

import numpy as np
from compared import ALONE, MODULES_OFF, make
from formatting import spread, table
from stored_records import RESULTS, add_missing, read, scores

from manyview.data.label_values import is_known
from manyview.data.splits import hide_labels
from manyview.estimators.mgcn_dns import MGCNDNSClassifier

RECORDS = RESULTS / "pseudo_label_parts.jsonl"
DATASETS = ("3sources", "bbcsports", "digits", "mnist", "rosmap", "caltech101-7")
SEEDS = range(3)
LABEL_RATIO = 0.01


class ModulesInEveryStage(MGCNDNSClassifier):
    """The paper's estimator with graph learning and node selection in early stages, too."""

    def _build(self, stage, *sizes):
        return super()._build(replace(stage, is_final=True), *sizes)


UNIT, TEACHER, FUSION = (
    {"scaling": "unit"},
    {"initial_teacher": "network"},
    {"early_fusion": False},
)
PARTS = {  # what is left out -> parameters of the classifier
    "nothing": {},
    "scaling chosen per view": UNIT,
    "linear initial teacher": TEACHER,
    "early-fusion graph": FUSION,
    "all three": UNIT | TEACHER | FUSION,
    "class prior": {"pseudo_labeler__prior_strength": 1e12},
    "assortativity": {  # neither weighs views nor tests the class prior
        "pseudo_labeler__weigh_views": False,
        "pseudo_labeler__max_assortativity_loss": 1.0,
    },
    "propagation": {"pseudo_labeler__smoothing": 0.0},
    "sharpening": {"pseudo_labeler__sharpness": 1.0},
    "confidence weights": {"pseudo_labeler__confidence_power": 0.0},
    "second stage": {"max_iter": 1},
    "fixed graph": {"graph_epochs": None},  # learned in all epochs
    "plain networks in early stages": {"estimator": ModulesInEveryStage()},
    "graph learning and node selection": MODULES_OFF,
    "self-training": None,  # the paper's method
}


def model_without(part, seed):
    """Return the unfitted classifier without one part."""
    params = PARTS[part]
    return make("mgcn-dns", seed) if params is None else make(ALONE, seed, **params)


def run(dataset, part, seed):
    labels = hide_labels(dataset.labels, LABEL_RATIO, random_state=seed)
    model = model_without(part, seed).fit(dataset.views, labels)
    found = scores(model.transduction_, dataset.labels, ~is_known(labels))
    return found | {"n_stages": len(model.fit_summary().stages), "label_ratio": LABEL_RATIO}


def parts_table():
    """Mean percentages by what is left out and data set, over the seeds that all parts have."""
    found = {(r["dataset"], r["part"], r["seed"]): 100 * r["accuracy"] for r in read(RECORDS)}
    seeds = {
        dataset: [s for s in SEEDS if all((dataset, part, s) in found for part in PARTS)]
        for dataset in DATASETS
    }
    datasets = [dataset for dataset in DATASETS if seeds[dataset]]
    if not datasets:
        return "No data set has been run with all parts yet."
    rows = []
    for part in PARTS:
        percents = [[found[one, part, seed] for seed in seeds[one]] for one in datasets]
        mean = np.mean([np.mean(values) for values in percents])
        rows.append([part, *map(spread, percents), f"{mean:.1f}"])
    heads = [f"{dataset} (n = {len(seeds[dataset])})" for dataset in datasets]
    return table(["left out", *heads, "mean"], rows)


if __name__ == "__main__":
    settings = [(part, seed) for seed in SEEDS for part in PARTS]
    add_missing(RECORDS, sys.argv[1:] or DATASETS, ("part", "seed"), settings, run)
