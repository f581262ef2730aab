"""Weighted neighbor graphs, against literal loops over all pairs."""

from math import exp, sqrt

import numpy as np
import pytest
from scipy import sparse

from manyview.graphs import weighted_neighbors
from manyview.graphs.weighted_neighbors import (
    adaptive_weights,
    heat_kernel_graph,
    probabilistic_neighbors,
)

AS_VIEW = pytest.mark.parametrize(
    "as_view", [np.asarray, sparse.csr_array], ids=["dense", "sparse"]
)


def square_distance(a, b):
    return sum((x - y) ** 2 for x, y in zip(a, b, strict=True))


def nearest(points, i):
    """All others, nearest first: (squared distance, row)."""
    others = [(square_distance(points[i], points[j]), j) for j in range(len(points)) if j != i]
    return sorted(others)


def literal_probabilistic(points, k):
    n_samples = len(points)
    directed = np.zeros((n_samples, n_samples))
    for i in range(n_samples):
        chosen = nearest(points, i)[: k + 1]
        last = chosen[k][0]
        whole = k * last - sum(distance for distance, _ in chosen[:k])
        for distance, j in chosen[:k]:
            directed[i, j] = (last - distance) / whole
    return (directed + directed.T) / 2


def literal_heat_kernel(points, k):
    n_samples = len(points)
    mean = sum(sqrt(square_distance(a, b)) for a in points for b in points) / n_samples**2
    graph = np.zeros((n_samples, n_samples))
    for i in range(n_samples):
        for distance, j in nearest(points, i)[:k]:
            graph[i, j] = graph[j, i] = exp(-distance / (2 * mean**2))
    return graph


def sparse_features(rng, n_samples=40):
    shape = (n_samples, 12)
    return np.where(rng.random(shape) < 0.4, rng.random(shape), 0.0)


def assert_plain_graph(graph):
    assert isinstance(graph, sparse.csr_array)
    assert graph.dtype == np.float64
    assert graph.has_sorted_indices
    assert (graph.data > 0).all()
    assert (graph.data <= 1).all()
    assert (graph.diagonal() == 0).all()
    assert (graph != graph.T).nnz == 0


def test_adaptive_weights_equal_the_formula(rng):
    distances = np.sort(rng.random((6, 4)), axis=1)
    weights = adaptive_weights(distances)
    for row, found in zip(distances, weights, strict=True):
        whole = 3 * row[3] - row[:3].sum()
        np.testing.assert_allclose(found, [(row[3] - d) / whole for d in row[:3]], rtol=1e-12)
    np.testing.assert_allclose(weights.sum(axis=1), 1)


@pytest.mark.parametrize("distance", [0.0, 1.0, 1e-300, 1e300])
def test_adaptive_weights_are_even_when_all_lie_equally_far(distance):
    np.testing.assert_array_equal(
        adaptive_weights(np.full((1, 5), distance)), np.full((1, 4), 0.25)
    )


def test_adaptive_weights_do_not_depend_on_rounding():
    distances = np.array([[2.0, np.nextafter(2.0, 3.0), np.nextafter(2.0, 3.0)]])
    np.testing.assert_array_equal(adaptive_weights(distances), [[0.5, 0.5]])


def test_adaptive_weights_fall_with_distance_whatever_its_unit(rng):
    distances = np.sort(rng.random((6, 4)), axis=1)
    weights = adaptive_weights(distances)
    assert (np.diff(weights, axis=1) <= 0).all()
    np.testing.assert_allclose(adaptive_weights(1e9 * distances), weights, rtol=1e-12)


@AS_VIEW
@pytest.mark.parametrize("n_neighbors", [1, 5])
def test_probabilistic_neighbors_equal_a_literal_loop(rng, as_view, n_neighbors):
    features = sparse_features(rng)
    graph = probabilistic_neighbors(as_view(features), n_neighbors=n_neighbors)
    expected = literal_probabilistic(features.tolist(), n_neighbors)
    np.testing.assert_allclose(graph.toarray(), expected, rtol=1e-11, atol=1e-14)
    assert_plain_graph(graph)


def test_probabilistic_weights_sum_to_the_number_of_samples(rng):
    graph = probabilistic_neighbors(rng.normal(size=(30, 4)), n_neighbors=5)
    assert graph.sum() == pytest.approx(30)


@AS_VIEW
def test_probabilistic_neighbors_of_duplicates_share_evenly(as_view):
    features = as_view(np.repeat(np.eye(2), 4, axis=0))
    graph = probabilistic_neighbors(features, n_neighbors=2).toarray()
    # Each of the four picks its first two among the other three.
    half = np.array([[0, 2, 2, 1], [2, 0, 2, 1], [2, 2, 0, 0], [1, 1, 0, 0]]) / 4
    np.testing.assert_array_equal(graph, np.kron(np.eye(2), half))


def test_probabilistic_neighbors_stay_exact_far_from_the_origin(rng):
    near = rng.integers(-50, 50, size=(30, 3)) / 8
    before = probabilistic_neighbors(near, n_neighbors=4).toarray()
    after = probabilistic_neighbors(near + 2.0**20, n_neighbors=4).toarray()
    np.testing.assert_allclose(after, before, atol=1e-12)


@pytest.mark.parametrize("n_samples", [3, 4, 6])
def test_probabilistic_neighbors_of_few_samples_take_all_but_the_farthest(rng, n_samples):
    features = rng.normal(size=(n_samples, 3))
    graph = probabilistic_neighbors(features, n_neighbors=5)
    expected = literal_probabilistic(features.tolist(), n_samples - 2)
    np.testing.assert_allclose(graph.toarray(), expected, rtol=1e-12)


def test_probabilistic_neighbors_link_a_pair_and_leave_one_alone():
    pair = probabilistic_neighbors(np.array([[0.0], [5.0]]), n_neighbors=5)
    np.testing.assert_array_equal(pair.toarray(), [[0, 1], [1, 0]])
    assert probabilistic_neighbors(np.array([[1.0]]), n_neighbors=5).nnz == 0


@AS_VIEW
@pytest.mark.parametrize("n_neighbors", [1, 5])
def test_heat_kernel_graph_equals_a_literal_loop(rng, as_view, n_neighbors):
    features = sparse_features(rng)
    graph = heat_kernel_graph(as_view(features), n_neighbors=n_neighbors, seed=0)
    expected = literal_heat_kernel(features.tolist(), n_neighbors)
    np.testing.assert_allclose(graph.toarray(), expected, rtol=1e-12)
    assert_plain_graph(graph)


@AS_VIEW
def test_heat_kernel_graph_of_equal_samples_has_weight_one(as_view):
    graph = heat_kernel_graph(as_view(np.full((5, 3), 0.1)), n_neighbors=2, seed=0)
    assert graph.nnz > 0
    np.testing.assert_array_equal(graph.data, 1)


@pytest.mark.parametrize("size", [1e-100, 1e-3, 1e15])
def test_heat_kernel_graph_does_not_depend_on_the_unit(rng, size):
    features = rng.integers(1, 9, size=(20, 3)).astype(float)
    before = heat_kernel_graph(features, n_neighbors=19, seed=0).toarray()
    after = heat_kernel_graph(size * features, n_neighbors=19, seed=0).toarray()
    np.testing.assert_allclose(after, before, rtol=1e-9)


def test_heat_kernel_graph_of_samples_whose_squared_distances_vanish_has_weight_one(rng):
    graph = heat_kernel_graph(1e-200 * rng.random((10, 3)), n_neighbors=3, seed=0)
    np.testing.assert_array_equal(graph.data, 1)


def test_heat_kernel_graph_of_few_samples_links_all(rng):
    graph = heat_kernel_graph(rng.normal(size=(4, 2)), n_neighbors=10, seed=0)
    assert graph.nnz == 12
    assert heat_kernel_graph(np.ones((1, 2)), n_neighbors=3, seed=0).nnz == 0


def test_heat_kernel_scale_is_estimated_on_drawn_samples(rng, monkeypatch):
    features = rng.normal(size=(400, 5))
    exact = heat_kernel_graph(features, n_neighbors=5, seed=0)
    monkeypatch.setattr(weighted_neighbors, "MAX_DRAWN", 100)
    drawn = heat_kernel_graph(features, n_neighbors=5, seed=0)
    again = heat_kernel_graph(features, n_neighbors=5, seed=0)
    other = heat_kernel_graph(features, n_neighbors=5, seed=1)
    np.testing.assert_array_equal(again.data, drawn.data)
    assert (other.data != drawn.data).any()
    # log w = -d^2 / (2 t^2): the ratio of two of them is the ratio of the scales squared.
    np.testing.assert_allclose(np.log(drawn.data) / np.log(exact.data), 1, atol=0.1)


@pytest.mark.parametrize("build", [probabilistic_neighbors, heat_kernel_graph])
def test_weighted_graph_follows_samples_when_they_are_renumbered(rng, build):
    options = {"seed": 0} if build is heat_kernel_graph else {}
    features, order = rng.normal(size=(40, 4)), rng.permutation(40)
    before = build(features, n_neighbors=5, **options).toarray()
    after = build(features[order], n_neighbors=5, **options).toarray()
    np.testing.assert_allclose(after, before[order][:, order], rtol=1e-12)
