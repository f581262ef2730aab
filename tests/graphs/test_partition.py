"""Partitions of a support among processes: few edges between them, nearly as many in each."""

import builtins

import numpy as np
import pytest
import torch
from scipy import sparse

from manyview.distributed.world import World
from manyview.graphs import partition
from manyview.graphs.partition import Partition, fewest_cut, partition_nodes
from manyview.graphs.support import GraphSupport


class FirstOfTwo(World):
    """The first of two processes, which computes for both."""

    def from_first(self, compute):
        return compute()


TWO = FirstOfTwo(0, 2)


def clustered_support(rng, n_clusters=4, n_each=300, n_between=20):
    """Clusters of random edges in a random order, with few edges between them."""
    n_nodes = n_clusters * n_each
    clusters = rng.permutation(np.repeat(np.arange(n_clusters), n_each))
    ends = []
    for cluster in range(n_clusters):
        members = np.flatnonzero(clusters == cluster)
        ends.append(rng.choice(members, size=(8 * n_each, 2)))
    ends.append(rng.choice(n_nodes, size=(n_between, 2)))
    rows, columns = np.concatenate(ends).T
    graph = sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(n_nodes, n_nodes))
    return GraphSupport.from_graphs([sparse.csr_array(graph + graph.T)], is_reordered=True)


def cut_share(support, owners):
    rows = np.repeat(np.arange(support.n_samples), support.row_starts.diff().numpy())
    return (owners[rows] != owners[support.columns.numpy()]).mean()


@pytest.mark.parametrize("n_parts", [2, 4])
def test_few_edges_are_cut_and_parts_have_nearly_as_many(rng, n_parts):
    pytest.importorskip("pymetis")
    support = clustered_support(rng)
    owners = fewest_cut(support, n_parts)
    lengths = support.row_starts.diff().numpy()
    edges = np.bincount(owners, weights=lengths, minlength=n_parts)
    assert edges.max() <= 1.05 * edges.mean()
    assert cut_share(support, owners) < 0.01
    by_place = Partition.of_blocks(partition.balanced_blocks(lengths, n_parts)).blocks
    assert cut_share(support, owners) < cut_share(
        support, by_place.owners(torch.arange(support.n_samples)).numpy()
    )
    assert np.array_equal(fewest_cut(support, n_parts), owners)


def test_nodes_are_numbered_process_by_process_in_the_order_of_their_places(rng):
    owners = torch.from_numpy(rng.integers(4, size=30))
    owners[owners == 2] = 3  # one process has none
    found = Partition.of_owners(owners, 4)
    assert found.blocks.counts == torch.bincount(owners, minlength=4).tolist()
    for rank in range(4):
        places = found.places[found.blocks.slice_of(rank)]
        assert torch.equal(places, torch.nonzero(owners == rank).squeeze(1))
    assert torch.equal(found.places[found.numbers], torch.arange(30))


def test_a_small_support_is_divided_into_blocks_of_nearly_as_many_edges(rng):
    support = clustered_support(rng, n_each=20)
    found = partition_nodes(support, TWO)
    assert torch.equal(found.places, torch.arange(80))
    lengths = support.row_starts.diff().numpy()
    sums = [lengths[found.blocks.slice_of(rank)].sum() for rank in range(2)]
    assert max(sums) - min(sums) <= 2 * lengths.max()


def test_without_metis_blocks_are_used_and_one_line_says_so(rng, monkeypatch, capsys):
    support, original = clustered_support(rng), builtins.__import__

    def refuse(name, *rest, **options):
        if name == "pymetis":
            raise ImportError(name)
        return original(name, *rest, **options)

    monkeypatch.setattr(builtins, "__import__", refuse)
    partition._say_that_metis_is_missing.cache_clear()
    partition_nodes(support, TWO)
    found = partition_nodes(support, TWO)
    assert torch.equal(found.places, torch.arange(support.n_samples))
    shown = capsys.readouterr().err
    assert shown.count("\n") == 1
    assert "pip install 'manyview[scale]'" in shown
