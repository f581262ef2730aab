"""Divide the nodes of a support among processes, so that few edges go from one to another."""

from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from torch import Tensor

from manyview.distributed.blocks import Blocks, balanced_blocks
from manyview.distributed.world import World
from manyview.graphs.support import GraphSupport
from manyview.system.progress import show_message

MIN_NODES = 1000  # that METIS divides; in fewer there is little to exchange
SEED = 0


@dataclass(frozen=True)
class Partition:
    """Which nodes each process has.

    Nodes are numbered process by process; those of one process keep the order of their places.

    Attributes
    ----------
    blocks
        Of the numbers.
    places
        [node] place of each number in the support.

    Examples
    --------
    >>> found = Partition.of_owners(torch.tensor([1, 0, 1]), 2)
    >>> found.blocks.counts, found.places.tolist()
    ([1, 2], [1, 0, 2])
    """

    blocks: Blocks
    places: Tensor

    @classmethod
    def of_blocks(cls, blocks: Blocks) -> "Partition":
        """Leave the places in their order."""
        return cls(blocks, torch.arange(blocks.n_total))

    @classmethod
    def of_owners(cls, owners: Tensor, n_processes: int) -> "Partition":
        """Give each process the places that it owns, [place]."""
        counts = torch.bincount(owners, minlength=n_processes)
        blocks = Blocks((0, *counts.cumsum(0).tolist()))
        return cls(blocks, torch.argsort(owners, stable=True))

    @property
    def numbers(self) -> Tensor:
        """[place] number of each place."""
        numbers = torch.empty_like(self.places)
        numbers[self.places] = torch.arange(len(self.places))
        return numbers


def partition_nodes(support: GraphSupport, world: World) -> Partition:
    """Divide a support so that all processes have nearly as many edges; collective.

    METIS cuts few of them (extra `scale`). Without it, and in a small support, each process has a
    block of places, many of whose neighbors are near.
    """
    owners = world.from_first(lambda: _owners(support, world.size))
    if owners is None:
        return Partition.of_blocks(balanced_blocks(support.row_starts.diff(), world.size))
    return Partition.of_owners(torch.from_numpy(owners), world.size)


def _owners(support: GraphSupport, n_processes: int) -> np.ndarray | None:
    if support.n_samples < MIN_NODES:
        return None
    try:
        return fewest_cut(support, n_processes)
    except ImportError:
        _say_that_metis_is_missing()
        return None


@cache  # a fit divides the samples for every network
def _say_that_metis_is_missing() -> None:
    show_message(
        "pymetis is not installed, so neighbors are often in different processes, which then "
        "exchange more. Install it with: pip install 'manyview[scale]'."
    )


def fewest_cut(support: GraphSupport, n_parts: int) -> np.ndarray:
    """Divide the nodes into parts with nearly as many edges each, few of them between parts.

    The parts are METIS's: Karypis, Kumar: A fast and high quality multilevel scheme for
    partitioning irregular graphs. SIAM J. Sci. Comput., 1998.

    Returns
    -------
    [place] the part of each node.
    """
    import pymetis

    integer = pymetis.zero_copy_dtype()
    starts, columns = support.row_starts.numpy(), support.columns.numpy()
    n_edges = np.diff(starts)  # of each row, with its loop, which METIS does not take
    is_loop = columns == np.repeat(np.arange(support.n_samples, dtype=columns.dtype), n_edges)
    adjacency = pymetis.CSRAdjacency(
        (starts - np.arange(len(starts))).astype(integer), columns[~is_loop].astype(integer)
    )
    found = pymetis.part_graph(
        n_parts,
        adjacency,
        vweights=n_edges.astype(integer),
        options=pymetis.Options(seed=SEED),
    )
    return np.asarray(found.vertex_part, dtype=np.int64)
