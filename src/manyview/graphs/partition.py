"""Divide the nodes of a support among processes, so that few edges go from one to another."""

from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor

from manyview.distributed.blocks import Blocks, balanced_blocks
from manyview.distributed.world import World
from manyview.graphs.support import GraphSupport
from manyview.system.progress import show_message

MIN_NODES = 1000  # that METIS divides; in fewer there is little to exchange
# That METIS is given. A sample of more edges still shows where few are cut, and needs less memory.
MAX_EDGES = 2**26
ROWS_AT_ONCE = 2**17  # of a support that are read
SCATTER = np.uint32(2654435761)  # Knuth's multiplicative hash
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


def sample_owners(support: GraphSupport, world: World) -> Tensor:
    """Return the process that `partition_nodes` gives each sample to: [sample]; collective."""
    partition = partition_nodes(support, world)
    return support.by_sample(partition.blocks.owners(partition.numbers))


def _owners(support: GraphSupport, n_processes: int) -> np.ndarray | None:
    if support.n_samples < MIN_NODES:
        return None
    try:
        return fewest_cut(support, n_processes)
    except ImportError:
        _say_that_metis_is_missing()
        return None


@cache  # once is enough
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
    starts, columns = sampled_edges(support)
    found = pymetis.part_graph(
        n_parts,
        pymetis.CSRAdjacency(starts.astype(integer), columns.astype(integer)),
        vweights=support.row_starts.diff().numpy().astype(integer),
        options=pymetis.Options(seed=SEED),
    )
    return np.asarray(found.vertex_part, dtype=np.int64)


def sampled_edges(support: GraphSupport) -> tuple[np.ndarray, np.ndarray]:
    """Return the edges without loops in CSR, both directions; of very many, a sample.

    An edge is in the sample or not by its number alone, so the sample is symmetric.

    Returns
    -------
    [place + 1] row starts, and [edge] columns.
    """
    share = min(1.0, MAX_EDGES / support.n_edges)
    bounds = [*range(0, support.n_samples, ROWS_AT_ONCE), support.n_samples]
    lengths, columns = [], []
    for start, end in pairwise(bounds):
        starts = support.row_starts[start : end + 1].numpy()
        edges = slice(int(starts[0]), int(starts[-1]))
        leads_to = support.columns[edges].numpy()
        rows = np.repeat(np.arange(end - start), np.diff(starts))
        is_taken = leads_to != rows + start
        if share < 1:
            scattered = support.pairs[edges].numpy().astype(np.uint32) * SCATTER
            is_taken &= scattered < share * 2**32
        lengths.append(np.bincount(rows[is_taken], minlength=end - start))
        columns.append(leads_to[is_taken])
    ends = np.cumsum(np.concatenate(lengths))
    return np.concatenate([[0], ends]), np.concatenate(columns)
