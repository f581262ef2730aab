"""Fits of small data in the process of one version of the code, old or new.

Imports only names that manyview has always exported.
"""

import time
from typing import Any

import numpy as np

from manyview import MGCNDNSClassifier, hide_labels, load_dataset
from performance.meter import Meter

N_FITS = 5  # after one to warm up
LABEL_RATIO = 0.1


def single_network() -> MGCNDNSClassifier:
    """Return the classifier of one network; older versions have it under a switch."""
    has_recipes = "recipe" in MGCNDNSClassifier().get_params()
    return MGCNDNSClassifier(random_state=0, **({"recipe": "paper"} if has_recipes else {}))


def measure(meter: Meter, dataset: str) -> dict[str, Any]:
    """Return the median seconds of a fit."""
    data = load_dataset(dataset)
    labels = hide_labels(data.labels, LABEL_RATIO, random_state=0)
    seconds = []
    for _ in range(N_FITS + 1):
        start = time.perf_counter()
        model = single_network().fit(data.views, labels)
        seconds.append(time.perf_counter() - start)
    hidden = labels != data.labels
    return {
        "seconds": float(np.median(seconds[1:])),
        "n_epochs": model.training_curve_.n_epochs,
        "accuracy": float(np.mean(model.transduction_[hidden] == data.labels[hidden])),
    }
