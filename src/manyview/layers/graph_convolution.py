"""Graph convolution, Eq. (17): mix the features of neighbors, then of columns."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from manyview.graphs.support import GraphSupport
from manyview.layers.sparse_product import multiply_fixed, propagate


class RowCenters(NamedTuple):
    """What to subtract from the features of each node, as two thin factors.

    Attributes
    ----------
    shares
        [node, view] how much of each view's mean is subtracted.
    means
        [view, feature] mean of each view in its own columns, 0 elsewhere.
    """

    shares: Tensor
    means: Tensor

    def __matmul__(self, weight: Tensor) -> Tensor:
        """Multiply with a matrix: [node, output]."""
        return self.shares @ (self.means @ weight)

    def dense(self) -> Tensor:
        """Multiply the factors: [node, feature]."""
        return self.shares @ self.means


Center = Tensor | RowCenters


class GraphConvolution(nn.Module):
    """One layer without its activation: A (H W), Eq. (17).

    Parameters
    ----------
    n_inputs, n_outputs
        Columns of H and of the result.

    Shapes
    ------
    graph : [pair], or [edge] where the two directions differ
    hidden : [node, n_inputs], dense, or sparse CSR for features that are not learned
    center : [n_inputs], subtracted from every row of `hidden` without making it dense, or
        `RowCenters` where rows differ in what is subtracted
    edge_weights : [edge], the same graph on edges where the caller has it already
    returns : [node, n_outputs]
    """

    def __init__(self, n_inputs: int, n_outputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n_inputs, n_outputs))
        nn.init.xavier_uniform_(self.weight)

    def messages(self, hidden: Tensor, center: Center | None = None) -> Tensor:
        """Return what each node sends: H W, or (H - center) W."""
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
