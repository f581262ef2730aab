"""Renormalization with self-loops, Eq. (2), and Laplacians, against literal loops."""

from math import sqrt

import numpy as np
import pytest
from scipy import sparse

from manyview.graphs.normalization import laplacian, normalized_laplacian, renormalize


def literal_renormalized(graph):
    """Loop over D^-1/2 (A + I) D^-1/2, Eq. (2)."""
    n_samples = len(graph)
    with_loops = [
        [1.0 if i == j else float(graph[i, j]) for j in range(n_samples)] for i in range(n_samples)
    ]
    degree = [sum(row) for row in with_loops]
    return [
        [with_loops[i][j] / (sqrt(degree[i]) * sqrt(degree[j])) for j in range(n_samples)]
        for i in range(n_samples)
    ]


@pytest.fixture
def weighted_graph(rng):
    graph = np.triu(np.where(rng.random((12, 12)) < 0.4, rng.random((12, 12)), 0.0), 1)
    graph[:, 7] = graph[7] = 0  # isolated
    return graph + graph.T


def test_renormalized_graph_equals_a_literal_loop(weighted_graph):
    renormalized = renormalize(sparse.csr_array(weighted_graph))
    np.testing.assert_allclose(
        renormalized.toarray(), literal_renormalized(weighted_graph), rtol=1e-14
    )
    assert renormalized.has_sorted_indices


def test_renormalized_graph_of_ones_stays_exactly_symmetric(weighted_graph):
    renormalized = renormalize(sparse.csr_array((weighted_graph > 0).astype(float))).toarray()
    np.testing.assert_array_equal(renormalized, renormalized.T)


def test_largest_eigenvalue_of_a_renormalized_graph_is_one(weighted_graph):
    eigenvalues = np.linalg.eigvalsh(renormalize(sparse.csr_array(weighted_graph)).toarray())
    assert eigenvalues.max() == pytest.approx(1)
    assert eigenvalues.min() > -1


def test_self_loops_already_there_are_not_doubled(weighted_graph):
    without = renormalize(sparse.csr_array(weighted_graph))
    with_loops = renormalize(sparse.csr_array(weighted_graph + np.diag(np.arange(12.0))))
    np.testing.assert_allclose(with_loops.toarray(), without.toarray(), rtol=1e-14)


def test_isolated_sample_keeps_itself_whole(weighted_graph):
    renormalized = renormalize(sparse.csr_array(weighted_graph)).toarray()
    np.testing.assert_array_equal(renormalized[7], np.eye(12)[7])


def test_renormalization_leaves_its_input_alone(weighted_graph):
    graph = sparse.csr_array(weighted_graph)
    renormalize(graph)
    np.testing.assert_array_equal(graph.toarray(), weighted_graph)


def test_renormalization_follows_samples_when_they_are_renumbered(weighted_graph, rng):
    order = rng.permutation(12)
    before = renormalize(sparse.csr_array(weighted_graph)).toarray()
    after = renormalize(sparse.csr_array(weighted_graph[order][:, order])).toarray()
    np.testing.assert_allclose(after, before[order][:, order], rtol=1e-14)


def literal_laplacian(graph, normalized):
    """Loop over D - W, or over I - D^-1/2 W D^-1/2 with zeros for samples without edges."""
    degree = [sum(row) for row in graph.tolist()]
    expected = np.zeros(graph.shape)
    for i, j in np.ndindex(*graph.shape):
        if not normalized:
            expected[i, j] = (degree[i] if i == j else 0.0) - graph[i, j]
        elif degree[i] > 0 and degree[j] > 0:
            expected[i, j] = (i == j) - graph[i, j] / (sqrt(degree[i]) * sqrt(degree[j]))
    return expected


LAPLACIANS = pytest.mark.parametrize("laplacian_of", [laplacian, normalized_laplacian])


@LAPLACIANS
def test_laplacian_equals_a_literal_loop(weighted_graph, laplacian_of):
    found = laplacian_of(sparse.csr_array(weighted_graph))
    expected = literal_laplacian(weighted_graph, laplacian_of is normalized_laplacian)
    np.testing.assert_allclose(found.toarray(), expected, rtol=1e-14, atol=1e-16)
    assert isinstance(found, sparse.csr_array)
    assert found.has_sorted_indices
    assert (found.data != 0).all()


@LAPLACIANS
def test_laplacian_is_exactly_symmetric_and_positive_semidefinite(weighted_graph, laplacian_of):
    found = laplacian_of(sparse.csr_array(weighted_graph)).toarray()
    np.testing.assert_array_equal(found, found.T)
    assert np.linalg.eigvalsh(found).min() > -1e-14


@LAPLACIANS
def test_laplacian_of_an_isolated_sample_is_zero(weighted_graph, laplacian_of):
    found = laplacian_of(sparse.csr_array(weighted_graph)).toarray()
    np.testing.assert_array_equal(found[7], 0)
    np.testing.assert_array_equal(found[:, 7], 0)


def test_energy_of_a_laplacian_is_a_sum_over_edges(weighted_graph, rng):
    values = rng.normal(size=12)
    roots = np.sqrt(weighted_graph.sum(axis=1))
    plain = scaled = 0.0
    for i, j in np.argwhere(np.triu(weighted_graph)):
        plain += weighted_graph[i, j] * (values[i] - values[j]) ** 2
        scaled += weighted_graph[i, j] * (values[i] / roots[i] - values[j] / roots[j]) ** 2
    graph = sparse.csr_array(weighted_graph)
    assert values @ (laplacian(graph) @ values) == pytest.approx(plain)
    assert values @ (normalized_laplacian(graph) @ values) == pytest.approx(scaled)


def test_rows_of_a_laplacian_sum_to_zero_and_self_loops_cancel(weighted_graph):
    with_loops = laplacian(sparse.csr_array(weighted_graph + np.diag(np.arange(12.0))))
    np.testing.assert_allclose(with_loops.sum(axis=1), 0, atol=1e-14)
    np.testing.assert_allclose(
        with_loops.toarray(), laplacian(sparse.csr_array(weighted_graph)).toarray(), atol=1e-14
    )


def test_eigenvalues_of_a_normalized_laplacian_lie_between_zero_and_two(weighted_graph):
    found = normalized_laplacian(sparse.csr_array(weighted_graph)).toarray()
    assert np.linalg.eigvalsh(found).max() <= 2 + 1e-14


@LAPLACIANS
def test_laplacian_leaves_its_input_alone_and_takes_whole_numbers(weighted_graph, laplacian_of):
    graph = sparse.csr_array((weighted_graph > 0).astype(np.int64))
    before = graph.toarray()
    assert laplacian_of(graph).dtype == np.float64
    np.testing.assert_array_equal(graph.toarray(), before)
