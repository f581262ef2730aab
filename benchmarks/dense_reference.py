"""MGCN-DNS as the paper writes it, every graph a dense m x m matrix: the literal reference.

Tests compare the package with it, benchmarks measure against it. Equations are as printed except
that rows of Eq. (9) are ranks in Eq. (12), too.
"""

from itertools import pairwise

import torch
from torch import Tensor, nn


def fuse(view_graphs: Tensor, mixing_logits: Tensor) -> Tensor:
    """Fuse the view graphs [view, node, node] into one: A_f."""
    mixing_weights = torch.softmax(mixing_logits, dim=1)  # Eq. (4), [mixture, view]
    mixtures = torch.einsum("vi,imn->vmn", mixing_weights, view_graphs)  # Eq. (3)
    totals = mixing_weights.sum(dim=0)  # Eq. (5)
    importance = totals / totals.sum()  # Eq. (6)
    return torch.einsum("v,vmn->mn", importance, mixtures)  # Eq. (7)


def refine(fused_graph: Tensor, left_factor: Tensor, right_factor: Tensor, gamma: float) -> Tensor:
    """Shrink every entry by its gate: A_hat."""
    skew = left_factor @ right_factor.T - right_factor @ left_factor.T
    return fused_graph * torch.sigmoid(gamma * skew.abs())  # Eq. (8)


def rank_probabilities(scores: Tensor, temperature: float) -> Tensor:
    """Relax sorting by descending score: P, [rank, node]."""
    n_nodes = len(scores)
    ranks = torch.arange(1, n_nodes + 1).to(scores)
    differences = (scores[:, None] - scores).abs()  # Eq. (10)
    logits = (n_nodes + 1 - 2 * ranks)[:, None] * scores - differences.sum(dim=1)
    return torch.softmax(logits / temperature, dim=1)  # Eq. (9)


def discounted_gain(probabilities: Tensor) -> Tensor:
    """Sum each node's discounted rank probabilities: I."""
    ranks = torch.arange(1, len(probabilities) + 1).to(probabilities)
    return ((2**probabilities - 1) / torch.log2(ranks + 1)[:, None]).sum(dim=0)  # Eq. (12)


def select(refined_graph: Tensor, raw_threshold: Tensor, temperature: float) -> Tensor:
    """Weaken or remove the edges of nodes that rank low: A_select."""
    scores = refined_graph.sum(dim=0) / (refined_graph != 0).sum(dim=0)  # Eq. (11)
    gain = discounted_gain(rank_probabilities(scores, temperature))
    confidence = (gain - gain.min()) / (gain.max() - gain.min())  # Eq. (13)
    edge_confidence = (confidence[:, None] + confidence) / 2  # Eq. (14)
    surplus = torch.relu(edge_confidence - raw_threshold.sigmoid())  # Eq. (15)
    return refined_graph * (surplus / surplus.max())  # Eq. (16)


class DenseMGCNDNS(nn.Module):
    """The whole network with m x m factors, as printed.

    Parameters
    ----------
    n_nodes, n_views
        Number of samples m and of views V.
    widths
        Columns of the features, of each hidden layer, and the classes.
    gamma, temperature
        Saturation of the gates, softness of the ranking.

    Shapes
    ------
    view_graphs : [view, node, node], renormalized
    features : [node, feature]
    returns : [node, class], logits
    """

    def __init__(
        self,
        n_nodes: int,
        n_views: int,
        widths: list[int],
        gamma: float = 1.0,
        temperature: float = 1.0,
    ) -> None:
        super().__init__()
        self.gamma = gamma
        self.temperature = temperature
        spread = (2 * n_nodes) ** -0.25  # the argument of the sigmoid starts near 1
        self.mixing_logits = nn.Parameter(torch.zeros(n_views, n_views))
        self.left_factor = nn.Parameter(spread * torch.randn(n_nodes, n_nodes))
        self.right_factor = nn.Parameter(spread * torch.randn(n_nodes, n_nodes))
        self.raw_threshold = nn.Parameter(torch.tensor(-5.0))
        self.weights = nn.ParameterList(
            nn.init.xavier_uniform_(torch.empty(n_inputs, n_outputs))
            for n_inputs, n_outputs in pairwise(widths)
        )

    def graphs(self, view_graphs: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Compute the fused, refined and selected graph."""
        fused = fuse(view_graphs, self.mixing_logits)
        refined = refine(fused, self.left_factor, self.right_factor, self.gamma)
        return fused, refined, select(refined, self.raw_threshold, self.temperature)

    def convolve(self, graph: Tensor, features: Tensor) -> Tensor:
        """Run the layers without dropout and return the logits."""
        hidden = graph @ (features @ self.weights[0])
        for weight in self.weights[1:]:
            hidden = graph @ (torch.relu(hidden) @ weight)  # Eq. (17)-(18)
        return hidden

    def forward(self, view_graphs: Tensor, features: Tensor) -> Tensor:
        """Return the logits of every node."""
        return self.convolve(self.graphs(view_graphs)[-1], features)
