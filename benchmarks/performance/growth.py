"""Growth with the number of samples: whole fits of synthetic data, stage by stage.

Every size is one whole fit in its own process: the graphs, then a fixed number of epochs with the
epochs and the blocks of the network timed, then the bandwidth of the memory and of the sparse
product on the same graph.
"""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from manyview.estimators.mgcn_dns import MGCNDNSClassifier
from manyview.estimators.parameters import NeighborGraph
from performance.bandwidth import bandwidth_fractions
from performance.block_clock import BlockClock
from performance.isolated import run_isolated
from performance.meter import Meter
from performance.stored import Rows, summary
from performance.synthetic_data import synthetic_problem, warm_up
from performance.training import NEVER, EpochClock, instead_of_training

SIZES = (10_000, 30_000, 100_000, 300_000)
MILLION = 1_000_000
N_NEIGHBORS = 10
N_EPOCHS = 50
LABEL_RATIO = 0.01


def run(rows: Rows, sizes: Sequence[int] = SIZES) -> None:
    for n_samples in sizes:
        rows.measure(
            {"n_samples": n_samples},
            lambda n_samples=n_samples: run_isolated(measure, n_samples=n_samples),
        )


def measure(meter: Meter, n_samples: int) -> dict[str, Any]:
    """Fit once; return time and memory by step, and the accuracy."""
    warm_up(MGCNDNSClassifier(max_epochs=2, random_state=0), meter)
    views, labels, classes = synthetic_problem(n_samples, LABEL_RATIO)
    data_mb = sum(view.nbytes for _, view in views.items()) / 2**20
    model = MGCNDNSClassifier(
        graph=NeighborGraph(n_neighbors=N_NEIGHBORS), max_epochs=N_EPOCHS, random_state=0
    )
    seen: dict[str, Any] = {}

    def timed(train: Any, network: Any, inputs: Any, *rest: Any, **settings: Any) -> Any:
        seen["graphs_mb"] = meter.peak()
        meter.restart()
        seen["support"], seen["graphs_end"] = inputs.support, time.perf_counter()
        epochs, blocks = EpochClock(network), BlockClock(network)
        curve = train(network, inputs, *rest, **settings | {"tol": NEVER})
        seen["blocks"], seen["epochs"] = blocks.stop(), epochs.stop()
        seen["training_end"] = time.perf_counter()
        return curve

    start = time.perf_counter()
    with instead_of_training(timed):
        model.fit(views, labels)
    end = time.perf_counter()
    peak, hidden = meter.peak(), labels == -1
    return {
        "n_epochs": model.training_curve_.n_epochs,
        "n_edges": seen["support"].n_edges,
        "seconds": {
            "graphs": seen["graphs_end"] - start,
            "epochs": seen["training_end"] - seen["graphs_end"],
            "after": end - seen["training_end"],
            "whole": end - start,
        },
        "epoch": summary(seen["epochs"]),
        "data_mb": data_mb,
        "graphs_mb": seen["graphs_mb"],
        "peak_mb": peak,
        "accuracy": float(np.mean(model.transduction_[hidden] == classes[hidden])),
        "label_ratio": LABEL_RATIO,
        "recall": model.neighbor_recall_,  # by view
        "blocks": seen["blocks"],
        "bandwidth": bandwidth_fractions(seen["support"], model.hidden),
    }


def exponent(sizes: list[int], values: list[float]) -> float:
    """Fit p in values ~ sizes^p by least squares of the logarithms."""
    slope, _ = np.polyfit(np.log(sizes), np.log(values), 1)
    return float(slope)
