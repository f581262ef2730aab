"""A network on a graph that does not change: the first sparse product is made once.

With a learned graph every epoch multiplies the features by the graph, and computes a gradient for
every edge. While the graph is fixed, A X is too, and the first layer is one dense product:

    A relu(A X W1) W2,   A X computed once
"""

import torch
from torch import Tensor, nn

from manyview.graphs.support import GraphSupport
from manyview.layers.activation import activate
from manyview.layers.graph_convolution import Center, RowCenters
from manyview.layers.sparse_product import by_place, by_sample, propagate
from manyview.network.mgcn_dns import MGCNDNS, NetworkInputs


class FixedGraphNetwork(nn.Module):
    """The layers of a network on its selected graph as it is now; the weights are shared.

    The graph is scaled to a mean row sum of 1. Gates and node selection shrink the graph, and a
    network on a small graph needs large weights, which Adam reaches in many steps only. `unscale`
    moves the factor into the weights, which changes no logit: relu(x / s) = relu(x) / s.

    Parameters
    ----------
    network
        Whose layers are trained.
    inputs
        Its arguments. Sparse features stay sparse and are multiplied in every pass, because A X
        would be far denser.

    Shapes
    ------
    returns : [node, class], logits
    """

    def __init__(self, network: MGCNDNS, inputs: NetworkInputs) -> None:
        super().__init__()
        support, view_weights, features, center = inputs
        self.layers, self.dropout = network.layers(), network.dropout
        self.convolutions = network.convolutions
        self.support, self.features, self.center = support, features, center
        with torch.no_grad():
            graph = network.graphs(support, view_weights).selected
            edge_weights = support.on_edges(graph)
            scale = mean_row_sum(support, edge_weights)
            self.scale = scale if scale > 0 else 1.0
            self.graph, self.edge_weights = graph / self.scale, edge_weights / self.scale
            self.propagated: Tensor | None = None
            if features.layout == torch.strided:
                self.propagated = _propagated(
                    support, self.graph, self.edge_weights, features, center
                )

    def forward(self, generator: torch.Generator | None = None) -> Tensor:
        """Return the logits of every node; `generator` is the dropout's source of randomness."""
        first, *later = self.layers
        placed = self.support.placed
        if self.propagated is not None:
            hidden = self.propagated @ first.weight
        else:
            messages = by_place(self.support, first.messages(self.features, self.center))
            hidden = propagate(placed, self.graph, messages, self.edge_weights)
        for layer in later:
            hidden = activate(hidden, self.dropout if self.training else 0.0, generator, placed)
            hidden = layer(placed, self.graph, hidden, edge_weights=self.edge_weights)
        return by_sample(self.support, hidden)

    @torch.no_grad()
    def unscale(self) -> None:
        """Divide the weights by the factor of the graph, so that they fit the network's own."""
        for layer in self.layers:
            layer.weight.div_(self.scale)


def mean_row_sum(support: GraphSupport, edge_weights: Tensor) -> float:
    """Average the sums of all rows of a graph, [edge]; collective on a divided support."""
    shard = support.shard
    if shard is None:
        return float(edge_weights.sum()) / support.n_samples
    first, past = support.row_starts[shard.own.start], support.row_starts[shard.own.stop]
    return float(shard.world.sum(edge_weights[first:past].sum())) / shard.blocks.n_total


def _propagated(
    support: GraphSupport,
    graph: Tensor,
    edge_weights: Tensor,
    features: Tensor,
    center: Center | None,
) -> Tensor:
    """Compute A (X - center) in the order of places: [place, feature]."""
    placed = support.placed
    product = propagate(placed, graph, support.by_place(features), edge_weights)
    if isinstance(center, RowCenters):
        coefficients = support.by_place(center.coefficients)
        offsets = propagate(placed, graph, coefficients, edge_weights)
        return product.addmm_(offsets, center.means, alpha=-1)
    if center is not None:
        ones = features.new_ones(len(features), 1)
        offsets = propagate(placed, graph, ones, edge_weights)
        return product.addmm_(offsets, center[None], alpha=-1)
    return product
