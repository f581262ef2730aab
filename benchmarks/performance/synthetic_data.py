"""Synthetic views of any size, with planted classes."""

import numpy as np

from manyview import MultiView, hide_labels, make_multiview_classification
from manyview.base.classifier import MultiViewClassifier
from performance.meter import Meter

N_CLASSES = 10


def synthetic_views(n_samples: int, seed: int = 0) -> tuple[MultiView, np.ndarray]:
    """Return three float32 views of 32 features, and the classes."""
    return make_multiview_classification(
        n_samples,
        3,
        n_classes=N_CLASSES,
        n_features=32,
        class_sep=1.3,
        noise=1.0,
        dtype="float32",
        random_state=seed,
    )


def warm_up(model: MultiViewClassifier, meter: Meter) -> None:
    """Fit a few samples, so that what is loaded once does not count, and start the meter."""
    views, labels, _ = synthetic_problem(200, 0.1)
    model.fit(views, labels)
    meter.start()


def synthetic_problem(
    n_samples: int, label_ratio: float, seed: int = 0
) -> tuple[MultiView, np.ndarray, np.ndarray]:
    """Return views, labels for a method (-1 is unknown), and all classes."""
    views, classes = synthetic_views(n_samples, seed=seed)
    return views, hide_labels(classes, label_ratio, random_state=seed), classes
