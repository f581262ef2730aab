"""Made views for measuring: planted classes, of any size."""

import numpy as np

from manyview.contract import MultiViewClassifier
from manyview.data.splits import hide_labels
from performance.apart import Meter

N_CLASSES = 10
N_SHARED = 6  # dimensions in which the classes lie, the same for all views


def made_views(
    n_samples: int, n_features: int = 32, n_views: int = 3, seed: int = 0
) -> tuple[list[np.ndarray], np.ndarray]:
    """Make float32 views of one hidden space, each with noise of its own, and the classes."""
    rng = np.random.default_rng(seed)
    classes = rng.integers(N_CLASSES, size=n_samples)
    centers = 1.6 * rng.normal(size=(N_CLASSES, N_SHARED)).astype(np.float32)
    hidden = centers[classes] + rng.standard_normal((n_samples, N_SHARED), dtype=np.float32)
    views = []
    for _ in range(n_views):
        directions = rng.standard_normal((N_SHARED, n_features), dtype=np.float32)
        noise = rng.standard_normal((n_samples, n_features), dtype=np.float32)
        views.append(hidden @ directions + noise)
    return views, classes


def warm_up(model: MultiViewClassifier, meter: Meter) -> None:
    """Fit a few samples, so that what is loaded once is not counted, and start the meter."""
    views, labels, _ = made_problem(200, 0.1)
    model.fit(views, labels)
    meter.start()


def made_problem(
    n_samples: int, label_ratio: float, seed: int = 0
) -> tuple[list[np.ndarray], np.ndarray, np.ndarray]:
    """Make views, the labels that a method is given (-1 is unknown), and all classes."""
    views, classes = made_views(n_samples, seed=seed)
    return views, hide_labels(classes, label_ratio, random_state=seed), classes
