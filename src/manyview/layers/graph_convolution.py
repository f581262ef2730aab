"""Graph convolution, Eq. (17): mix the features of neighbours, then of columns."""

import torch
from torch import Tensor, nn

from manyview.graphs.support import GraphSupport
from manyview.layers.sparse_product import multiply_fixed, propagate


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
    center : [n_inputs], subtracted from every row of `hidden` without making it dense
    edge_weights : [edge], the same graph on edges where the caller has it already
    returns : [node, n_outputs]
    """

    def __init__(self, n_inputs: int, n_outputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n_inputs, n_outputs))
        nn.init.xavier_uniform_(self.weight)

    def messages(self, hidden: Tensor, center: Tensor | None = None) -> Tensor:
        """Return what each node sends: H W, or (H - 1 center^T) W."""
        messages = multiply_fixed(hidden, self.weight)
        return messages if center is None else messages - center @ self.weight

    def forward(
        self,
        support: GraphSupport,
        graph: Tensor,
        hidden: Tensor,
        center: Tensor | None = None,
        edge_weights: Tensor | None = None,
    ) -> Tensor:
        """Return the convolved features."""
        return propagate(support, graph, self.messages(hidden, center), edge_weights)
