"""GCN fusion: two graph convolutions on the mean of the views' graphs."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from manyview.base.classifier import MethodCard
from manyview.baselines._gcn_base import (
    GraphNetworkClassifier,
    RandomState,
    check_network,
    input_scaling,
    seeded,
)
from manyview.callbacks.context import FitContext
from manyview.data.scaling import Scaling
from manyview.data.views import MultiView
from manyview.graphs.support import GraphSupport
from manyview.graphs.view_masks import ViewMasks
from manyview.layers.activation import activate
from manyview.layers.fusion import weigh_views
from manyview.layers.graph_convolution import Center, GraphConvolution
from manyview.network.prepared import network_inputs
from manyview.network.training import train_network
from manyview.numerics import softmax


def mean_graph(view_weights: Tensor, shared: ViewMasks | None = None) -> Tensor:
    """Average the renormalized graphs of the views: A = 1/V sum_v A_v.

    Over the views that both ends of a pair have, where some samples lack views.

    Shapes
    ------
    view_weights : [edge, view]
    returns : [edge]

    Examples
    --------
    >>> mean_graph(torch.tensor([[0.5, 0.25], [0.0, 1.0]]))
    tensor([0.3750, 0.5000])
    """
    if shared is None:
        return view_weights.mean(dim=1)
    n_views = view_weights.shape[1]
    return weigh_views(view_weights, view_weights.new_full((n_views,), 1 / n_views), shared)


class GCN(nn.Module):
    """Two graph convolutions with relu and dropout between: Z = A relu(A H W1) W2.

    Parameters
    ----------
    n_inputs, hidden, n_classes
        Columns of H, of the hidden layer, and of the result.
    dropout
        Share of the hidden features that is set to 0 while training.

    Shapes
    ------
    graph : [edge]
    features : [node, feature], dense or sparse CSR
    center : subtracted from the features without making them dense (see `GraphConvolution`)
    returns : [node, class], logits
    """

    def __init__(self, n_inputs: int, hidden: int, n_classes: int, dropout: float) -> None:
        super().__init__()
        self.first = GraphConvolution(n_inputs, hidden)
        self.second = GraphConvolution(hidden, n_classes)
        self.dropout = dropout

    def forward(
        self,
        support: GraphSupport,
        graph: Tensor,
        features: Tensor,
        center: Center | None = None,
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """Return the logits of every node; `generator` draws the dropout."""
        hidden = self.first(support, graph, features, center)
        hidden = activate(hidden, self.dropout if self.training else 0.0, generator)
        logits: Tensor = self.second(support, graph, hidden)
        return logits


class GCNFusionClassifier(GraphNetworkClassifier):
    """Average the views' graphs, and label all samples by a graph convolutional network on them.

    Graph convolutional network (GCN), for several views by the mean of their graphs:

        Z = softmax(A relu(A H W1) W2),   A = 1/V sum_v D_v^-1/2 (A_v + I) D_v^-1/2

    The graphs, the input H (all views side by side) and the training loop are those of
    MGCN-DNS, which this is without its learned weights of the views, its gates and its node
    selection. As in the paper weight decay is for the first layer alone; it has 16 hidden
    units, 200 epochs, and drops input features too, which here are centered and mostly not 0.

    Parameters
    ----------
    n_neighbors
        Neighbors k in each view's graph; "auto" as in MGCN-DNS (see `choose_n_neighbors`).
    metric
        "cosine" or "euclidean".
    scaling
        Of the views (see `fit_scaler`): one word for all, or a list or a dict by name.
    symmetry
        "union" keeps an edge when either end chose the other, "mutual" when both did.
    hidden
        Width of the hidden layer.
    dropout
        Share of the hidden features dropped while training.
    learning_rate, weight_decay
        Of Adam; only the first layer's weights decay.
    max_epochs
        Training stops here at the latest.
    tol
        Training stops when ten epochs lower the mean loss by less than this.
    class_weight
        None, "balanced", or a dict of class -> weight.
    device
        "auto" takes a GPU where there is one.
    verbose
        Whether to show progress on the error stream.
    random_state
        Seed; the same seed gives the same result.

    Attributes
    ----------
    classes_ : [class]
    transduction_ : [sample], a label for every fitted sample
    label_distributions_ : [sample, class], their probabilities
    fused_graph_ : CSR, the mean of the views' renormalized graphs
    training_curve_ : loss and accuracy on the labeled samples by epoch
    n_neighbors_ : int, the k that was used

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = np.repeat(["cat", "dog"], 20)
    >>> centers = np.where(truth == "cat", 1.0, -1.0)[:, None]
    >>> views = [centers + rng.normal(size=(40, 3)), centers * [1, -1] + rng.normal(size=(40, 2))]
    >>> labels = np.where(np.arange(40) % 10 == 0, truth, None)
    >>> model = GCNFusionClassifier(random_state=0).fit(views, labels)
    >>> float((model.transduction_ == truth).mean()) > 0.8
    True
    """

    card = MethodCard(
        name="gcn-fusion",
        title="GCN fusion",
        paper="Kipf, Welling: Semi-supervised classification with graph convolutional networks. "
        "ICLR",
        year=2017,
        cost="edges x hidden an epoch",
    )
    takes_missing_views = True

    def __init__(
        self,
        *,
        n_neighbors: int | str = "auto",
        metric: str = "cosine",
        scaling: Scaling = "unit",
        symmetry: str = "union",
        hidden: int = 64,
        dropout: float = 0.5,
        learning_rate: float = 0.01,
        weight_decay: float = 5e-4,
        max_epochs: int = 500,
        tol: float = 2e-3,
        class_weight: str | Mapping[Any, float] | None = None,
        device: str = "auto",
        verbose: bool = False,
        random_state: RandomState = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.scaling = scaling
        self.symmetry = symmetry
        self.hidden = hidden
        self.dropout = dropout
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.max_epochs = max_epochs
        self.tol = tol
        self.class_weight = class_weight
        self.device = device
        self.verbose = verbose
        self.random_state = random_state

    def _check_parameters(self, views: MultiView) -> None:
        super()._check_parameters(views)
        check_network(self.hidden, self.dropout)

    def _fit(self, views: MultiView, y_encoded: np.ndarray, context: FitContext) -> None:
        generator = self._generator()
        prepared = self._prepare(views, y_encoded)
        features, present = list(prepared.features.values()), prepared.present_features()
        support, view_weights, features_in, center = network_inputs(
            prepared.renormalized(),
            features,
            input_scaling(features, present),
            generator.device,
            present,
        )
        inputs = (support, mean_graph(view_weights, support.view_masks), features_in, center)
        with seeded(generator.initial_seed()):
            network = GCN(features_in.shape[1], self.hidden, len(self.classes_), self.dropout)
        network.to(generator.device)
        self.training_curve_ = train_network(
            network,
            inputs,
            y_encoded,
            generator=generator,
            context=context,
            not_decayed=[network.second.weight],
            **self._training_settings(y_encoded),
        )
        with torch.no_grad():
            self.label_distributions_ = softmax(network(*inputs).cpu().numpy())
        self.fused_graph_ = support.matrix_of(inputs[1])
