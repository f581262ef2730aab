"""A network on several processes: each has some of the samples, and their edges.

inputs, network -> shard_inputs, shard_network -> train -> gather_weights

The weights of convolutions, fusion and threshold are the same in all processes. Parameters of edges
and rows of factors are divided: each process has those of its samples, and trains them.
"""

from copy import deepcopy

import numpy as np
import torch
from torch import Tensor, nn

from manyview.distributed.shard import Shard
from manyview.distributed.world import World
from manyview.graphs.partition import Partition
from manyview.graphs.sharding import row_entries, shard_support
from manyview.layers.graph_convolution import RowCenters
from manyview.layers.graph_learning import EdgeGraphLearning, FactorGraphLearning
from manyview.layers.sparse_product import csr_tensor
from manyview.network.mgcn_dns import MGCNDNS, NetworkInputs


def shard_inputs(
    inputs: NetworkInputs, world: World, partition: Partition | None = None
) -> NetworkInputs:
    """Return the inputs of this process' samples; collective.

    Parameters
    ----------
    inputs
        Of all samples, the same in all processes.
    partition
        Of the places of the samples; by default with equally many edges, few of them cut.
    """
    device = inputs.view_weights.device
    part, pairs = shard_support(inputs.support.to("cpu"), world, partition)
    assert part.shard is not None
    samples, center = part.shard.samples.to(device), inputs.center
    if isinstance(center, RowCenters):
        center = RowCenters(center.coefficients.index_select(0, samples), center.means)
    return NetworkInputs(
        part.to(device),
        inputs.view_weights.index_select(0, pairs.to(device)),
        take_rows(inputs.features, samples),
        center,
    )


def shard_network(network: MGCNDNS, shard: Shard) -> MGCNDNS:
    """Return a copy of a network for the samples of this process; collective.

    All processes start with the weights of the first.
    """
    part = deepcopy(network)
    with torch.no_grad():
        for parameter in part.parameters():
            parameter.copy_(shard.world.broadcast(parameter))
        for name, parameter in divided_parameters(part).items():
            own = _own_rows(name, parameter, shard)
            setattr(part.graph_learning, name, nn.Parameter(own.clone()))
    return part


@torch.no_grad()
def gather_weights(part: MGCNDNS, shard: Shard, network: MGCNDNS) -> None:
    """Copy the weights of all processes' parts into a whole network; collective."""
    divided = divided_parameters(part)
    for name, parameter in divided.items():
        joined = shard.by_pair(parameter) if name == "magnitude" else shard.by_sample(parameter)
        getattr(network.graph_learning, name).copy_(joined)
    shared = {
        name: parameter
        for name, parameter in part.state_dict().items()
        if name.removeprefix("graph_learning.") not in divided
    }
    network.load_state_dict(shared, strict=False)


def divided_parameters(network: nn.Module) -> dict[str, nn.Parameter]:
    """Return the parameters of edges or samples, by their names in the graph learning."""
    learning = getattr(network, "graph_learning", None)
    if isinstance(learning, EdgeGraphLearning | FactorGraphLearning):
        return dict(learning.named_parameters())
    return {}


def own_rows(values: np.ndarray, shard: Shard) -> np.ndarray:
    """Select the rows of this process' samples: [sample, ...] to [own node, ...]."""
    return np.asarray(values[shard.samples.cpu().numpy()])


def take_rows(matrix: Tensor, rows: Tensor) -> Tensor:
    """Select rows of a dense or a sparse CSR matrix."""
    if matrix.layout == torch.strided:
        return matrix.index_select(0, rows)
    lengths, entries = row_entries(matrix.crow_indices(), rows)
    own_starts = torch.cat([lengths.new_zeros(1), lengths.cumsum(0)])
    columns, values = (
        part.index_select(0, entries) for part in (matrix.col_indices(), matrix.values())
    )
    return csr_tensor(own_starts, columns, values, (len(rows), matrix.shape[1]))


def _own_rows(name: str, parameter: Tensor, shard: Shard) -> Tensor:
    return parameter.index_select(0, shard.pairs if name == "magnitude" else shard.samples)
