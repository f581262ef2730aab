"""One training over several processes: sums of the loss and of gradients.

Each process has the logits of some samples. Its loss is their part of the loss of all samples, and
its backward pass computes the gradients of this part; exchanges carry gradients between processes.
The gradients of a weight that all processes hold are then added.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from manyview.distributed.exchange import sum_gradients
from manyview.distributed.world import World
from manyview.network.sharding import divided_parameters


@dataclass(frozen=True)
class SharedTraining:
    """What `train` does differently where several processes share it; all of it is collective.

    Parameters
    ----------
    world
        The processes.
    network
        With the parameters of this process.
    """

    world: World
    network: nn.Module

    def total(self, values: Tensor) -> Tensor:
        """Add a sum over own samples over all processes."""
        return self.world.sum(values.detach())

    def mean(self, values: Tensor) -> Tensor:
        """Average values of own samples over those of all processes."""
        total, n_values = self.total(torch.stack([values.sum(), values.new_tensor(len(values))]))
        mean: Tensor = total / n_values
        return mean

    def label_weight(self, labels: Tensor, class_weight: Tensor | None) -> Tensor:
        """Add the weights of all labels, by their class; their number without weights."""
        if class_weight is None:
            return self.total(torch.tensor(float(len(labels)), device=labels.device))
        return self.total(class_weight[labels].sum())

    def sum_gradients(self) -> None:
        """Add the gradients of the weights that all processes hold."""
        own = {id(one) for one in divided_parameters(self.network).values()}
        held = [one for one in self.network.parameters() if id(one) not in own]
        sum_gradients(self.world, held)
