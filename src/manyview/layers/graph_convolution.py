"""Graph convolution, Eq. (17): transform the features, then average over neighbors."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from manyview.graphs.support import GraphSupport
from manyview.layers.sparse_product import multiply_fixed, propagate


class RowCenters(NamedTuple):
    """Offset subtracted from the features of each node, as two thin factors.

    Attributes
    ----------
    coefficients
        [node, view] multiple of each view's mean that is subtracted.
    means
        [view, feature] mean of each view in its own columns, 0 elsewhere.
    """

    coefficients: Tensor
    means: Tensor

    def __matmul__(self, weight: Tensor) -> Tensor:
        """Multiply with a matrix: [node, output]."""
        return self.coefficients @ (self.means @ weight)

    def dense(self) -> Tensor:
        """Multiply the factors: [node, feature]."""
        return self.coefficients @ self.means


Center = Tensor | RowCenters


class GraphConvolution(nn.Module):
    """One layer before its activation: A (H W), Eq. (17).

    Parameters
    ----------
    n_inputs, n_outputs
        Columns of H and of the result.

    Shapes
    ------
    graph : [pair], or [edge] where the two directions differ
    hidden : [node, n_inputs], dense, or sparse CSR for input features
    center : [n_inputs], subtracted from every row of `hidden` without making it dense, or
        `RowCenters` for an offset that differs between rows
    edge_weights : [edge], the same graph on edges if already computed
    returns : [node, n_outputs]
    """

    def __init__(self, n_inputs: int, n_outputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n_inputs, n_outputs))
        nn.init.xavier_uniform_(self.weight)

    def messages(self, hidden: Tensor, center: Center | None = None) -> Tensor:
        """Return the message of each node: H W, or (H - center) W."""
        messages = multiply_fixed(hidden, self.weight)
        return messages if center is None else messages.add_(-(center @ self.weight))

    def forward(
        self,
        support: GraphSupport,
        graph: Tensor,
        hidden: Tensor,
        center: Center | None = None,
        edge_weights: Tensor | None = None,
    ) -> Tensor:
        """Return the convolved features."""
        return propagate(support, graph, self.messages(hidden, center), edge_weights)
