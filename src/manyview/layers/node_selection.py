"""Node selection, Eq. (9)-(16): keep the edges of confident nodes.

graph -> mean_edge_weight -> node_confidence -> select_edges
"""

from math import log
from typing import Any

import torch
from torch import Tensor, nn

from manyview.graphs.support import GraphSupport
from manyview.layers.ranking.ranking import discounted_gain
from manyview.layers.sharded import at_nodes, of_all_nodes, own_nodes
from manyview.layers.sparse_product import sum_at_nodes, sum_of_ends


def mean_edge_weight(support: GraphSupport, graph: Tensor) -> Tensor:
    """Average the nonzero entries of each column: a_s, Eq. (11).

    Shapes
    ------
    graph : [pair]
    returns : [own node]
    """
    if graph.count_nonzero() == len(graph):
        n_nonzero = support.by_sample(support.row_starts.diff())
    else:
        n_nonzero = sum_at_nodes(support, (graph != 0).to(graph)).clamp_(min=1)
    return own_nodes(support, sum_at_nodes(support, graph) / n_nonzero)


def node_confidence(
    scores: Tensor, temperature: float, rank_axis: str = "rows", ranking: str = "auto"
) -> Tensor:
    """Soft-rank the nodes by score and scale their gain to [0, 1]: Eq. (9)-(13).

    When all gains are equal, Eq. (13) is 0/0; all nodes then get confidence 1. Parameters are
    those of `discounted_gain`.
    """
    gain = discounted_gain(scores, temperature, rank_axis, ranking)
    # Differences at rounding level must not rank nodes.
    noise = 8 * torch.finfo(scores.dtype).eps
    if _is_constant(scores, noise) or _is_constant(gain, noise):
        return torch.ones_like(scores)
    scaled: Tensor = _ScaleToOne.apply(gain)  # type: ignore[no-untyped-call]
    return scaled.to(scores.dtype)


class _ScaleToOne(torch.autograd.Function):
    """(x - min) / (max - min); entries tied at the minimum or maximum divide its gradient."""

    @staticmethod
    def forward(ctx: Any, values: Tensor) -> Tensor:
        lowest, highest = values.aminmax()
        scaled = (values - lowest).div_(highest - lowest)
        ctx.range = highest - lowest
        ctx.save_for_backward(scaled)
        return scaled

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        (scaled,) = ctx.saved_tensors
        for_values: Tensor = gradients[0] / ctx.range
        for_highest = for_values @ scaled
        for_lowest = for_values.sum() - for_highest
        for end, for_end in ((0.0, for_lowest), (1.0, for_highest)):
            places = (scaled == end).nonzero().squeeze(1)
            for_values[places] -= for_end / len(places)
        return for_values


def _is_constant(values: Tensor, noise: float) -> bool:
    lowest, highest = values.detach().aminmax()
    return bool(highest - lowest <= noise * highest.maximum(-lowest))


def edge_confidence(support: GraphSupport, confidence: Tensor) -> Tensor:
    """Mean confidence of an edge's two ends: C, Eq. (14).

    Shapes
    ------
    confidence : [node]
    returns : [pair]
    """
    return sum_of_ends(support, confidence).mul_(0.5)


def select_edges(
    support: GraphSupport, graph: Tensor, confidence: Tensor, threshold: Tensor
) -> Tensor:
    """Scale edges by their confidence above the threshold, drop those below: Eq. (15)-(16).

    When the threshold reaches the largest confidence, Eq. (16) is 0/0; its limit is taken: the
    most confident edges keep their weight, all others are removed.

    Shapes
    ------
    graph : [pair]
    confidence : [sample]
    threshold : scalar
    returns : [pair]
    """
    # No edge is more confident than the loop of the most confident node.
    largest = confidence.max() - threshold
    if largest <= 0:
        of_edges = edge_confidence(support, at_nodes(support, confidence.detach()))
        return graph * (of_edges == confidence.max())
    halves = (confidence - threshold) / largest * 0.5  # each end's half of an edge's surplus
    halves = at_nodes(support, halves)
    selected: Tensor = _WeakenEdges.apply(support, graph, halves)  # type: ignore[no-untyped-call]
    return selected


class _WeakenEdges(torch.autograd.Function):
    """A_hat * relu(x_i + x_j), with gradients for the graph and the node values."""

    @staticmethod
    def forward(ctx: Any, support: GraphSupport, graph: Tensor, halves: Tensor) -> Tensor:
        surplus = sum_of_ends(support, halves).relu_()
        ctx.support = support
        ctx.save_for_backward(graph, surplus)
        return graph * surplus

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor, Tensor]:
        graph, surplus = ctx.saved_tensors
        for_surplus = torch.ops.aten.threshold_backward(gradients[0] * graph, surplus, 0)
        for_surplus[ctx.support.n_undirected :] *= 2  # a loop has its node at both ends
        return None, gradients[0] * surplus, sum_at_nodes(ctx.support, for_surplus)


def keep_largest(support: GraphSupport, graph: Tensor, n_kept: int) -> Tensor:
    """Keep the largest entries of each row, drop the rest: the top-k of Algorithm 1.

    Among equal entries the lower column is kept. The result need not be symmetric.

    Shapes
    ------
    graph : [pair]
    returns : [edge]
    """
    graph, rows = support.on_edges(graph), support.rows
    by_weight = torch.sort(graph.detach(), descending=True, stable=True).indices
    by_row = by_weight[torch.sort(rows[by_weight], stable=True).indices]
    place = torch.arange(support.n_edges, device=graph.device) - support.row_starts[rows]
    is_kept = torch.empty_like(place, dtype=torch.bool)
    is_kept[by_row] = place < n_kept
    return graph * is_kept


class NodeSelection(nn.Module):
    """Weaken or remove edges whose two nodes rank low.  Eq. (9)-(16).

    Parameters
    ----------
    temperature
        Temperature tau of the soft ranking; at 0 it is an exact sort.
    initial_threshold
        Initial value of the learned threshold, in (0, 1).
    rank_axis
        "rows" reads the rows of Eq. (9) as ranks, as its formula does; "as-printed" reads them
        as nodes, as Eq. (12) does.
    ranking
        "exact" computes the probabilities of every rank, "fast" those of a few and interpolates,
        with an error below 1e-4 of the confidence; "auto" uses the faster one.

    Shapes
    ------
    graph : [pair], >= 0
    returns : [pair], >= 0
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
        """Confidence of each sample, in [0, 1]."""
        scores = of_all_nodes(support, mean_edge_weight(support, graph))
        return node_confidence(scores, self.temperature, self.rank_axis, self.ranking)

    def forward(self, support: GraphSupport, graph: Tensor) -> Tensor:
        """Return the selected graph."""
        return select_edges(support, graph, self.confidence(support, graph), self.threshold)


class TopKSelection(nn.Module):
    """Keep each node's largest edges: the non-differentiable selection of Algorithm 1."""

    def __init__(self, n_kept: int) -> None:
        super().__init__()
        self.n_kept = n_kept

    def forward(self, support: GraphSupport, graph: Tensor) -> Tensor:
        """Return the selected graph."""
        return keep_largest(support, graph, self.n_kept)
