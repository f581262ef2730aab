"""Adam (Kingma and Ba, 2015) in torch's fused form, without importing torch's compiler.

`torch.optim.Adam` imports torch._dynamo when it is created, which takes longer than a fit of a few
hundred samples.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

BETAS = 0.9, 0.999
EPS = 1e-8


class Adam:
    """Adam steps on groups of parameters; the same bits as `torch.optim.Adam(..., fused=True)`.

    Parameters
    ----------
    groups
        Parameters on one device and of one type, their weight decay (an L2 penalty), and the
        factor of their learning rate.
    """

    def __init__(
        self, groups: Sequence[tuple[Sequence[Tensor], float, float]], *, learning_rate: float
    ) -> None:
        self.learning_rate = learning_rate
        self.groups = [
            ([_Moments(one) for one in parameters], decay, factor)
            for parameters, decay, factor in groups
        ]

    def tensors(self) -> list[Tensor]:
        """Return all that steps change besides the parameters: counters and running means."""
        moments = [one for parameters, _, _ in self.groups for one in parameters]
        return [part for one in moments for part in (one.step, one.mean, one.mean_square)]

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for parameters, _, _ in self.groups:
            for one in parameters:
                one.parameter.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Update every parameter that has a gradient."""
        for parameters, decay, factor in self.groups:
            updated = [one for one in parameters if one.parameter.grad is not None]
            gradients = [one.parameter.grad for one in updated if one.parameter.grad is not None]
            if not updated:
                continue
            steps = [one.step for one in updated]
            torch._foreach_add_(steps, 1)
            torch._fused_adam_(
                [one.parameter for one in updated],
                gradients,
                [one.mean for one in updated],
                [one.mean_square for one in updated],
                [],
                steps,
                lr=factor * self.learning_rate,
                beta1=BETAS[0],
                beta2=BETAS[1],
                weight_decay=decay,
                eps=EPS,
                amsgrad=False,
                maximize=False,
            )


class _Moments:
    """A parameter, its number of steps and the running means of its gradient and its square."""

    def __init__(self, parameter: Tensor) -> None:
        self.parameter = parameter
        self.step = torch.zeros((), dtype=torch.float32, device=parameter.device)
        self.mean = torch.zeros_like(parameter, memory_format=torch.preserve_format)
        self.mean_square = torch.zeros_like(parameter, memory_format=torch.preserve_format)
