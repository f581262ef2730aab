"""The part of a graph that one process holds, and what it gets from the others.

Nodes are numbered process by process, so each has a block of them. It holds the edges at the nodes
of its block, and so also has to know the nodes at the other ends of these edges: its neighbors.
Node numbers keep their order: neighbors before the block, the block, neighbors after it.

An edge between two blocks is held by both processes. Its learned parameter belongs to the process
of its lower end, which sends it to the other.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from manyview.distributed.blocks import Blocks
from manyview.distributed.draws import uniform_rows
from manyview.distributed.exchange import ExchangePlan, exchange_rows, gather_rows
from manyview.distributed.world import World


@dataclass(frozen=True)
class Shard:
    """One process' part of a graph; methods that say so are collective.

    Attributes
    ----------
    world
        The processes.
    blocks, pair_blocks
        Of the nodes, and of the undirected edges by their lower node.
    nodes
        [node] number of each own node and neighbor in the whole graph, ascending.
    order
        [node of the whole graph] the sample at each number.
    places
        [own node] the place of each own node in the graph that was divided, ascending.
    pairs
        [own undirected edge] the number of each in the graph that was divided.
    row_plan, pair_plan
        Which rows of nodes and which values of edges are exchanged.
    """

    world: World
    blocks: Blocks
    pair_blocks: Blocks
    nodes: Tensor
    order: Tensor
    places: Tensor
    pairs: Tensor
    row_plan: ExchangePlan
    pair_plan: ExchangePlan

    @property
    def own(self) -> slice:
        """The own block among `nodes`."""
        start = self.row_plan.n_below
        return slice(start, start + self.blocks.counts[self.world.rank])

    @property
    def samples(self) -> Tensor:
        """[own node] the sample of each own node."""
        return self.order.index_select(0, self.nodes[self.own])

    @cached_property
    def _numbers(self) -> Tensor:
        """[sample] the number of each sample."""
        return torch.argsort(self.order)

    def to(self, device: torch.device | str) -> "Shard":
        """Move to a device."""
        return replace(
            self,
            nodes=self.nodes.to(device),
            order=self.order.to(device),
            places=self.places.to(device),
            pairs=self.pairs.to(device),
            row_plan=self.row_plan.to(device),
            pair_plan=self.pair_plan.to(device),
        )

    def with_neighbors(self, rows: Tensor) -> Tensor:
        """Complete rows of the own nodes by those of the neighbors; collective.

        Shapes
        ------
        rows : [own node, ...]
        returns : [node, ...]
        """
        return exchange_rows(self.row_plan, rows)

    def with_shared_pairs(self, values: Tensor) -> Tensor:
        """Complete values of the edges whose lower node is an own one; collective.

        Shapes
        ------
        values : [own undirected edge, ...]
        returns : [undirected edge, ...]
        """
        return exchange_rows(self.pair_plan, values)

    def by_sample(self, rows: Tensor) -> Tensor:
        """Join the rows of all processes, in the order of the samples; collective.

        Shapes
        ------
        rows : [own node, ...]
        returns : [sample, ...]
        """
        gathered = gather_rows(self.world, self.blocks, rows)
        return gathered.index_select(0, self._numbers)

    def at_nodes(self, values: Tensor) -> Tensor:
        """Select the values of the own nodes and the neighbors from those of all samples.

        Shapes
        ------
        values : [sample, ...]
        returns : [node, ...]
        """
        return values.index_select(0, self.order.index_select(0, self.nodes))

    def pad(self, rows: Tensor) -> Tensor:
        """Put zeros in the places of the neighbors: [own node, ...] to [node, ...]."""
        padded = rows.new_zeros(len(self.nodes), *rows.shape[1:])
        padded[self.own] = rows
        return padded

    def uniform(self, like: Tensor, generator: torch.Generator | None) -> Tensor:
        """Draw numbers for own rows, the same as one process would (see `uniform_rows`)."""
        return uniform_rows(like, generator, self.places, self.blocks.n_total)

    def by_pair(self, values: Tensor) -> Tensor:
        """Join values of the own undirected edges, in the order of the graph that was divided.

        Collective.
        """
        counts = self.pair_blocks.counts
        joined = values.new_empty(sum(counts), *values.shape[1:])
        joined[self.world.gather_rows(self.pairs, counts)] = self.world.gather_rows(values, counts)
        return joined
