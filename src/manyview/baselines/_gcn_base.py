"""What the graph convolutional baselines share with MGCN-DNS: graphs, input and training.

Each view's graph, the input features H and the training loop are those of MGCN-DNS, so that
differences in accuracy come from the models.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np
import torch

from manyview.base.classifier import MultiViewClassifier
from manyview.data.labels import class_weights
from manyview.data.network_input import InputScaling, fit_input
from manyview.data.scaling import Scaling, scaling_by_view
from manyview.data.views import MultiView, View
from manyview.graphs.prepare import (
    PreparedViews,
    check_n_neighbors,
    pick_n_neighbors,
    prepare_views,
)
from manyview.network.training import TrainingCurve, pick_device
from manyview.validation import check_choice, check_number, check_whole_number, draw_seed

RandomState = int | np.random.RandomState | np.random.Generator | None


class GraphNetworkClassifier(MultiViewClassifier):
    """Base of the methods that train a network on MGCN-DNS's graphs and input."""

    record_types: ClassVar[tuple[type, ...]] = (TrainingCurve,)

    n_neighbors: int | str
    metric: str
    scaling: Scaling
    symmetry: str
    learning_rate: float
    weight_decay: float
    max_epochs: int
    tol: float
    class_weight: str | Mapping[Any, float] | None
    device: str
    verbose: bool
    random_state: RandomState

    def _check_parameters(self, views: MultiView) -> None:
        check_n_neighbors(self.n_neighbors, len(views))
        check_choice("metric", self.metric, ("cosine", "euclidean"))
        scaling_by_view(self.scaling, views)
        check_choice("symmetry", self.symmetry, ("union", "mutual"))
        check_number("learning_rate", self.learning_rate, above=0)
        for name in ("weight_decay", "tol"):
            check_number(name, getattr(self, name), at_least=0)
        check_whole_number("max_epochs", self.max_epochs, at_least=1)

    def _prepare(self, views: MultiView, y_encoded: np.ndarray) -> PreparedViews:
        """Scale the views and build their graphs; sets `n_neighbors_`."""
        self.n_neighbors_ = pick_n_neighbors(self.n_neighbors, y_encoded, len(self.classes_))
        return prepare_views(
            views,
            scaling=self.scaling,
            n_neighbors=self.n_neighbors_,
            metric=self.metric,
            symmetry=self.symmetry,
        )

    def _generator(self) -> torch.Generator:
        """Seed the source of all randomness, on the device of the training."""
        device = pick_device(self.device)
        return torch.Generator(device=device).manual_seed(draw_seed(self.random_state))

    def _training_settings(self, y_encoded: np.ndarray) -> dict[str, Any]:
        """Return the parameters of this name, as `train_network` takes them."""
        names = ("learning_rate", "weight_decay", "max_epochs", "tol", "verbose")
        weights = class_weights(self.class_weight, self.classes_, y_encoded)
        return {name: getattr(self, name) for name in names} | {"class_weight": weights}


def input_scaling(features: list[View], present: np.ndarray | None = None) -> InputScaling | None:
    """Learn how the views become the input H; None where there are graphs alone."""
    return fit_input(features, present) if features else None


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Let torch's initializers draw from this seed, and leave its global generator as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def check_network(hidden: object, dropout: object) -> None:
    """Refuse a width or a dropout that no network can have."""
    check_whole_number("hidden", hidden, at_least=1)
    check_number("dropout", dropout, at_least=0, below=1)
