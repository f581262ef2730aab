"""GCN fusion: two graph convolutions on the mean of the views' graphs."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from manyview.baselines.bases.cards import CARDS
from manyview.baselines.bases.graph_network import (
    HIDDEN_LAYER,
    GraphNetworkClassifier,
    seeded,
)
from manyview.callbacks.context import FitContext
from manyview.data.views import MultiView
from manyview.graphs.support import GraphSupport
from manyview.graphs.view_masks import ViewMasks
from manyview.layers.activation import activate
from manyview.layers.fusion import weigh_views
from manyview.layers.graph_convolution import Center, GraphConvolution
from manyview.network.prepared import network_inputs
from manyview.validation import Constraint


def mean_graph(view_weights: Tensor, shared: ViewMasks | None = None) -> Tensor:
    """Average the renormalized graphs of the views: A = 1/V sum_v A_v.

    Where samples lack views, the mean of an edge is over the views that both ends have.

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
    """Two graph convolutions with relu and dropout between them: Z = A relu(A H W1) W2.

    Parameters
    ----------
    n_inputs, hidden, n_classes
        Number of columns of H, of the hidden layer and of the result.
    dropout
        Fraction of the hidden features set to 0 during training.

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


@dataclass(kw_only=True, eq=False, repr=False)
class GCNFusionClassifier(GraphNetworkClassifier):
    """Train a graph convolutional network on the mean of the views' graphs.

    Graph convolutional network (GCN), extended to several views by the mean of their graphs:

        Z = softmax(A relu(A H W1) W2),   A = 1/V sum_v D_v^-1/2 (A_v + I) D_v^-1/2

    The graphs, the input H (the concatenated views) and the training loop are those of MGCN-DNS:
    this is MGCN-DNS without learned view weights, graph learning and node selection. As in the
    GCN paper, only the weights of the first layer decay. That paper uses 16 hidden units, 200
    epochs, and dropout on the input features too; here these are centered and mostly not 0. See
    `GraphNetworkClassifier` for the other parameters.

    Parameters
    ----------
    hidden, dropout
        Width of the hidden layer, and the fraction of its features dropped during training.

    Attributes
    ----------
    fused_graph_ : CSR, the mean of the views' renormalized graphs

    Examples
    --------
    >>> from manyview import hide_labels, make_multiview_classification
    >>> views, truth = make_multiview_classification(60, 2, class_sep=3, random_state=0)
    >>> model = GCNFusionClassifier(hidden=16, random_state=0)
    >>> model.fit(views, hide_labels(truth, 0.1, random_state=0)).training_curve_.stopped
    'converged'
    """

    hidden: int = 64
    dropout: float = 0.5

    card = CARDS["gcn-fusion"]
    takes_missing_views = True
    _parameter_constraints: ClassVar[dict[str, Constraint]] = {
        **GraphNetworkClassifier._parameter_constraints,
        **HIDDEN_LAYER,
    }

    def _fit(self, views: MultiView, y_encoded: np.ndarray, context: FitContext) -> None:
        generator = self._generator()
        prepared = self._prepare(views, y_encoded)
        features, present = list(prepared.features.values()), prepared.present_features()
        support, view_weights, features_in, center = network_inputs(
            prepared.renormalized(),
            features,
            self._input_scaling(features, present),
            generator.device,
            present,
        )
        inputs = (support, mean_graph(view_weights, support.view_masks), features_in, center)
        with seeded(generator.initial_seed()):
            network = GCN(features_in.shape[1], self.hidden, len(self.classes_), self.dropout)
        network.to(generator.device)
        not_decayed = [network.second.weight]
        self._train(network, inputs, y_encoded, generator, context, not_decayed=not_decayed)
        self.fused_graph_ = support.matrix_of(inputs[1])
