"""Node selection, Eq. (9)-(16): keep the edges of confident nodes.

graph -> mean_edge_weight -> node_confidence -> select_edges
"""

from math import log

import torch
from torch import Tensor, nn

from manyview.graphs.support import GraphSupport
from manyview.layers.ranking import discounted_gain


def mean_edge_weight(support: GraphSupport, graph: Tensor) -> Tensor:
    """Average the nonzero entries of each column: a_s, Eq. (11).

    Shapes
    ------
    graph : [edge]
    returns : [node]
    """
    totals = graph.new_zeros(support.n_samples).index_add(0, support.columns, graph)
    n_nonzero = torch.zeros_like(totals).index_add(0, support.columns, (graph != 0).to(graph))
    return totals / n_nonzero.clamp(min=1)


def node_confidence(
    scores: Tensor, temperature: float, rank_axis: str = "rows", ranking: str = "auto"
) -> Tensor:
    """Rank the nodes softly by score and scale their gain to [0, 1]: Eq. (9)-(13).

    Where all gains are equal, Eq. (13) is 0/0; nothing then tells the nodes apart, and all
    get confidence 1. Parameters are those of `discounted_gain`.
    """
    gain = discounted_gain(scores, temperature, rank_axis, ranking)
    # Differences at rounding level are no ranking: equal scores stay equal.
    noise = 8 * torch.finfo(scores.dtype).eps
    if _is_constant(scores, noise) or _is_constant(gain, noise):
        return torch.ones_like(scores)
    return ((gain - gain.min()) / (gain.max() - gain.min())).to(scores.dtype)


def _is_constant(values: Tensor, noise: float) -> bool:
    return bool(values.max() - values.min() <= noise * values.abs().max())


def edge_confidence(support: GraphSupport, confidence: Tensor) -> Tensor:
    """Mean confidence of an edge's two ends: C, Eq. (14)."""
    return (confidence[support.rows] + confidence[support.columns]) / 2


def select_edges(graph: Tensor, edge_confidence: Tensor, threshold: Tensor) -> Tensor:
    """Weaken edges by their confidence above the threshold, drop those below: Eq. (15)-(16).

    Where the threshold reaches the largest confidence, Eq. (16) is 0/0; its limit is taken:
    the most confident edges stay whole, all others go.
    """
    surplus = torch.relu(edge_confidence - threshold)  # Eq. (15)
    largest = surplus.max()
    if largest <= 0:
        return graph * (edge_confidence == edge_confidence.max())
    return graph * (surplus / largest)


def keep_largest(support: GraphSupport, graph: Tensor, n_kept: int) -> Tensor:
    """Keep the largest entries of each row, drop the rest: the top-k of Algorithm 1.

    Among equal entries the lower column stays. The result need not be symmetric.
    """
    by_weight = torch.sort(graph.detach(), descending=True, stable=True).indices
    by_row = by_weight[torch.sort(support.rows[by_weight], stable=True).indices]
    place = torch.arange(support.n_edges, device=graph.device) - support.row_starts[support.rows]
    is_kept = torch.empty_like(place, dtype=torch.bool)
    is_kept[by_row] = place < n_kept
    return graph * is_kept


class NodeSelection(nn.Module):
    """Weaken or remove edges whose two nodes rank low.  Eq. (9)-(16).

    Parameters
    ----------
    temperature
        Softness tau of the ranking; towards 0 it becomes an exact sort.
    initial_threshold
        Where the learned threshold starts, in (0, 1).
    rank_axis
        "rows" takes rows of Eq. (9) for ranks, as its formula does; "as-printed" takes
        them for nodes, as Eq. (12) does.
    ranking
        "exact" computes the probabilities of every rank, "fast" those of a few that stand for
        all, with an error below 1e-4 of the confidence; "auto" takes the faster.

    Shapes
    ------
    graph : [edge], >= 0
    returns : [edge], >= 0, symmetric when the graph is
    """

    def __init__(
        self,
        temperature: float = 1.0,
        initial_threshold: float = 0.007,
        rank_axis: str = "rows",
        ranking: str = "auto",
    ) -> None:
        super().__init__()
        self.temperature = temperature
        self.rank_axis = rank_axis
        self.ranking = ranking
        logit = log(initial_threshold / (1 - initial_threshold))
        self.raw_threshold = nn.Parameter(torch.tensor(logit))

    @property
    def threshold(self) -> Tensor:
        """The learned threshold theta, in (0, 1)."""
        return self.raw_threshold.sigmoid()

    def confidence(self, support: GraphSupport, graph: Tensor) -> Tensor:
        """Confidence of each node, in [0, 1]."""
        scores = mean_edge_weight(support, graph)
        return node_confidence(scores, self.temperature, self.rank_axis, self.ranking)

    def forward(self, support: GraphSupport, graph: Tensor) -> Tensor:
        """Return the selected graph."""
        confidence = self.confidence(support, graph)
        return select_edges(graph, edge_confidence(support, confidence), self.threshold)


class TopKSelection(nn.Module):
    """Keep each node's largest edges: the selection without a gradient of Algorithm 1."""

    def __init__(self, n_kept: int) -> None:
        super().__init__()
        self.n_kept = n_kept

    def forward(self, support: GraphSupport, graph: Tensor) -> Tensor:
        """Return the selected graph."""
        return keep_largest(support, graph, self.n_kept)
