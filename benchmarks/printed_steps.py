"""What every epoch of the paper as printed does: norms of gradient, weights, graph and logits.

Graph learning multiplies every edge by a gate below 1, and node selection by a confidence below 1.
The variant "small graph" shows how much of a gain that alone explains: it has neither module, and
its graph is multiplied by one constant, so that it starts with the row sums of the graph that both
modules select. A constant changes no prediction of given weights, only the size of the steps.

10% of the samples are labeled. Every fit is one line of `results/printed_steps.jsonl`; a study
that was stopped continues where it stopped.

    python benchmarks/printed_steps.py [DATA ...]
"""

import sys
from collections import defaultdict
from functools import partial
from itertools import product
from unittest.mock import patch

import numpy as np
import torch
from formatting import cell, fold, signed, table
from stored_records import RESULTS, add_missing, read

from manyview.data.label_values import is_known
from manyview.data.splits import hide_labels
from manyview.estimators import mgcn_dns
from manyview.estimators.mgcn_dns import MGCNDNSClassifier
from manyview.network.training import train_network
from manyview.report.study.results import dataset_title

RECORDS = RESULTS / "printed_steps.jsonl"
DATASETS = ("3sources", "bbcsports", "bbcnews", "mnist")
ONE_GATE_PER_EDGE = ("mnist",)  # where m x m factors take long
SEEDS = range(5)
LABEL_RATIO = 0.1
EPOCHS = (1, 2, 3, 5, 10, 20, 50, 100, 200)  # whose norms are stored
SMALL = "small graph"
VARIANTS = {  # parameters that differ from the paper as printed
    "neither": {"graph_learning": None, "node_selection": None},
    SMALL: {"graph_learning": None, "node_selection": None},
    "graph learning": {"node_selection": None},
    "node selection": {"graph_learning": None},
    "both": {},
}
KEY = ("variant", "seed")


def run(dataset, variant, seed):
    """Fit one variant; return its accuracy and what its epochs did."""
    labels = hide_labels(dataset.labels, LABEL_RATIO, random_state=seed)
    factor = None
    if variant == SMALL:
        model, _ = fit_watched(dataset, labels, "both", seed, max_epochs=1)
        factor = model.start_row_sum / model.view_row_sum
    model, rows = fit_watched(dataset, labels, variant, seed, factor)
    hidden = ~is_known(labels)
    loss = model.training_curve_.loss
    return {
        "accuracy": round(float(np.mean((model.transduction_ == dataset.labels)[hidden])), 6),
        "factor": None if factor is None else round(factor, 4),
        "start_weight_norm": float(f"{model.start_weight_norm:.4g}"),
        "first_loss": round(loss[0], 5),
        "largest_loss": round(max(loss[1:]), 5),
        "loss": [round(loss[epoch - 1], 6) for epoch in EPOCHS],
        **{name: [float(f"{row[name]:.4g}") for row in rows] for name in rows[0]},
    }


def fit_watched(dataset, labels, variant, seed, factor=None, **changes):
    """Fit the paper as printed; return the model and the norms after the epochs of `EPOCHS`."""
    params = dict(VARIANTS[variant])
    if dataset.name in ONE_GATE_PER_EDGE and "graph_learning" not in params:
        params["graph_learning"] = "edge"
    model = MGCNDNSClassifier.as_printed(**params, **changes, random_state=seed)
    rows = []
    with patch.object(mgcn_dns, "train_network", partial(watch, model, rows, factor)):
        return model.fit(dataset.views, labels), rows


def watch(model, rows, factor, network, inputs, y_encoded, **settings):
    """Train a network on its graph times `factor`; add the norms after some steps to `rows`."""
    if factor is not None:
        inputs = inputs._replace(view_weights=factor * inputs.view_weights)
    support, view_weights, features, center = inputs
    weights = [layer.weight for layer in network.layers()]
    n_steps = 0

    def row_sum(graph):
        return float(support.on_edges(graph).sum()) / support.n_samples

    def norm(tensors):
        return float(torch.cat([one.flatten() for one in tensors]).norm())

    @torch.no_grad()
    def measure():
        graphs = network.graphs(support, view_weights)
        logits = network.convolve(support, graphs.selected, features, center)
        gradients = [weight.grad for weight in weights]
        return {
            "gradient_norm": norm(gradients),
            "weight_norm": norm(weights),
            "fused_row_sum": row_sum(graphs.fused),
            "selected_row_sum": row_sum(graphs.selected),
            "mean_logit": float(logits.abs().mean()),
        }

    def after_step(_):
        nonlocal n_steps
        n_steps += 1
        if n_steps in EPOCHS:
            rows.append(measure())

    with torch.no_grad():
        start = network.graphs(support, view_weights)
        model.view_row_sum, model.start_row_sum = row_sum(start.fused), row_sum(start.selected)
        model.start_weight_norm = norm(weights)
    return train_network(network, inputs, y_encoded, after_step=after_step, **settings)


def steps():
    """Return the records by data set and variant, of the seeds that all variants have."""
    found = defaultdict(lambda: defaultdict(dict))
    for record in read(RECORDS):
        found[record["dataset"]][record["variant"]][record["seed"]] = record
    common = {}
    for name, by_variant in found.items():
        seeds = sorted(set(SEEDS).intersection(*(by_variant[variant] for variant in VARIANTS)))
        if seeds:
            common[name] = {v: [by_variant[v][seed] for seed in seeds] for v in VARIANTS}
    return common


def steps_table():
    """One row per data set and variant: what the first steps and the last weights are like."""
    rows = []
    for name, by_variant in steps().items():
        for variant, records in by_variant.items():
            by_epoch = {
                part: np.mean([record[part] for record in records], axis=0)
                for part in ("selected_row_sum", "mean_logit", "gradient_norm", "weight_norm")
            }
            losses = [np.mean([r[p] for r in records]) for p in ("first_loss", "largest_loss")]
            graph = by_epoch["selected_row_sum"]
            rows.append(
                [
                    dataset_title(name),
                    variant,
                    cell([100 * record["accuracy"] for record in records], len(SEEDS)),
                    f"{graph[0]:.2f}, {graph[-1]:.2f}",
                    f"{by_epoch['mean_logit'][0]:.1f}",
                    f"{losses[0]:.1f}, {losses[1]:.1f}",
                    f"{by_epoch['gradient_norm'].max():.1f}",
                    f"{by_epoch['weight_norm'][-1]:.0f}",
                ]
            )
    heads = [
        "data set", "variant", "accuracy", "row sum, first and last", "logit after one step",
        "loss, first and largest later", "largest gradient norm", "last weight norm",
    ]  # fmt: skip
    return fold("Norms by variant", table(heads, rows, n_words=2))


def explained():
    """Return the gains over neither module of both and of the small graph, per data set."""
    gains = {}
    for name, by_variant in steps().items():
        means = {v: 100 * np.mean([r["accuracy"] for r in by_variant[v]]) for v in VARIANTS}
        gains[name] = means["both"] - means["neither"], means[SMALL] - means["neither"]
    return gains


def explained_sentence():
    """Write how much of the modules' gain a smaller graph alone has."""
    gains = explained()
    if not gains:
        return ""
    both, small = np.mean(list(gains.values()), axis=0)
    each = ", ".join(
        f"{dataset_title(name)} {signed(of_both)} and {signed(of_small)}"
        for name, (of_both, of_small) in gains.items()
    )
    return (
        f"Both modules change the accuracy of the plain network by {signed(both)} points on "
        f"average; the small graph alone, which learns nothing, by {signed(small)} ({each})."
    )


def why():
    """Write what the first steps do with and without the modules."""
    found = steps()
    if not found:
        return "The norms have not been measured yet."
    neither, both, small = (
        [record for by_variant in found.values() for record in by_variant[variant]]
        for variant in ("neither", "both", SMALL)
    )
    rises = [n_rises(records) for records in (neither, both, small)]
    grown = np.mean([one["weight_norm"][0] / one["start_weight_norm"] for one in neither])
    row_sums = [np.mean([one["selected_row_sum"][0] for one in own]) for own in (neither, both)]
    logits = [np.mean([one["mean_logit"][0] for one in own]) for own in (neither, both, small)]
    gradients = [np.mean([max(one["gradient_norm"]) for one in own]) for own in (neither, both)]
    return (
        f"At a learning rate of 0.1 the first step multiplies the norm of the weights by "
        f"{grown:.1f}, because Adam divides the gradient by its size and changes every weight by "
        f"about 0.1. The loss then rises above its first value in {rises[0]} of {len(neither)} "
        f"fits without the modules, in {rises[1]} with both and in {rises[2]} on the small graph. "
        f"Gates and confidences shrink the graph: its mean row sum is {row_sums[1]:.2f} with both "
        f"modules after one step, {row_sums[0]:.2f} without. Two layers multiply by it twice, so "
        f"the same step makes smaller logits, {logits[1]:.1f} on average with both modules, "
        f"{logits[2]:.1f} on the small graph and {logits[0]:.1f} without. The largest gradient "
        f"norms are {gradients[1]:.1f} with both modules and {gradients[0]:.1f} without; they do "
        f"not limit the steps, because Adam removes their scale."
    )


def n_rises(records):
    """Count the fits whose loss rises above its first value."""
    return sum(record["largest_loss"] > record["first_loss"] for record in records)


if __name__ == "__main__":
    settings = list(product(VARIANTS, SEEDS))
    add_missing(RECORDS, sys.argv[1:] or DATASETS, KEY, settings, run)
