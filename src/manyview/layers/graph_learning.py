"""Graph learning, Eq. (8): shrink each edge of the fused graph by a learned gate.

    A_hat = A_f * sigmoid(gamma * |K|),    K = S1 S2^T - S2 S1^T

Only the values of K on edges are used, and with free m x m factors K can be any
skew-symmetric matrix. One free parameter per undirected edge (`EdgeGraphLearning`) is therefore
the same model class as the paper's factors (`FactorGraphLearning` with rank m), at a cost linear
in the edges.
"""

from typing import Any

import torch
from torch import Tensor, nn

from manyview.graphs.support import GraphSupport
from manyview.layers.sharded import with_neighbors, with_shared_pairs
from manyview.layers.sparse_product import skew_products


def edge_gates(support: GraphSupport, skew: Tensor, gamma: float) -> Tensor:
    """Gate of each pair: sigmoid(gamma * |K|), in [0.5, 1).

    The range is not (0, 1) as the paper says, because the sigmoid gets a magnitude. The diagonal
    of a skew-symmetric matrix is 0, so self-loops are always halved.

    Shapes
    ------
    skew : [undirected edge], values of K above the diagonal
    returns : [pair]
    """
    gates = skew.new_full((support.n_pairs,), 0.5)
    torch.mul(skew.abs(), gamma, out=gates[: len(skew)]).sigmoid_()
    return gates


def shrink_edges(support: GraphSupport, graph: Tensor, skew: Tensor, gamma: float) -> Tensor:
    """Multiply each weight of a graph by its gate: A_hat, Eq. (8), with gradients for both.

    Shapes
    ------
    graph : [pair]
    skew : [undirected edge], values of K above the diagonal
    returns : [pair]
    """
    shrunk: Tensor = _ShrinkEdges.apply(support, graph, skew, gamma)  # type: ignore[no-untyped-call]
    return shrunk


class _ShrinkEdges(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, support: GraphSupport, graph: Tensor, skew: Tensor, gamma: float
    ) -> Tensor:
        gates = edge_gates(support, skew, gamma)
        ctx.gamma = gamma
        ctx.save_for_backward(graph, skew, gates)
        return graph * gates

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor | None, Tensor | None, None]:
        (gradient,) = gradients
        graph, skew, gates = ctx.saved_tensors
        for_graph = for_skew = None
        if ctx.needs_input_grad[1]:
            for_graph = gradient * gates
        if ctx.needs_input_grad[2]:
            between = slice(len(skew))
            slope = torch.rsub(gates[between], 1).mul_(gates[between]).mul_(torch.sign(skew))
            for_skew = slope.mul_(graph[between]).mul_(gradient[between]).mul_(ctx.gamma)
        return None, for_graph, for_skew, None


class EdgeGraphLearning(nn.Module):
    """Shrink each edge by its own learned gate.  Eq. (8).

    All edges start with the same gate, sigmoid(gamma): with few labels most edges get hardly any
    gradient, so random initial gates would stay in the graph as noise.

    Parameters
    ----------
    n_undirected
        Number of undirected edges of the support.
    gamma
        How fast the gate saturates towards 1.

    Shapes
    ------
    fused_graph : [pair], >= 0
    returns : [pair], >= 0
    """

    def __init__(self, n_undirected: int, gamma: float = 1.0) -> None:
        super().__init__()
        self.gamma = gamma
        self.magnitude = nn.Parameter(torch.ones(n_undirected))

    def gates(self, support: GraphSupport) -> Tensor:
        """Gate of each pair."""
        return edge_gates(support, self._skew(support).detach(), self.gamma)

    def forward(self, support: GraphSupport, fused_graph: Tensor) -> Tensor:
        """Return the refined graph."""
        return shrink_edges(support, fused_graph, self._skew(support), self.gamma)

    def _skew(self, support: GraphSupport) -> Tensor:
        return with_shared_pairs(support, self.magnitude)


class FactorGraphLearning(nn.Module):
    """Shrink each edge by a gate computed from two low-rank factors.  Eq. (8).

    Parameters
    ----------
    n_nodes
        Number of samples m.
    rank
        Columns of each factor: m in the paper; a smaller rank ties edges together.
    gamma
        How fast the gate saturates towards 1.

    Notes
    -----
    Entries start with a standard deviation of (2 rank)^-1/4, so that the argument of the sigmoid
    has standard deviation 1. Unit-variance m x m factors would give sqrt(2m) and gates that are
    saturated from the start and learn nothing.
    """

    def __init__(self, n_nodes: int, rank: int, gamma: float = 1.0) -> None:
        super().__init__()
        self.gamma = gamma
        scale = (2 * rank) ** -0.25
        self.left_factor = nn.Parameter(scale * torch.randn(n_nodes, rank))
        self.right_factor = nn.Parameter(scale * torch.randn(n_nodes, rank))

    def gates(self, support: GraphSupport) -> Tensor:
        """Gate of each pair."""
        return edge_gates(support, self._skew(support).detach(), self.gamma)

    def forward(self, support: GraphSupport, fused_graph: Tensor) -> Tensor:
        """Return the refined graph."""
        return shrink_edges(support, fused_graph, self._skew(support), self.gamma)

    def _skew(self, support: GraphSupport) -> Tensor:
        factors = self.left_factor, self.right_factor
        return skew_products(support, *(with_neighbors(support, factor) for factor in factors))
