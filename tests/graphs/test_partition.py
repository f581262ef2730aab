"""Partitions of a support among processes: few edges between them, nearly as many in each."""

import builtins

import numpy as np
import pytest
import torch
from scipy import sparse

from manyview.distributed.world import World
from manyview.graphs import partition
from manyview.graphs.partition import Partition, fewest_cut, partition_nodes, sample_owners
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


def test_all_edges_but_loops_are_given_in_both_directions(rng, monkeypatch):
    monkeypatch.setattr(partition, "ROWS_AT_ONCE", 7)
    support = clustered_support(rng, n_each=10)
    starts, columns = partition.sampled_edges(support)
    found = sparse.csr_array((np.ones(len(columns)), columns, starts), shape=(40, 40)).toarray()
    shape = (support.n_samples, support.n_samples)
    parts = support.columns.numpy(), support.row_starts.numpy()
    expected = sparse.csr_array((np.ones(support.n_edges), *parts), shape=shape).toarray()
    assert np.array_equal(found, expected - np.eye(40))


def test_of_very_many_edges_metis_sees_a_symmetric_sample_that_cuts_few(rng, monkeypatch):
    pytest.importorskip("pymetis")
    support = clustered_support(rng)
    monkeypatch.setattr(partition, "MAX_EDGES", support.n_edges // 2)
    starts, columns = partition.sampled_edges(support)
    assert 0.4 < len(columns) / support.n_edges < 0.55
    shape = (support.n_samples, support.n_samples)
    sample = sparse.csr_array((np.ones(len(columns)), columns, starts), shape=shape)
    assert (sample != sample.T).nnz == 0
    owners = fewest_cut(support, 4)
    lengths = support.row_starts.diff().numpy()
    edges = np.bincount(owners, weights=lengths, minlength=4)
    assert edges.max() <= 1.05 * edges.mean()
    assert cut_share(support, owners) < 0.02


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


def test_owners_of_samples_divide_another_support_of_the_same_samples(rng):
    pytest.importorskip("pymetis")
    support = clustered_support(rng)
    owners = sample_owners(support, TWO)
    columns = support.matrix_of(torch.ones(support.n_pairs)).tocoo()  # by sample
    assert (owners[columns.row] != owners[columns.col]).numpy().mean() < 0.01
    other = clustered_support(np.random.default_rng(5))
    assert not torch.equal(other.order, support.order)
    found = Partition.of_owners(other.by_place(owners), 2)
    for rank in range(2):
        places = found.places[found.blocks.slice_of(rank)]
        assert (owners[other.order.long()[places]] == rank).all()


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
