"""ReLU and dropout between two convolutions, fused so that one array is kept for backward."""

from typing import Any

import torch
from torch import Tensor

from manyview.graphs.support import GraphSupport
from manyview.layers.sharded import uniform_at_nodes


def activate(
    hidden: Tensor,
    dropped: float = 0.0,
    generator: torch.Generator | None = None,
    support: GraphSupport | None = None,
) -> Tensor:
    """Apply relu, then dropout: zero a random fraction of the entries and scale up the rest.

    Parameters
    ----------
    dropped
        Fraction of the entries that is set to 0, in [0, 1).
    generator
        Source of randomness.
    support
        Whose nodes the rows are; None where they are not divided among processes.

    Shapes
    ------
    hidden : any
    returns : the same
    """
    if dropped == 0:
        return torch.relu(hidden)
    activated: Tensor = _Activate.apply(hidden, dropped, generator, support)  # type: ignore[no-untyped-call]
    return activated


class _Activate(torch.autograd.Function):
    """relu(x) * scale, where an entry of scale is 0 or 1 / (1 - dropped).

    The gradient passes where the result is above 0, so neither relu(x) nor scale is kept.
    """

    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        dropped: float,
        generator: torch.Generator | None,
        support: GraphSupport | None,
    ) -> Tensor:
        drawn = uniform_at_nodes(support, hidden, generator)
        activated = drawn.ge_(dropped).div_(1 - dropped).mul_(hidden).relu_()
        ctx.dropped = dropped
        ctx.save_for_backward(activated)
        return activated

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None, None]:
        (activated,) = ctx.saved_tensors
        scale = activated.new_ones(()).div_(1 - ctx.dropped)
        passed = torch.ops.aten.threshold_backward(gradients[0], activated, 0)
        return passed.mul_(scale), None, None, None
