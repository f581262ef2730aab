"""The networks of Co-GCN: graph convolution over learned mixtures of the views' graphs.

view graphs, pi -> propagate_mixture -> MixtureGCN -> CoGCN -> summed_negative_log_likelihood
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

from manyview.graphs.support import GraphSupport
from manyview.layers.activation import activate
from manyview.layers.fusion import mixing_weights
from manyview.layers.graph_convolution import Center, GraphConvolution
from manyview.layers.sparse_product import propagate


class ViewGraph(NamedTuple):
    """One view's renormalized graph on its own edges."""

    support: GraphSupport
    weights: Tensor  # [edge]


class NetInputs(NamedTuple):
    """The inputs of one net."""

    graphs: Sequence[ViewGraph]  # of all views
    features: Tensor  # [node, feature], dense or sparse CSR
    center: Center | None  # subtracted from the features without making them dense


def propagate_mixture(graphs: Sequence[ViewGraph], coefficients: Tensor, hidden: Tensor) -> Tensor:
    """Multiply a mixture of graphs with node features: (sum_u pi_u A_u) H.

    The product is computed view by view, so that the gradient of pi_u is a dot product with
    A_u H and no gradient per edge is needed.

    Shapes
    ------
    coefficients : [view]
    hidden : [node, feature]
    returns : [node, feature]
    """
    products = [propagate(support, weights, hidden) for support, weights in graphs]
    return torch.einsum("v,vnf->nf", coefficients, torch.stack(products))


class MixtureGCN(nn.Module):
    """A two-layer GCN over learned mixtures of the views' graphs.

        Z = A^(2) relu(A^(1) H W1) W2,   A^(k) = sum_u pi^(k)_u A_u,   pi on the simplex

    Parameters
    ----------
    n_inputs, hidden, n_classes, dropout
        As in `GCN`.
    n_views
        Number of view graphs.
    n_mixtures
        2 gives each layer its own mixture; with 1 both layers use the same.
    official_weights
        Hold pi itself, updated by `released_update`, in place of logits learned by Adam.

    Shapes
    ------
    features : [node, feature], dense or sparse CSR
    center : subtracted from the features without making them dense (see `GraphConvolution`)
    returns : [node, class], logits
    """

    def __init__(
        self,
        n_inputs: int,
        hidden: int,
        n_classes: int,
        dropout: float,
        *,
        n_views: int,
        n_mixtures: int = 2,
        official_weights: bool = False,
    ) -> None:
        super().__init__()
        self.first = GraphConvolution(n_inputs, hidden)
        self.second = GraphConvolution(hidden, n_classes)
        self.dropout = dropout
        self.official_weights = official_weights
        start = torch.full((n_mixtures, n_views), 1 / n_views if official_weights else 0.0)
        self.mixing = nn.Parameter(start, requires_grad=not official_weights)

    def mixing_weights(self) -> Tensor:
        """Return pi, the weight of each view's graph (column) in each mixture (row)."""
        return self.mixing if self.official_weights else mixing_weights(self.mixing)

    def forward(
        self,
        graphs: Sequence[ViewGraph],
        features: Tensor,
        center: Center | None = None,
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """Return the logits of every node; `generator` draws the dropout."""
        weights = self.mixing_weights()
        messages = self.first.messages(features, center)
        hidden = propagate_mixture(graphs, weights[0], messages)
        hidden = activate(hidden, self.dropout if self.training else 0.0, generator)
        return propagate_mixture(graphs, weights[-1], self.second.messages(hidden))


class CoGCN(nn.Module):
    """Sum the log-probabilities of several networks.

    Parameters
    ----------
    nets
        Each has its own inputs.

    Shapes
    ------
    inputs : one per net
    returns : [node, class], sum over the nets of log p(class)
    """

    def __init__(self, nets: Sequence[MixtureGCN]) -> None:
        super().__init__()
        self.nets = nn.ModuleList(nets)

    def forward(self, *inputs: NetInputs, generator: torch.Generator | None = None) -> Tensor:
        """Return the sums; `generator` draws the dropout."""
        logits = [
            net(*one, generator=generator) for net, one in zip(self.nets, inputs, strict=True)
        ]
        return torch.stack([one.log_softmax(dim=1) for one in logits]).sum(dim=0)


def summed_negative_log_likelihood(
    log_probabilities: Tensor, labels: Tensor, class_weight: Tensor | None = None
) -> Tensor:
    """Average -sum_v log p_v(label) over samples: the sum of the nets' own cross-entropies.

    The summed log-probabilities are not normalized first, so each net learns independently of
    the others.

    Shapes
    ------
    log_probabilities : [labeled sample, class], summed over the nets
    """
    return nn.functional.nll_loss(log_probabilities, labels, weight=class_weight)


def released_update(weights: Tensor, gradient: Tensor, learning_rate: float) -> Tensor:
    """Update pi as the released program does: view by view, with a softmax after each.

        for u = 1..V:  pi_u <- pi_u - learning_rate dL/dpi_u;  pi <- softmax(pi)

    The softmax of weights that already sum to 1 moves them close to 1/V; V of them move them
    closer.

    Shapes
    ------
    weights, gradient : [mixture, view]
    returns : [mixture, view], rows sum to 1

    Examples
    --------
    >>> pi = torch.tensor([[0.9, 0.1]])
    >>> released_update(pi, torch.zeros(1, 2), learning_rate=0.01)
    tensor([[0.5939, 0.4061]])
    """
    weights = weights.clone()
    for view in range(weights.shape[1]):
        weights[:, view] -= learning_rate * gradient[:, view]
        weights = weights.softmax(dim=1)
    return weights
