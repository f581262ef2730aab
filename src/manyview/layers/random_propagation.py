"""Random propagation, as in GRAND: drop whole nodes, average over several hops, compare draws."""

from typing import Any

import torch
from torch import Tensor

from manyview.graphs.support import GraphSupport
from manyview.layers.sparse_product import propagate


def drop_nodes(
    hidden: Tensor, dropped: float = 0.0, generator: torch.Generator | None = None
) -> Tensor:
    """Zero the rows of a random fraction of the nodes and scale up the others: DropNode.

    Parameters
    ----------
    dropped
        Probability that a node is dropped, in [0, 1).
    generator
        Source of randomness.

    Shapes
    ------
    hidden : [node, feature]
    returns : the same
    """
    if dropped == 0:
        return hidden
    drawn = torch.rand(
        len(hidden), 1, generator=generator, dtype=hidden.dtype, device=hidden.device
    )
    return hidden * drawn.ge_(dropped).div_(1 - dropped)


def mixed_order(support: GraphSupport, graph: Tensor, signal: Tensor, n_steps: int) -> Tensor:
    """Average a signal over 0 to K hops: 1/(K+1) sum_{k=0..K} A^k X.

    The graph is symmetric, so the gradient of the signal is the same average of the incoming
    gradient, and no hop is stored. The graph gets no gradient.

    Shapes
    ------
    graph : [pair]
    signal : [node, column]
    returns : [node, column]
    """
    mixed: Tensor = _MixedOrder.apply(support, graph, signal, n_steps)  # type: ignore[no-untyped-call]
    return mixed


def consistency_loss(logits: Tensor, temperature: float) -> Tensor:
    """Mean squared distance of each draw from the sharpened mean of all draws.

        1/S sum_s mean_i |p_i^(s) - q_i|^2,   q_ic = pbar_ic^(1/T) / sum_b pbar_ib^(1/T)

    pbar is the mean of the draws' probabilities; no gradient passes through q. The paper sums
    over the nodes; its released program takes the mean, as here.

    Shapes
    ------
    logits : [draw, node, class]
    """
    probabilities = logits.softmax(dim=2)
    target = sharpen(probabilities.detach().mean(dim=0), temperature)
    return (probabilities - target).square().sum(dim=2).mean()


def sharpen(probabilities: Tensor, temperature: float) -> Tensor:
    """Raise probabilities to the power 1/T, and scale each row to a sum of 1.

    Examples
    --------
    >>> sharpen(torch.tensor([[0.75, 0.25]]), 0.5)
    tensor([[0.9000, 0.1000]])
    """
    return (probabilities.log() / temperature).softmax(dim=1)


class _MixedOrder(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, support: GraphSupport, graph: Tensor, signal: Tensor, n_steps: int
    ) -> Tensor:
        ctx.support, ctx.graph, ctx.n_steps = support, graph, n_steps
        return _average(support, graph, signal, n_steps)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, None, Tensor, None]:
        return None, None, _average(ctx.support, ctx.graph, gradients[0], ctx.n_steps), None


def _average(support: GraphSupport, graph: Tensor, signal: Tensor, n_steps: int) -> Tensor:
    placed, edge_weights = support.placed, support.on_edges(graph)
    walked = support.by_place(signal).contiguous()
    total = walked.clone()
    for _ in range(n_steps):
        walked = propagate(placed, graph, walked, edge_weights)
        total += walked
    return support.by_sample(total.div_(n_steps + 1))
