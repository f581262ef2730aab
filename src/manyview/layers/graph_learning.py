"""Graph learning, Eq. (8): shrink each edge of the fused graph by a learned gate.

    A_hat = A_f * sigmoid(gamma * |K|),    K = S1 S2^T - S2 S1^T

Only the values of K on edges are ever used, and with free m x m factors K can be any
skew-symmetric matrix. So one free number an undirected edge (`EdgeGraphLearning`) is the
same model class as the factors as printed (`FactorGraphLearning` with rank m), at a cost
linear in the edges.
"""

import torch
from torch import Tensor, nn

from manyview.graphs.support import GraphSupport
from manyview.layers.sparse_product import dot_on_edges


def edge_gates(skew: Tensor, gamma: float) -> Tensor:
    """Gate of each edge: sigmoid(gamma * |K|), in [0.5, 1).

    Not in (0, 1) as the paper says, because the sigmoid gets a magnitude. The diagonal of
    a skew-symmetric matrix is 0, so self-loops are always halved.
    """
    return torch.sigmoid(gamma * skew.abs())


def skew_from_factors(support: GraphSupport, left_factor: Tensor, right_factor: Tensor) -> Tensor:
    """Values of S1 S2^T - S2 S1^T on each edge, without the m x m matrix.

    Shapes
    ------
    left_factor, right_factor : [node, rank]
    returns : [edge]
    """
    product = dot_on_edges(support, left_factor, right_factor)  # S1 S2^T
    return product - product[support.reverse]


def skew_from_edges(support: GraphSupport, magnitude: Tensor) -> Tensor:
    """Lay one number an undirected edge on both its directions, opposite in sign.

    Shapes
    ------
    magnitude : [undirected edge]
    returns : [edge]
    """
    padded = torch.cat([magnitude, magnitude.new_zeros(1)])  # the diagonal
    return padded[support.undirected] * torch.sign(support.columns - support.rows)


class EdgeGraphLearning(nn.Module):
    """Shrink each edge by its own learned gate.  Eq. (8).

    All edges start alike, at an argument of gamma: with few labels most edges see hardly a
    gradient, and random gates would leave their noise in the graph.

    Parameters
    ----------
    n_undirected
        Number of undirected edges of the support.
    gamma
        How fast the gate saturates towards 1.

    Shapes
    ------
    fused_graph : [edge], >= 0
    returns : [edge], >= 0, symmetric when the fused graph is
    """

    def __init__(self, n_undirected: int, gamma: float = 1.0) -> None:
        super().__init__()
        self.gamma = gamma
        self.magnitude = nn.Parameter(torch.ones(n_undirected))

    def gates(self, support: GraphSupport) -> Tensor:
        """Gate of each edge."""
        return edge_gates(skew_from_edges(support, self.magnitude), self.gamma)

    def forward(self, support: GraphSupport, fused_graph: Tensor) -> Tensor:
        """Return the refined graph."""
        return fused_graph * self.gates(support)


class FactorGraphLearning(nn.Module):
    """Shrink each edge by a gate from two shared factors.  Eq. (8).

    Parameters
    ----------
    n_nodes
        Number of samples m.
    rank
        Columns of each factor: m as printed in the paper, less to share structure
        between edges.
    gamma
        How fast the gate saturates towards 1.

    Notes
    -----
    Entries start with a spread of (2 rank)^-1/4, so that the argument of the sigmoid has
    spread 1; unit-variance m x m factors would give sqrt(2m), and a gate that is saturated
    from the start learns nothing.
    """

    def __init__(self, n_nodes: int, rank: int, gamma: float = 1.0) -> None:
        super().__init__()
        self.gamma = gamma
        spread = (2 * rank) ** -0.25
        self.left_factor = nn.Parameter(spread * torch.randn(n_nodes, rank))
        self.right_factor = nn.Parameter(spread * torch.randn(n_nodes, rank))

    def gates(self, support: GraphSupport) -> Tensor:
        """Gate of each edge."""
        skew = skew_from_factors(support, self.left_factor, self.right_factor)
        return edge_gates(skew, self.gamma)

    def forward(self, support: GraphSupport, fused_graph: Tensor) -> Tensor:
        """Return the refined graph."""
        return fused_graph * self.gates(support)
