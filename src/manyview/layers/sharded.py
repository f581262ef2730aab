"""Values of nodes and pairs where a support is divided among processes.

The layers compute on the part of the graph that a process holds. Before a product they get the
rows of neighbors elsewhere; where all nodes count, as in a ranking, they get one value of each. On
a whole support these functions return what they are given.
"""

import torch
from torch import Tensor

from manyview.graphs.support import GraphSupport


def with_neighbors(support: GraphSupport, rows: Tensor) -> Tensor:
    """Complete rows of own nodes by those of their neighbors: [own node, ...] to [node, ...]."""
    return rows if support.shard is None else support.shard.with_neighbors(rows)


def with_shared_pairs(support: GraphSupport, values: Tensor) -> Tensor:
    """Complete the own values of undirected edges by those that other processes hold."""
    return values if support.shard is None else support.shard.with_shared_pairs(values)


def own_nodes(support: GraphSupport, values: Tensor) -> Tensor:
    """Select the own nodes: [node, ...] to [own node, ...]."""
    return values if support.shard is None else values[support.shard.own]


def of_all_nodes(support: GraphSupport, values: Tensor) -> Tensor:
    """Join the values of all processes: [own node, ...] to [sample, ...]."""
    return values if support.shard is None else support.shard.by_sample(values)


def at_nodes(support: GraphSupport, values: Tensor) -> Tensor:
    """Select the nodes of this process: [sample, ...] to [node, ...]."""
    return values if support.shard is None else support.shard.at_nodes(values)


def uniform_at_nodes(
    support: GraphSupport | None, like: Tensor, generator: torch.Generator | None
) -> Tensor:
    """Draw numbers from [0, 1) for the rows of own nodes, [own node, ...]."""
    if support is None or support.shard is None:
        return torch.rand(like.shape, generator=generator, dtype=like.dtype, device=like.device)
    return support.shard.uniform(like, generator)
