"""The shared support: where the edges are, and the way there and back."""

import numpy as np
import pytest
import torch
from scipy import sparse

from manyview.graphs.support import GraphSupport

N_SAMPLES = 10


@pytest.fixture
def graphs(rng):
    """Three symmetric graphs; one has loops, the last sample is linked to nobody."""
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


def test_undirected_numbers_pair_the_two_directions_of_each_edge(support):
    assert torch.equal(support.undirected[support.reverse], support.undirected)
    is_loop = support.rows == support.columns
    assert (support.undirected[is_loop] == support.n_undirected).all()
    numbers, counts = support.undirected[~is_loop].unique(return_counts=True)
    assert torch.equal(numbers, torch.arange(support.n_undirected))
    assert (counts == 2).all()


def test_weights_and_matrix_are_each_others_way_back(graphs, support):
    for graph in graphs:
        weights = support.weights_of(graph)
        np.testing.assert_array_equal(
            weights.numpy(), graph.toarray()[support.rows.numpy(), support.columns.numpy()]
        )
        assert abs(support.matrix_of(weights) - graph).nnz == 0
        assert support.matrix_of(weights).nnz == graph.nnz


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
    assert torch.equal(moved.undirected, support.undirected)
    assert moved.n_edges == support.n_edges
