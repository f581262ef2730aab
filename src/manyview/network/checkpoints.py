"""Copies of a network's weights, taken while it trains: the best so far, and their mean."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn


class WeightSnapshot:
    """A copy of a network's weights that can be put back."""

    def __init__(self, network: nn.Module) -> None:
        self.network = network
        self.parameters = list(network.parameters())
        self.kept = [parameter.detach().clone() for parameter in self.parameters]

    @torch.no_grad()
    def restore(self) -> None:
        """Put the copy back into the network."""
        for kept, parameter in zip(self.kept, self.parameters, strict=True):
            parameter.copy_(kept)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Give the network the copy for the length of a block."""
        last = WeightSnapshot(self.network)
        try:
            self.restore()
            yield
        finally:
            last.restore()


class BestWeights(WeightSnapshot):
    """The weights of the lowest loss so far: whole even when a step is cut in the middle."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__(network)
        self.loss = float("inf")

    @torch.no_grad()
    def update(self, loss: float) -> None:
        """Keep the weights of now if this loss is the lowest."""
        if loss < self.loss:
            self.loss = loss
            for kept, parameter in zip(self.kept, self.parameters, strict=True):
                kept.copy_(parameter)


class MeanWeights(WeightSnapshot):
    """The mean of the weights over the last `n_epochs`, the older ones fading."""

    def __init__(self, network: nn.Module, n_epochs: int) -> None:
        super().__init__(network)
        self.n_epochs = n_epochs
        self.n_added = 0

    @torch.no_grad()
    def add(self) -> None:
        """Take the weights of now into the mean."""
        # Half of the epochs at first, so that a short training does not hang on its start.
        self.n_added += 1
        share = 1 / min(self.n_epochs, 1 + self.n_added // 2)
        for kept, parameter in zip(self.kept, self.parameters, strict=True):
            kept.lerp_(parameter, share)
