"""Renormalisation with self-loops, Eq. (2)."""

from math import sqrt

import numpy as np
import pytest
from scipy import sparse

from manyview.graphs.normalization import renormalize


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
    graph[:, 7] = graph[7] = 0  # linked to nobody
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
