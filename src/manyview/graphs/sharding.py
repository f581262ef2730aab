"""Divide a support among processes: each gets the edges at its samples."""

from dataclasses import replace

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from manyview.distributed.blocks import Blocks
from manyview.distributed.exchange import ExchangePlan
from manyview.distributed.shard import Shard
from manyview.distributed.world import World
from manyview.graphs.partition import Partition, partition_nodes
from manyview.graphs.support import GraphSupport
from manyview.graphs.view_masks import ViewMasks


def shard_support(
    support: GraphSupport, world: World, partition: Partition | None = None
) -> tuple[GraphSupport, Tensor]:
    """Return the part of a support that this process holds; collective.

    Its samples are those that the partition gives to it and their neighbors elsewhere, in the
    order of the partition's numbers. It has the edges with an end among its own, and all loops.

    Parameters
    ----------
    support
        The whole one, on the CPU; the same in all processes.
    partition
        By default `partition_nodes`.

    Returns
    -------
    The part, and [pair] the number of each of its pairs in the whole support.
    """
    partition = partition_nodes(support, world) if partition is None else partition
    blocks, places = partition.blocks, partition.places
    own = blocks.slice_of(world.rank)
    starts, lower, higher, numbers = _numbered_edges(support, partition)
    edges = torch.nonzero(_is_within(lower, own) | _is_within(higher, own)).squeeze(1)
    lower, higher = lower[edges].long(), higher[edges].long()
    nodes = torch.unique(torch.cat([lower, higher, torch.arange(own.start, own.stop)]))
    part = _symmetric(
        torch.searchsorted(nodes, lower).numpy(),
        torch.searchsorted(nodes, higher).numpy(),
        len(nodes),
    )
    pair_blocks = Blocks(tuple(int(starts[bound]) for bound in blocks.bounds))
    shard = Shard(
        world,
        blocks,
        pair_blocks,
        nodes,
        places if support.order is None else support.order.long()[places],
        places[own],
        numbers[pair_blocks.slice_of(world.rank)],
        ExchangePlan.of(world, blocks, nodes[~_is_within(nodes, own)]),
        ExchangePlan.of(world, pair_blocks, edges[lower < own.start]),
    )
    pairs = torch.cat([numbers[edges], support.n_undirected + places[nodes]])
    masks = support.view_masks
    if masks is not None:
        masks = ViewMasks(masks.masks, masks.of_pairs[pairs])
    return replace(part, view_masks=masks, shard=shard), pairs


def _numbered_edges(
    support: GraphSupport, partition: Partition
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Sort the undirected edges by the numbers of their lower ends, then of their higher ends.

    Returns
    -------
    [node + 1] position of the first edge of each lower end; [edge] the lower end, the higher one,
    and the edge's number in the support.
    """
    numbers = partition.numbers.to(support.upper_rows)
    ends = (numbers[one.long()] for one in (support.upper_rows, support.upper_columns))
    first, second = (one.numpy() for one in ends)
    shape = (support.n_samples, support.n_samples)
    pairs = np.arange(support.n_undirected, dtype=first.dtype)
    edges = sparse.csr_array(
        (pairs, (np.minimum(first, second), np.maximum(first, second))), shape=shape
    )
    edges.sort_indices()
    starts, higher, in_support = (
        torch.from_numpy(one) for one in (edges.indptr, edges.indices, edges.data)
    )
    lower = torch.repeat_interleave(torch.arange(support.n_samples).to(higher), starts.diff())
    return starts, lower, higher, in_support


def _is_within(numbers: Tensor, block: slice) -> Tensor:
    is_within: Tensor = (numbers >= block.start) & (numbers < block.stop)
    return is_within


def _symmetric(lower: np.ndarray, higher: np.ndarray, n_nodes: int) -> GraphSupport:
    """Make the support of undirected edges; they are sorted, so their order stays."""
    ends = np.concatenate([lower, higher]), np.concatenate([higher, lower])
    shape = (n_nodes, n_nodes)
    pattern = sparse.csr_array((np.ones(len(ends[0]), dtype=bool), ends), shape=shape)
    return GraphSupport.from_graphs([pattern], is_reordered=False)
