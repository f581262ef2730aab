"""Divide a support among processes: each gets the edges at its samples."""

from dataclasses import replace
from itertools import accumulate

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

ROWS_AT_ONCE = 2**17  # of a support that are read


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
    starts, lower, higher, in_support = _edges_at(support, partition, own)
    nodes, (low, high) = _renumbered(lower, higher, own, support.n_samples)
    part = _symmetric(low.numpy(), high.numpy(), len(nodes))
    of_others, is_own = slice(int(starts[own.start])), slice(int(starts[own.start]), None)
    n_held = world.gather_objects(len(lower[is_own]))
    keys = lower.long() * support.n_samples + higher
    pair_plan = ExchangePlan.by_key(
        world,
        starts[torch.tensor(blocks.bounds).clamp(max=own.start)].diff().tolist(),
        keys[of_others],
        keys[is_own],
    )
    shard = Shard(
        world,
        blocks,
        Blocks((0, *accumulate(n_held))),
        nodes,
        places if support.order is None else support.order.long()[places],
        places[own],
        in_support[is_own],
        ExchangePlan.of(world, blocks, nodes[(nodes < own.start) | (nodes >= own.stop)]),
        pair_plan,
    )
    pairs = torch.cat([in_support, support.n_undirected + places[nodes].to(in_support)])
    masks = support.view_masks
    if masks is not None:
        masks = ViewMasks(masks.masks, masks.of_pairs[pairs])
    return replace(part, view_masks=masks, shard=shard), pairs


def _edges_at(
    support: GraphSupport, partition: Partition, own: slice
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Find the undirected edges with an end in a block, by the numbers of their ends.

    They are sorted by the lower end, then the higher one. Only the rows of the block are read,
    some at a time, so little memory is needed for a small part of a large graph.

    Returns
    -------
    [node + 1] position of the first edge of each lower end; [edge] the lower end, the higher one,
    and the edge's pair in the support.
    """
    numbers = partition.numbers.to(support.columns)
    parts: list[tuple[Tensor, Tensor, Tensor]] = []
    for places in partition.places[own].split(ROWS_AT_ONCE):
        lengths, entries = row_entries(support.row_starts, places)
        first = torch.repeat_interleave(numbers[places], lengths)
        second = numbers.index_select(0, support.columns.index_select(0, entries))
        # An edge within the block is in two rows, that of its lower end counts.
        is_new = (first < second) | (second < own.start)
        first, second = first[is_new], second[is_new]
        of_edges = support.pairs.index_select(0, entries[is_new])
        parts.append((torch.minimum(first, second), torch.maximum(first, second), of_edges))
    *ends, in_support = (torch.cat(some).numpy() for some in zip(*parts, strict=True))
    del parts
    shape = (support.n_samples, support.n_samples)
    edges = sparse.csr_array((in_support, tuple(ends)), shape=shape)
    edges.sort_indices()
    found = (torch.from_numpy(one) for one in (edges.indptr, edges.indices, edges.data))
    starts, higher, pairs = found
    lower = torch.repeat_interleave(torch.arange(len(numbers)).to(numbers), starts.diff())
    return starts, lower, higher, pairs


def row_entries(row_starts: Tensor, rows: Tensor) -> tuple[Tensor, Tensor]:
    """Find the entries of some rows of a CSR matrix, one row after the other.

    Returns
    -------
    [row] the number of entries of each, and [entry] their positions.

    Examples
    --------
    >>> row_entries(torch.tensor([0, 2, 2, 3]), torch.tensor([2, 0]))
    (tensor([1, 2]), tensor([2, 0, 1]))
    """
    lengths = row_starts.diff().index_select(0, rows).long()
    n_entries = int(lengths.sum())
    shifts = row_starts[:-1].index_select(0, rows) - (lengths.cumsum(0) - lengths)
    entries = torch.repeat_interleave(shifts, lengths, output_size=n_entries)
    entries += torch.arange(n_entries, device=entries.device)
    return lengths, entries


def _renumbered(
    lower: Tensor, higher: Tensor, own: slice, n_nodes: int
) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """Return the nodes of a block and of its edges, and the edges' ends as places among them."""
    is_known = torch.zeros(n_nodes, dtype=torch.bool)
    is_known[own] = True
    for ends in (lower, higher):
        is_known.index_fill_(0, ends.long(), True)
    places = (is_known.cumsum(0) - 1).to(lower)
    return torch.nonzero(is_known).squeeze(1), (
        places.index_select(0, lower),
        places.index_select(0, higher),
    )


def _symmetric(lower: np.ndarray, higher: np.ndarray, n_nodes: int) -> GraphSupport:
    """Make the support of undirected edges; they are sorted, so their order stays."""
    ends = np.concatenate([lower, higher]), np.concatenate([higher, lower])
    shape = (n_nodes, n_nodes)
    pattern = sparse.csr_array((np.ones(len(ends[0]), dtype=bool), ends), shape=shape)
    return GraphSupport.from_graphs([pattern], is_reordered=False)
