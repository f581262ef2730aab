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
    graph : [edge]
    hidden : [node, n_inputs], dense, or sparse CSR for features that are not learned
    returns : [node, n_outputs]
    """

    def __init__(self, n_inputs: int, n_outputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n_inputs, n_outputs))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, support: GraphSupport, graph: Tensor, hidden: Tensor) -> Tensor:
        """Return the convolved features."""
        return propagate(support, graph, multiply_fixed(hidden, self.weight))
