"""Logistic regression on features propagated over a graph: the model of SSGCN.

features -> diffuse -> LogisticRegression

With few labels it is more robust than a network: it has one weight per feature and class, and
nothing is random.
"""

from dataclasses import dataclass
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
import torch
from sklearn.exceptions import ConvergenceWarning
from torch import Tensor, nn

from manyview.callbacks.context import FitContext
from manyview.data.labels import UNKNOWN
from manyview.distributed.world import ALONE, World
from manyview.graphs.support import GraphSupport
from manyview.layers.fusion import weigh_views
from manyview.layers.graph_convolution import Center, GraphConvolution
from manyview.layers.propagation import diffuse, diffuse_rows
from manyview.network.mgcn_dns import NetworkInputs
from manyview.network.training import TrainingCurve, train_network
from manyview.numerics import softmax

PROPAGATION: dict[str, Any] = {"n_steps": 4, "alpha": 0.05}
# The defaults of SSGCN.
TRAINING: dict[str, Any] = {
    "learning_rate": 0.2,
    "weight_decay": 1e-5,
    "max_epochs": 100,
    "tol": 2e-3,
}


class LogisticRegression(nn.Module):
    """Multinomial logistic regression: logits X Theta + b, initialized with 0.

    Shapes
    ------
    features : [sample, n_inputs]
    returns : [sample, n_classes]
    """

    def __init__(self, n_inputs: int, n_classes: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(n_inputs, n_classes))
        self.bias = nn.Parameter(torch.zeros(n_classes))

    def forward(self, features: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """Return the logits; `generator` is not used."""
        return features @ self.weight + self.bias


@dataclass(frozen=True)
class SpectralRegression:
    """Logistic regression on features diffused over a graph.

        Xbar = alpha X + (1 - alpha)/K sum_{k=1..K} T^k X,   Z = softmax(Xbar Theta + b)

    K is `n_steps`.
    """

    support: GraphSupport
    graph: Tensor  # [pair] T, symmetric
    # X, and the offset subtracted from it (see `GraphConvolution`)
    features: Tensor
    center: Center | None
    # number of hops K, and the weight of a sample's own features
    n_steps: int
    alpha: float

    def diffused(self, rows: np.ndarray, world: World = ALONE) -> Tensor:
        """Return the diffused features Xbar of some samples: [row, feature].

        The processes of `world` share it; it is then collective.
        """
        places = torch.from_numpy(rows).to(self.graph.device)
        inputs = self.support, self.graph, self.features, self.center
        return diffuse_rows(*inputs, places, n_steps=self.n_steps, alpha=self.alpha, world=world)

    def fit(
        self,
        y_encoded: np.ndarray,
        n_classes: int,
        generator: torch.Generator,
        labeled: Tensor | None = None,
        **settings: Any,
    ) -> tuple[LogisticRegression, TrainingCurve]:
        """Learn Theta and b from the labeled samples; `settings` are those of `train_network`.

        `labeled` are the diffused features of the labeled samples, where they are known already.
        """
        is_labeled = np.flatnonzero(y_encoded != UNKNOWN)
        labeled = self.diffused(is_labeled) if labeled is None else labeled
        head = LogisticRegression(self.features.shape[1], n_classes).to(self.graph.device)
        curve = train_network(
            head,
            (labeled,),
            y_encoded[is_labeled],
            generator=generator,
            logits_of_all=lambda: self.logits(head),
            **settings,
        )
        return head, curve

    def convolution(self, head: LogisticRegression) -> GraphConvolution:
        """Return the convolution whose messages are X Theta."""
        with torch.random.fork_rng(devices=[]):  # its initial weights are not used
            convolution = GraphConvolution(*head.weight.shape).to(head.weight.device)
        with torch.no_grad():
            convolution.weight.copy_(head.weight)
        return convolution

    @torch.no_grad()
    def logits(self, head: LogisticRegression) -> Tensor:
        """Return the logits of all samples: [sample, class]."""
        messages = self.convolution(head).messages(self.features, self.center)
        diffused = diffuse(
            self.support, self.graph, messages, n_steps=self.n_steps, alpha=self.alpha
        )
        return diffused + head.bias


def linear_probabilities(
    inputs: NetworkInputs,
    graph_weights: np.ndarray,
    y_encoded: np.ndarray,
    n_classes: int,
    class_weight: np.ndarray | None,
    labeled: Tensor | None = None,
) -> np.ndarray:
    """Predict by regression on the weighted sum of the graphs: [sample, class].

    Ctrl-C is raised again, because there is no network to fall back on yet.

    Shapes
    ------
    graph_weights : [graph], sum to 1
    y_encoded : [sample], class numbers, -1 where unknown
    class_weight : [class]
    labeled : [labeled sample, feature], from `propagated_features`; None computes them
    """
    model = _spectral_regression(inputs, graph_weights)
    unused = torch.Generator(device=model.graph.device)
    with catch_warnings():
        simplefilter("ignore", ConvergenceWarning)  # this is not the training that the user set up
        head, curve = model.fit(
            y_encoded,
            n_classes,
            unused,
            labeled,
            class_weight=class_weight,
            verbose=False,
            context=FitContext(),
            **TRAINING,
        )
    if curve.stopped == "interrupted":
        raise KeyboardInterrupt
    return softmax(model.logits(head).cpu().numpy())


def propagated_features(
    inputs: NetworkInputs, graph_weights: np.ndarray, rows: np.ndarray, world: World = ALONE
) -> Tensor:
    """Return what the regression of `linear_probabilities` sees of some samples: [row, feature].

    The processes of `world` share it; it is then collective.
    """
    return _spectral_regression(inputs, graph_weights).diffused(rows, world)


def _spectral_regression(inputs: NetworkInputs, graph_weights: np.ndarray) -> SpectralRegression:
    support, view_weights, features, center = inputs
    weights = torch.from_numpy(graph_weights).to(view_weights)
    graph = weigh_views(view_weights, weights, support.view_masks)
    return SpectralRegression(support, graph, features, center, **PROPAGATION)
