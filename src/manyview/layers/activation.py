"""What stands between two convolutions: relu and dropout, as one step that keeps one array."""

from typing import Any

import torch
from torch import Tensor


def activate(
    hidden: Tensor, dropped: float = 0.0, generator: torch.Generator | None = None
) -> Tensor:
    """Set negative entries to 0, then a random share of all, and scale the rest to keep the mean.

    Parameters
    ----------
    dropped
        Share of the entries that is set to 0, in [0, 1).
    generator
        Draws which.

    Shapes
    ------
    hidden : any
    returns : the same
    """
    if dropped == 0:
        return torch.relu(hidden)
    activated: Tensor = _Activate.apply(hidden, dropped, generator)  # type: ignore[no-untyped-call]
    return activated


class _Activate(torch.autograd.Function):
    """relu(x) * scale, where an entry of scale is 0 or 1 / (1 - dropped).

    The result tells where the gradient passes, so that neither relu(x) nor scale is kept.
    """

    @staticmethod
    def forward(
        ctx: Any, hidden: Tensor, dropped: float, generator: torch.Generator | None
    ) -> Tensor:
        drawn = torch.rand(
            hidden.shape, generator=generator, dtype=hidden.dtype, device=hidden.device
        )
        activated = drawn.ge_(dropped).div_(1 - dropped).mul_(hidden).relu_()
        ctx.dropped = dropped
        ctx.save_for_backward(activated)
        return activated

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        (activated,) = ctx.saved_tensors
        scale = activated.new_ones(()).div_(1 - ctx.dropped)
        passed = torch.ops.aten.threshold_backward(gradients[0], activated, 0)
        return passed.mul_(scale), None, None
