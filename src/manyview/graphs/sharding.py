"""Divide a support among processes: each gets the edges at a contiguous block of samples."""

from dataclasses import replace

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from manyview.distributed.blocks import Blocks, balanced_blocks
from manyview.distributed.exchange import ExchangePlan
from manyview.distributed.shard import Shard
from manyview.distributed.world import World
from manyview.graphs.support import GraphSupport
from manyview.graphs.view_masks import ViewMasks


def edge_blocks(support: GraphSupport, n_blocks: int) -> Blocks:
    """Divide the places of a support into blocks with nearly the same number of edges.

    Neighbors have nearby places in a large support, so few edges go from block to block.
    """
    return balanced_blocks(support.row_starts.diff(), n_blocks)


def shard_support(
    support: GraphSupport, world: World, blocks: Blocks | None = None
) -> tuple[GraphSupport, Tensor]:
    """Return the part of a support that this process holds; collective.

    Its samples are those of the own block and their neighbors elsewhere, in the order of places.
    It has the edges with an end in the block, and all loops.

    Parameters
    ----------
    support
        The whole one, on the CPU; the same in all processes.
    blocks
        Of the places; by default `edge_blocks`.

    Returns
    -------
    The part, and [pair] the number of each of its pairs in the whole support.
    """
    blocks = edge_blocks(support, world.size) if blocks is None else blocks
    own = blocks.slice_of(world.rank)
    lower, higher = support.upper_rows, support.upper_columns
    edges = torch.nonzero(_is_within(lower, own) | _is_within(higher, own)).squeeze(1)
    lower, higher = lower[edges].long(), higher[edges].long()
    nodes = torch.unique(torch.cat([lower, higher, torch.arange(own.start, own.stop)]))
    part = _symmetric(
        torch.searchsorted(nodes, lower).numpy(),
        torch.searchsorted(nodes, higher).numpy(),
        len(nodes),
    )
    starts = support.upper_starts
    pair_blocks = Blocks(tuple(int(starts[bound]) for bound in blocks.bounds))
    shard = Shard(
        world,
        blocks,
        pair_blocks,
        nodes,
        None if support.order is None else support.order.long(),
        ExchangePlan.of(world, blocks, nodes[~_is_within(nodes, own)]),
        ExchangePlan.of(world, pair_blocks, edges[lower < own.start]),
    )
    pairs = torch.cat([edges, support.n_undirected + nodes])
    masks = support.view_masks
    if masks is not None:
        masks = ViewMasks(masks.masks, masks.of_pairs[pairs])
    return replace(part, view_masks=masks, shard=shard), pairs


def _is_within(numbers: Tensor, block: slice) -> Tensor:
    is_within: Tensor = (numbers >= block.start) & (numbers < block.stop)
    return is_within


def _symmetric(lower: np.ndarray, higher: np.ndarray, n_nodes: int) -> GraphSupport:
    """Make the support of undirected edges; they are sorted, so their order stays."""
    ends = np.concatenate([lower, higher]), np.concatenate([higher, lower])
    shape = (n_nodes, n_nodes)
    pattern = sparse.csr_array((np.ones(len(ends[0]), dtype=bool), ends), shape=shape)
    return GraphSupport.from_graphs([pattern], is_reordered=False)
