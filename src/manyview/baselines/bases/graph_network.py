"""Graphs, input and training of the graph convolutional baselines, the same as in MGCN-DNS.

Each view's graph, the input features H and the training loop are those of MGCN-DNS, so that
differences in accuracy come from the models.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import nn

from manyview.baselines.bases.baseline import (
    AUTO_OR_POSITIVE_INT,
    FLAG,
    NON_NEGATIVE,
    POSITIVE_INT,
    TRAINING,
    Baseline,
)
from manyview.callbacks.context import FitContext
from manyview.data.labels import class_weights
from manyview.data.network_input import InputScaling, fit_input, plain_input
from manyview.data.views import MultiView, View
from manyview.graphs.prepare import (
    PreparedViews,
    check_n_neighbors,
    pick_n_neighbors,
    prepare_views,
)
from manyview.network.training import TrainingCurve, pick_device, train_network
from manyview.numerics import softmax
from manyview.validation import Choice, Constraint, Number, OrChoice, draw_seed

# Constraints of the networks with a hidden layer.
HIDDEN_LAYER: dict[str, Constraint] = {
    "hidden": POSITIVE_INT,
    "dropout": Number(at_least=0, below=1),
}


@dataclass(kw_only=True, eq=False, repr=False)
class GraphNetworkClassifier(Baseline):
    """Base of the methods that train a network on the graphs and the input of MGCN-DNS.

    Parameters
    ----------
    n_neighbors
        Neighbors k in each view's graph; "auto" as in MGCN-DNS (see `choose_n_neighbors`).
    metric
        "cosine" or "euclidean".
    symmetry
        "union" keeps an edge when either end chose the other, "mutual" when both did.
    learning_rate, weight_decay
        Of Adam.
    max_epochs
        Maximum number of epochs.
    tol
        Training stops when ten epochs lower the mean loss by less than this; None trains for
        `max_epochs`.
    averaged_epochs
        The fitted weights are the mean over about this many last epochs; 1 takes the last ones.
    center_input
        Whether each view's mean row is subtracted from the input, and each view scaled to a mean
        row length of 1.
    class_weight
        None, "balanced", or a dict of class -> weight.
    device
        "auto" takes a GPU where there is one.
    verbose
        Whether to show progress on the error stream.

    Attributes
    ----------
    training_curve_ : loss and accuracy on the labeled samples, by epoch
    n_neighbors_ : int, the k that was used
    """

    n_neighbors: int | str = "auto"
    metric: str = "cosine"
    symmetry: str = "union"
    learning_rate: float = 0.01
    weight_decay: float = 5e-4
    max_epochs: int = 500
    tol: float | None = 2e-3
    averaged_epochs: int = 10
    center_input: bool = True
    class_weight: str | Mapping[Any, float] | None = None
    device: str = "auto"
    verbose: bool = False

    record_types: ClassVar[tuple[type, ...]] = (TrainingCurve,)
    _parameter_constraints: ClassVar[dict[str, Constraint]] = {
        "n_neighbors": AUTO_OR_POSITIVE_INT,
        "metric": Choice(("cosine", "euclidean")),
        "symmetry": Choice(("union", "mutual")),
        "max_epochs": POSITIVE_INT,
        "tol": OrChoice((None,), NON_NEGATIVE),
        "averaged_epochs": POSITIVE_INT,
        "center_input": FLAG,
        **TRAINING,
    }

    def _check_parameters(self, views: MultiView) -> None:
        super()._check_parameters(views)
        check_n_neighbors(self.n_neighbors, len(views))

    def _prepare(self, views: MultiView, y_encoded: np.ndarray) -> PreparedViews:
        """Scale the views and build their graphs; set `n_neighbors_`."""
        self.n_neighbors_ = pick_n_neighbors(self.n_neighbors, y_encoded, len(self.classes_))
        return prepare_views(
            views,
            scaling=self.scaling,
            n_neighbors=self.n_neighbors_,
            metric=self.metric,
            symmetry=self.symmetry,
        )

    def _input_scaling(
        self, features: list[View], present: np.ndarray | None = None
    ) -> InputScaling | None:
        """Fit the map from the views to the input H; None where all views are graphs."""
        if not features:
            return None
        return fit_input(features, present) if self.center_input else plain_input(features)

    def _generator(self) -> torch.Generator:
        """Return a seeded generator on the training device, the only source of randomness."""
        device = pick_device(self.device)
        return torch.Generator(device=device).manual_seed(draw_seed(self.random_state))

    def _train(
        self,
        network: nn.Module,
        inputs: tuple[Any, ...],
        y_encoded: np.ndarray,
        generator: torch.Generator,
        context: FitContext,
        **settings: Any,
    ) -> None:
        """Train the network; set `training_curve_` and `label_distributions_`."""
        settings = self._training_settings(y_encoded) | settings
        self.training_curve_ = train_network(
            network, inputs, y_encoded, generator=generator, context=context, **settings
        )
        with torch.no_grad():
            self.label_distributions_ = softmax(network(*inputs).cpu().numpy())

    def _training_settings(self, y_encoded: np.ndarray) -> dict[str, Any]:
        """Return the training parameters as `train_network` takes them."""
        names = (
            "learning_rate",
            "weight_decay",
            "max_epochs",
            "tol",
            "averaged_epochs",
            "verbose",
        )
        weights = class_weights(self.class_weight, self.classes_, y_encoded)
        return {name: getattr(self, name) for name in names} | {"class_weight": weights}


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Let torch's initializers draw from this seed; restore its global generator afterwards."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield
