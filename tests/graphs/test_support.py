"""The support of all graphs, and conversions to and from weights."""

from dataclasses import fields

import numpy as np
import pytest
import torch
from scipy import sparse

from manyview.graphs.support import GraphSupport

N_SAMPLES = 10


@pytest.fixture
def graphs(rng):
    """Three symmetric graphs; one has loops, the last sample is isolated."""
    graphs = []
    for density in (0.2, 0.1, 0.3):
        is_edge = rng.random((N_SAMPLES, N_SAMPLES)) < density
        upper = np.triu(is_edge * rng.random((N_SAMPLES, N_SAMPLES)), 1)
        upper[:, -1] = 0
        graphs.append(sparse.csr_array(upper + upper.T))
    graphs[1] = sparse.csr_array(graphs[1] + 0.5 * sparse.eye_array(N_SAMPLES))
    return graphs


@pytest.fixture
def support(graphs):
    return GraphSupport.from_graphs(graphs)


def test_support_is_the_union_of_the_graphs_and_the_diagonal(graphs, support):
    expected = {(i, i) for i in range(N_SAMPLES)}
    for graph in graphs:
        expected |= {(int(i), int(j)) for i, j in np.argwhere(graph.toarray())}
    edges = list(zip(support.rows.tolist(), support.columns.tolist(), strict=True))
    assert edges == sorted(expected)
    assert support.n_edges == len(expected)
    assert support.n_samples == N_SAMPLES


def test_row_starts_point_at_each_rows_first_edge(support):
    for i in range(N_SAMPLES):
        start, stop = support.row_starts[i], support.row_starts[i + 1]
        assert (support.rows[start:stop] == i).all()
    assert support.row_starts[-1] == support.n_edges


def test_reverse_swaps_the_ends_of_each_edge_and_undoes_itself(support):
    assert torch.equal(support.rows[support.reverse], support.columns)
    assert torch.equal(support.columns[support.reverse], support.rows)
    assert torch.equal(support.reverse[support.reverse], torch.arange(support.n_edges))


def test_pairs_number_edges_above_the_diagonal_and_then_loops(support):
    upper = list(zip(support.upper_rows.tolist(), support.upper_columns.tolist(), strict=True))
    assert upper == sorted(upper)
    numbers = {ends: number for number, ends in enumerate(upper)}
    numbers |= {(i, i): support.n_undirected + i for i in range(N_SAMPLES)}
    edges = zip(support.rows.tolist(), support.columns.tolist(), strict=True)
    assert support.pairs.tolist() == [numbers[min(i, j), max(i, j)] for i, j in edges]
    assert support.n_pairs == len(numbers)


def test_upper_starts_count_the_pairs_of_lower_samples(support):
    for i in range(N_SAMPLES + 1):
        assert support.upper_starts[i] == (support.upper_rows < i).sum()


def test_numbers_are_of_32_bits(support):
    for field in fields(support):
        part = getattr(support, field.name)
        assert part is None or part.dtype == torch.int32


def test_weights_and_matrix_are_inverse_conversions(graphs, support):
    for graph in graphs:
        weights = support.weights_of(graph)
        dense = graph.toarray()
        expected = [
            dense[i, j] for i, j in zip(support.upper_rows, support.upper_columns, strict=True)
        ]
        np.testing.assert_array_equal(weights.numpy(), [*expected, *dense.diagonal()])
        assert abs(support.matrix_of(weights) - graph).nnz == 0
        assert support.matrix_of(weights).nnz == graph.nnz


def test_weights_keep_the_type_they_have_in_the_graph(graphs, support):
    assert support.weights_of(graphs[0]).dtype == torch.float64
    assert support.weights_of(graphs[0].astype(np.float32)).dtype == torch.float32


def test_stored_zeros_and_unsorted_columns_change_nothing(graphs, support):
    graph = sparse.coo_array(graphs[0])
    rows, columns = (np.append(ends, [0, 9]) for ends in (graph.row, graph.col))
    rows, columns = np.append(rows, [9, 0]), np.append(columns, [9, 0])
    turned = np.lexsort((-columns, rows))
    values = np.append(graph.data, [0.0, 0.0, 0.0, 0.0])[turned]
    starts = np.searchsorted(rows[turned], np.arange(N_SAMPLES + 1))
    messy = sparse.csr_array((values, columns[turned], starts), shape=(N_SAMPLES, N_SAMPLES))
    again = GraphSupport.from_graphs([messy, *graphs[1:]])
    assert torch.equal(again.columns, support.columns)
    assert torch.equal(support.weights_of(messy), support.weights_of(graphs[0]))


def test_matrix_of_weights_that_are_not_symmetric_keeps_them_so(support):
    weights = torch.arange(1.0, support.n_edges + 1)
    matrix = support.matrix_of(weights).toarray()
    np.testing.assert_array_equal(matrix[support.rows, support.columns], weights.numpy())
    weights[:] = 0
    assert matrix.any(), "the matrix holds its own copy"


def test_graph_without_edges_has_a_support_of_loops_alone():
    support = GraphSupport.from_graphs([sparse.csr_array((4, 4))])
    assert support.rows.tolist() == support.columns.tolist() == [0, 1, 2, 3]
    assert support.n_undirected == 0


def test_support_follows_samples_when_they_are_renumbered(graphs, support, rng):
    order = rng.permutation(N_SAMPLES)
    renumbered = [sparse.csr_array(graph.toarray()[order][:, order]) for graph in graphs]
    after = GraphSupport.from_graphs(renumbered)
    ones = torch.ones(support.n_edges)
    pattern = support.matrix_of(ones).toarray()
    np.testing.assert_array_equal(after.matrix_of(ones).toarray(), pattern[order][:, order])


def test_support_moves_to_a_device_whole(support):
    moved = support.to("cpu")
    assert torch.equal(moved.pairs, support.pairs)
    assert moved.n_edges == support.n_edges


def test_large_supports_give_neighbors_places_near_each_other(rng, monkeypatch):
    shuffled = rng.permutation(60)
    ring = np.roll(np.eye(60), 1, axis=1)[shuffled][:, shuffled]
    graph = sparse.csr_array(ring + ring.T)
    assert GraphSupport.from_graphs([graph]).order is None
    monkeypatch.setattr("manyview.graphs.support.REORDERED_FROM", 60)
    support = GraphSupport.from_graphs([graph])
    assert sorted(support.order.tolist()) == list(range(60))
    assert (support.rows - support.columns).abs().max() <= 2
    assert torch.equal(support.order[support.places], torch.arange(60, dtype=torch.int32))
    weights = support.weights_of(graph)
    assert (support.matrix_of(weights) != graph).nnz == 0
    assert torch.equal(support.to("cpu").order, support.order)
    values = torch.arange(60.0)
    assert torch.equal(support.by_sample(support.by_place(values)), values)


@pytest.mark.parametrize("is_reordered", [False, True])
def test_several_graphs_are_converted_like_one_each(graphs, is_reordered):
    support = GraphSupport.from_graphs(graphs, is_reordered=is_reordered)
    weights = [support.weights_of(graph) for graph in graphs]
    weights.append(support.on_edges(weights[0]) * torch.arange(support.n_edges))  # asymmetric
    found = list(support.matrices_of(weights))
    for matrix, graph in zip(found, graphs, strict=False):
        assert (matrix != graph).nnz == 0
        assert matrix.nnz == graph.count_nonzero()
    order = torch.arange(N_SAMPLES) if support.order is None else support.order
    ends = order[support.rows.long()], order[support.columns.long()]
    for row, column, weight in zip(*ends, weights[-1], strict=True):
        assert found[-1][int(row), int(column)] == weight
    assert not np.shares_memory(found[0].indices, found[1].indices)
