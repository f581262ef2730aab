"""One training over several processes: sums of the loss and of gradients.

Each process has the logits of some samples. Its loss is their part of the loss of all samples, and
its backward pass computes the gradients of this part; exchanges carry gradients between processes.
The gradients of a weight that all processes hold are then added.
"""

from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor, nn

from manyview.distributed.exchange import sum_gradients
from manyview.distributed.slow_process import SlowProcess
from manyview.distributed.world import World
from manyview.network.mgcn_dns import MGCNDNS, NetworkInputs
from manyview.network.sharding import (
    divided_parameters,
    gather_weights,
    own_rows,
    shard_network,
)


@dataclass(frozen=True)
class SharedTraining:
    """What `train` does differently where several processes share it; all of it is collective."""

    world: World
    slow: SlowProcess = field(default_factory=SlowProcess)

    def end_epoch(self) -> None:
        """Name a process that is much slower than the others."""
        self.slow.end_epoch(self.world)

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

    def sum_gradients(self, network: nn.Module) -> None:
        """Add the gradients of the weights that all processes hold."""
        own = {id(one) for one in divided_parameters(network).values()}
        held = [one for one in network.parameters() if id(one) not in own]
        sum_gradients(self.world, held)


@dataclass(frozen=True)
class NetworkPart:
    """A network and its inputs, of which this process has all or the part of its samples.

    Attributes
    ----------
    network, inputs
        What this process trains, and on what.
    whole
        The network of all samples, which gets the learned weights in `join`.
    shared
        How the processes share the training; None if there is one.
    """

    network: MGCNDNS
    inputs: NetworkInputs
    whole: MGCNDNS
    shared: SharedTraining | None = None

    def rows(self, values: np.ndarray) -> np.ndarray:
        """Select the rows of this process' samples from those of all."""
        shard = self.inputs.support.shard
        return values if shard is None else own_rows(values, shard)

    def join(self) -> None:
        """Give the network of all samples the weights of all processes; collective."""
        shard = self.inputs.support.shard
        if shard is not None:
            gather_weights(self.network, shard, self.whole)
            self.whole.eval()

    @torch.no_grad()
    def logits(self) -> np.ndarray:
        """Return the logits of all samples, [sample, class]; collective."""
        self.network.eval()
        logits, shard = self.network(*self.inputs), self.inputs.support.shard
        return np.asarray((logits if shard is None else shard.by_sample(logits)).cpu().numpy())


def divide_network(network: MGCNDNS, inputs: NetworkInputs) -> NetworkPart:
    """Divide a network among the processes that share it; collective.

    `inputs` are those of this process, see `shard_inputs`; of one process alone, all.
    """
    shard = inputs.support.shard
    if shard is None:
        return NetworkPart(network, inputs, network)
    return NetworkPart(shard_network(network, shard), inputs, network, SharedTraining(shard.world))
