"""Growth with the number of samples: whole fits of the default, stage by stage.

Every size is one whole fit in its own process: the graphs, the epochs on a fixed graph, the epochs
that learn the graph with the blocks of the network timed, then the bandwidth of the memory and of
the sparse product on the same graph.
"""

import time
from collections.abc import Sequence
from typing import Any
from unittest import mock

import numpy as np

from manyview.estimators import network_classifier
from manyview.estimators.manyview import ManyviewClassifier
from manyview.network.mgcn_dns import MGCNDNS
from performance.bandwidth import bandwidth_fractions
from performance.block_clock import BlockClock
from performance.isolated import run_isolated
from performance.meter import Meter
from performance.stored import Rows, summary
from performance.synthetic_data import synthetic_problem, warm_up
from performance.training import EpochClock, instead_of_training

SIZES = (10_000, 30_000, 100_000, 300_000)
MILLION = 1_000_000
LABEL_RATIO = 0.01


def run(rows: Rows, sizes: Sequence[int] = SIZES) -> None:
    for n_samples in sizes:
        rows.measure(
            {"n_samples": n_samples},
            lambda n_samples=n_samples: run_isolated(measure, n_samples=n_samples),
        )


def measure(meter: Meter, n_samples: int) -> dict[str, Any]:
    """Fit once; return time and memory by step, and the accuracy."""
    warm_up(ManyviewClassifier(random_state=0), meter)
    views, labels, classes = synthetic_problem(n_samples, LABEL_RATIO)
    data_mb = sum(view.nbytes for _, view in views.items()) / 2**20
    model = ManyviewClassifier(random_state=0)
    seen: dict[str, Any] = {"fixed": [], "training": 0.0}

    def prepared(*arguments: Any, **settings: Any) -> Any:
        found = prepare(*arguments, **settings)
        seen["graphs_end"], seen["graphs_mb"] = time.perf_counter(), meter.peak()
        meter.restart()
        return found

    def timed(train: Any, network: Any, inputs: Any, *rest: Any, **settings: Any) -> Any:
        begin, epochs = time.perf_counter(), EpochClock(network)
        if isinstance(network, MGCNDNS):
            seen["support"], blocks = inputs.support, BlockClock(network)
            curve = train(network, inputs, *rest, **settings)
            seen["blocks"], seen["learned"] = blocks.stop(), epochs.stop()
        else:
            curve = train(network, inputs, *rest, **settings)
            seen["fixed"] += epochs.stop()
        seen["training"] += time.perf_counter() - begin
        return curve

    prepare = network_classifier.cached_inputs
    start, cpu_start = time.perf_counter(), time.process_time()
    with (
        instead_of_training(timed),
        mock.patch.object(network_classifier, "cached_inputs", prepared),
    ):
        model.fit(views, labels)
    end, cpu_end = time.perf_counter(), time.process_time()
    peak, hidden = meter.peak(), labels == -1
    graphs = seen["graphs_end"] - start
    hidden_width = model.parameter_group("estimator").hidden
    return {
        "n_neighbors": model.n_neighbors_,
        "n_edges": seen["support"].n_edges,
        "n_epochs": {"fixed": len(seen["fixed"]), "learned": len(seen["learned"])},
        "seconds": {
            "graphs": graphs,
            "training": seen["training"],
            "rest": end - start - graphs - seen["training"],
            "whole": end - start,
        },
        "cpu_seconds": cpu_end - cpu_start,
        "fixed_epoch": summary(seen["fixed"]),
        "epoch": summary(seen["learned"]),
        "data_mb": data_mb,
        "graphs_mb": seen["graphs_mb"],
        "peak_mb": peak,
        "accuracy": float(np.mean(model.transduction_[hidden] == classes[hidden])),
        "label_ratio": LABEL_RATIO,
        "recall": model.neighbor_recall_,  # by view
        "blocks": seen["blocks"],
        "bandwidth": bandwidth_fractions(seen["support"], hidden_width),
    }


def exponent(sizes: list[int], values: list[float]) -> float:
    """Fit p in values ~ sizes^p by least squares of the logarithms."""
    slope, _ = np.polyfit(np.log(sizes), np.log(values), 1)
    return float(slope)
