"""Growth with the number of samples: whole fits of made data, taken apart.

Every size is one whole fit in a process of its own: the graphs, then a fixed number of epochs, with
the clock of the epochs and of the network's blocks running, then the bandwidth of the memory and of
the sparse product on the same graph.
"""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from manyview.estimators.mgcn_dns import MGCNDNSClassifier
from performance.apart import Meter, run_apart
from performance.bandwidth import bandwidth_shares
from performance.block_clock import BlockClock
from performance.made_data import made_problem, warm_up
from performance.stored import Rows, summary
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
            lambda n_samples=n_samples: run_apart(measure, n_samples=n_samples),
        )


def measure(meter: Meter, n_samples: int) -> dict[str, Any]:
    """Fit once and say where time and memory went, and how good the labels are."""
    warm_up(MGCNDNSClassifier(recipe="paper", max_epochs=2, random_state=0), meter)
    views, labels, classes = made_problem(n_samples, LABEL_RATIO)
    data_mb = sum(view.nbytes for _, view in views.items()) / 2**20
    model = MGCNDNSClassifier(
        recipe="paper", n_neighbors=N_NEIGHBORS, max_epochs=N_EPOCHS, random_state=0
    )
    seen: dict[str, Any] = {}

    def watched(train: Any, network: Any, inputs: Any, *rest: Any, **settings: Any) -> Any:
        seen["graphs_mb"] = meter.peak()
        meter.restart()
        seen["support"], seen["graphs_end"] = inputs.support, time.perf_counter()
        epochs, blocks = EpochClock(network), BlockClock(network)
        curve = train(network, inputs, *rest, **settings | {"tol": NEVER})
        seen["blocks"], seen["epochs"] = blocks.stop(), epochs.stop()
        seen["training_end"] = time.perf_counter()
        return curve

    start = time.perf_counter()
    with instead_of_training(watched):
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
        "recall": model.neighbor_recall_,  # of the search for neighbors, by view
        "blocks": seen["blocks"],
        "bandwidth": bandwidth_shares(seen["support"], model.hidden),
    }


def exponent(sizes: list[int], values: list[float]) -> float:
    """Fit p in values ~ sizes^p by least squares of the logarithms."""
    slope, _ = np.polyfit(np.log(sizes), np.log(values), 1)
    return float(slope)
