"""Made views for measuring: planted classes, of any size."""

import numpy as np

from manyview import MultiView, hide_labels, make_multiview_classification
from manyview.base.classifier import MultiViewClassifier
from performance.apart import Meter

N_CLASSES = 10


def made_views(n_samples: int, seed: int = 0) -> tuple[MultiView, np.ndarray]:
    """Make three float32 views of 32 features and the classes."""
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
    """Fit a few samples, so that what is loaded once is not counted, and start the meter."""
    views, labels, _ = made_problem(200, 0.1)
    model.fit(views, labels)
    meter.start()


def made_problem(
    n_samples: int, label_ratio: float, seed: int = 0
) -> tuple[MultiView, np.ndarray, np.ndarray]:
    """Make views, the labels that a method is given (-1 is unknown), and all classes."""
    views, classes = made_views(n_samples, seed=seed)
    return views, hide_labels(classes, label_ratio, random_state=seed), classes
