"""Copies of a network's weights during training: the best so far, and a running mean."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn


class WeightSnapshot:
    """A copy of a network's weights that can be restored."""

    def __init__(self, network: nn.Module) -> None:
        self.network = network
        self.parameters = list(network.parameters())
        self.saved = [parameter.detach().clone() for parameter in self.parameters]

    @torch.no_grad()
    def restore(self) -> None:
        """Copy the saved weights back into the network."""
        for saved, parameter in zip(self.saved, self.parameters, strict=True):
            parameter.copy_(saved)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Use the saved weights within a block, then restore the current ones."""
        current = WeightSnapshot(self.network)
        try:
            self.restore()
            yield
        finally:
            current.restore()


class BestWeights(WeightSnapshot):
    """The weights of the lowest loss so far; consistent even if a step is interrupted."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__(network)
        self.loss = float("inf")

    @torch.no_grad()
    def update(self, loss: float) -> None:
        """Save the current weights if this loss is the lowest."""
        if loss < self.loss:
            self.loss = loss
            for saved, parameter in zip(self.saved, self.parameters, strict=True):
                saved.copy_(parameter)


class MeanWeights(WeightSnapshot):
    """Exponential moving average of the weights over about the last `n_epochs`."""

    def __init__(self, network: nn.Module, n_epochs: int) -> None:
        super().__init__(network)
        self.n_epochs = n_epochs
        self.n_added = 0

    @torch.no_grad()
    def add(self) -> None:
        """Add the current weights to the mean."""
        # At first over half of the epochs, so that the initial weights fade quickly.
        self.n_added += 1
        rate = 1 / min(self.n_epochs, 1 + self.n_added // 2)
        for saved, parameter in zip(self.saved, self.parameters, strict=True):
            saved.lerp_(parameter, rate)
