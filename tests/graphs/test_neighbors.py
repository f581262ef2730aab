"""Nearest neighbors and distances, against exact fractions and literal loops."""

from fractions import Fraction

import hypothesis
import hypothesis.extra.numpy
import numpy as np
import pytest
from exact_neighbors import exact_neighbors
from hypothesis import strategies
from scipy import sparse

from manyview.graphs import neighbors
from manyview.graphs.knn_graph import knn_graph
from manyview.graphs.neighbors import (
    distances_on_pairs,
    mean_distance,
    nearest_neighbors,
)

METRICS = ("cosine", "euclidean")


def square_length(row):
    return sum(Fraction(value) ** 2 for value in row)


# Small whole numbers: many ties, duplicates, right angles and rows of zeros.
tied_features = hypothesis.extra.numpy.arrays(
    np.int64,
    strategies.tuples(strategies.integers(1, 12), strategies.integers(1, 4)),
    elements=strategies.integers(-2, 2),
)


@pytest.mark.parametrize("as_view", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("metric", METRICS)
@hypothesis.given(features=tied_features, n_neighbors=strategies.integers(1, 5))
def test_neighbors_equal_exact_fractions_with_ties_by_row_number(
    features, n_neighbors, metric, as_view
):
    found = nearest_neighbors(as_view(features), n_neighbors=n_neighbors, metric=metric)
    expected = exact_neighbors(features.tolist(), features.tolist(), n_neighbors, metric, True)
    np.testing.assert_array_equal(found.indices, expected)
    assert np.isinf(found.distances[expected == -1]).all()


@pytest.mark.parametrize("metric", METRICS)
def test_distances_equal_a_literal_loop(rng, metric):
    features = rng.normal(size=(15, 4))
    found = nearest_neighbors(features, n_neighbors=6, metric=metric)
    for i in range(15):
        for rank, j in enumerate(found.indices[i]):
            if metric == "cosine":
                lengths = np.linalg.norm(features[i]) * np.linalg.norm(features[j])
                expected = 1 - features[i] @ features[j] / lengths
            else:
                expected = ((features[i] - features[j]) ** 2).sum()
            assert found.distances[i, rank] == pytest.approx(expected, rel=1e-6)
    assert (np.diff(found.distances, axis=1) >= 0).all()


@pytest.mark.parametrize("metric", METRICS)
def test_neighbors_of_queries_among_points_equal_exact_fractions(rng, metric):
    queries, points = rng.normal(size=(7, 3)), rng.normal(size=(20, 3))
    queries[2] = points[5]  # nothing is left out when queries are not the points
    found = nearest_neighbors(queries, points, n_neighbors=4, metric=metric)
    expected = exact_neighbors(queries.tolist(), points.tolist(), 4, metric, False)
    np.testing.assert_array_equal(found.indices, expected)
    assert found.indices[2, 0] == 5


@pytest.mark.parametrize("as_view", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("block_bytes", [1, 8 * 50 * 7])
def test_neighbors_do_not_depend_on_the_block_size(rng, monkeypatch, metric, as_view, block_bytes):
    features = as_view(rng.integers(-3, 4, size=(50, 3)))
    whole = nearest_neighbors(features, n_neighbors=5, metric=metric)
    monkeypatch.setattr(neighbors, "BLOCK_BYTES", block_bytes)
    blocked = nearest_neighbors(features, n_neighbors=5, metric=metric)
    np.testing.assert_array_equal(blocked.indices, whole.indices)
    np.testing.assert_array_equal(blocked.distances, whole.distances)


@pytest.mark.parametrize("metric", METRICS)
def test_sparse_and_dense_views_have_the_same_neighbors(rng, metric):
    features = np.where(rng.random((60, 200)) < 0.05, rng.random((60, 200)), 0.0)
    dense = nearest_neighbors(features, n_neighbors=8, metric=metric)
    stored_sparse = nearest_neighbors(sparse.csr_array(features), n_neighbors=8, metric=metric)
    np.testing.assert_array_equal(stored_sparse.indices, dense.indices)


@pytest.mark.parametrize("as_view", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize(("metric", "scale"), [("cosine", 3.7), ("euclidean", 1.0)])
def test_duplicates_tie_exactly_and_come_in_row_order(rng, metric, scale, as_view):
    originals = rng.normal(size=(6, 101))
    features = np.concatenate([originals, scale * originals, originals / scale])
    found = nearest_neighbors(as_view(features), n_neighbors=2, metric=metric)
    expected = [[j for j in (i % 6, i % 6 + 6, i % 6 + 12) if j != i] for i in range(18)]
    np.testing.assert_array_equal(found.indices, expected)
    np.testing.assert_array_equal(found.distances, 0)


def test_rows_of_zeros_have_no_neighbors_and_are_no_neighbors_under_cosine(rng):
    features = rng.normal(size=(8, 3))
    features[[2, 5]] = 0
    found = nearest_neighbors(features, n_neighbors=7)
    assert (found.indices[[2, 5]] == -1).all()
    assert not np.isin(found.indices, [2, 5]).any()
    graph = knn_graph(features, n_neighbors=7)
    assert graph[[2, 5]].nnz == 0


def test_points_at_a_right_angle_are_no_neighbors_under_cosine():
    features = np.array([[1.0, 1.0, 0.1], [1.0, -1.0, 0.0], [0.0, 0.0, 5.0]])
    found = nearest_neighbors(features, n_neighbors=2)
    np.testing.assert_array_equal(found.indices, [[2, -1], [-1, -1], [0, -1]])


def test_fewer_points_than_neighbors_leave_missing_neighbors(rng):
    found = nearest_neighbors(rng.random((2, 3)), rng.random((3, 3)), n_neighbors=5)
    assert (found.indices[:, :3] >= 0).all()
    assert (found.indices[:, 3:] == -1).all()


def test_single_sample_has_no_neighbors():
    assert nearest_neighbors(np.ones((1, 2)), n_neighbors=3).indices.tolist() == [[-1, -1, -1]]


def test_euclidean_neighbors_stay_exact_far_from_the_origin(rng):
    near = rng.normal(size=(40, 5))
    far = near + 1e6
    found = nearest_neighbors(far, n_neighbors=5, metric="euclidean").indices
    expected = exact_neighbors(far.tolist(), far.tolist(), 5, "euclidean", True)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("as_view", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@hypothesis.given(features=tied_features, seed=strategies.integers(0, 99))
def test_distances_on_pairs_equal_exact_fractions(features, as_view, seed):
    rows, columns = np.random.default_rng(seed).integers(0, len(features), size=(2, 9))
    expected = [
        float(square_length(features[i] - features[j])) for i, j in zip(rows, columns, strict=True)
    ]
    found = distances_on_pairs(as_view(features), rows, columns)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("as_view", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_distances_on_pairs_do_not_cancel_far_from_the_origin(rng, as_view):
    features = 1e6 + rng.normal(size=(10, 5))
    features[3] = features[8]
    rows, columns = np.triu_indices(10, 1)
    found = distances_on_pairs(as_view(features), rows, columns)
    for i, j, distance in zip(rows, columns, found, strict=True):
        exact = float(
            square_length(
                [Fraction(a) - Fraction(b) for a, b in zip(features[i], features[j], strict=True)]
            )
        )
        assert distance == pytest.approx(exact, rel=1e-13, abs=0)


@pytest.mark.parametrize("as_view", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("dtype", [np.float32, np.uint8])
def test_distances_on_pairs_are_taken_in_float64(rng, as_view, dtype):
    features = rng.integers(0, 255, size=(12, 4)).astype(dtype)
    rows, columns = rng.integers(0, 12, size=(2, 30))
    exact = ((features[rows].astype(float) - features[columns].astype(float)) ** 2).sum(axis=1)
    np.testing.assert_array_equal(distances_on_pairs(as_view(features), rows, columns), exact)


@pytest.mark.parametrize("as_view", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("block_bytes", [1, 8 * 4 * 7])
def test_distances_do_not_depend_on_the_block_size(rng, monkeypatch, as_view, block_bytes):
    features = as_view(rng.normal(size=(20, 4)))
    rows, columns = rng.integers(0, 20, size=(2, 50))
    whole, mean = distances_on_pairs(features, rows, columns), mean_distance(features)
    monkeypatch.setattr(neighbors, "BLOCK_BYTES", block_bytes)
    np.testing.assert_allclose(distances_on_pairs(features, rows, columns), whole, rtol=1e-15)
    assert mean_distance(features) == pytest.approx(mean, rel=1e-14)


@pytest.mark.parametrize("as_view", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_no_pairs_have_no_distances(as_view):
    none = np.array([], dtype=np.int64)
    assert distances_on_pairs(as_view(np.zeros((3, 2))), none, none).shape == (0,)


@pytest.mark.parametrize("as_view", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_mean_distance_equals_a_literal_loop_over_all_pairs(rng, as_view, offset):
    features = offset + rng.normal(size=(15, 4))
    expected = sum(np.sqrt(((a - b) ** 2).sum()) for a in features for b in features) / 15**2
    assert mean_distance(as_view(features)) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("as_view", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_mean_distance_of_equal_samples_is_exactly_zero(as_view):
    assert mean_distance(as_view(np.full((7, 3), 0.1))) == 0
