"""The bounded search finds what ranking all distances finds, to the last bit."""

import hypothesis
import hypothesis.extra.numpy
import numpy as np
import pytest
from hypothesis import strategies
from ranked_neighbors import ranked_neighbors
from scipy import sparse

from manyview.graphs import nearest_columns
from manyview.graphs.nearest_columns import CosineProducts, EuclideanProducts
from manyview.graphs.neighbors import nearest_neighbors

METRICS = ("cosine", "euclidean")
both_kinds = pytest.mark.parametrize(
    "as_view", [np.asarray, sparse.csr_array], ids=["dense", "sparse"]
)


@pytest.fixture(autouse=True)
def small_groups(monkeypatch):
    """Let few points pass through the bound, in several chunks of rows."""
    monkeypatch.setattr(nearest_columns, "MIN_GROUPS", 2)
    monkeypatch.setattr(nearest_columns, "GROUPS_PER_NEIGHBOR", 2)
    monkeypatch.setattr(nearest_columns, "MIN_GROUP_SIZE", 1)
    monkeypatch.setattr(nearest_columns, "CHUNK_BYTES", 8 * 40 * 7)


def assert_same(features, n_neighbors, metric):
    with np.errstate(over="ignore", invalid="ignore"):
        found = nearest_neighbors(features, n_neighbors=n_neighbors, metric=metric)
    indices, distances = ranked_neighbors(features, features, n_neighbors, metric, True)
    np.testing.assert_array_equal(found.indices, indices)
    np.testing.assert_array_equal(found.distances, distances)


# Duplicates, grids, right angles and rows of zeros among whole numbers; rounding among the others.
whole_numbers = hypothesis.extra.numpy.arrays(
    np.float64,
    strategies.tuples(strategies.integers(8, 24), strategies.integers(1, 4)),
    elements=strategies.integers(-2, 2).map(float),
)
any_numbers = hypothesis.extra.numpy.arrays(
    np.float64,
    strategies.tuples(strategies.integers(8, 24), strategies.integers(1, 4)),
    elements=strategies.floats(-1e3, 1e3) | strategies.floats(-1e-9, 1e-9),
)


@both_kinds
@pytest.mark.parametrize("metric", METRICS)
@hypothesis.given(
    features=whole_numbers | any_numbers,
    n_neighbors=strategies.integers(1, 5),
    scale=strategies.sampled_from([1.0, 0.1, 1e-30, 1e-18, 1e12, 1e25]),
)
@hypothesis.settings(
    suppress_health_check=[hypothesis.HealthCheck.function_scoped_fixture],
    deadline=None,
    max_examples=60,
)
def test_ties_duplicates_zeros_and_any_size_of_values(
    features, n_neighbors, scale, metric, as_view
):
    assert_same(as_view(features * scale), n_neighbors, metric)


@both_kinds
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("n_neighbors", [1, 7, 20])
def test_many_random_points(rng, metric, as_view, n_neighbors):
    features = rng.normal(size=(500, 6))
    features[rng.random((500, 6)) < 0.4] = 0.0
    assert_same(as_view(features), n_neighbors, metric)


@both_kinds
@pytest.mark.parametrize("metric", METRICS)
def test_a_point_of_huge_norm_hides_no_neighbor(rng, metric, as_view):
    features = rng.normal(size=(300, 4))
    features[17] *= 1e9
    features[40:60] = features[40] + 1e-9 * rng.normal(size=(20, 4))
    assert_same(as_view(features), 5, metric)


@pytest.mark.parametrize("metric", METRICS)
def test_equal_rows_are_ranked_by_number(metric):
    assert_same(np.full((200, 3), 0.3), 4, metric)


@both_kinds
def test_values_whose_squares_overflow_have_no_neighbors(rng, as_view):
    features = as_view(1e200 * rng.normal(size=(60, 3)))
    with np.errstate(all="ignore"):
        assert (nearest_neighbors(features, n_neighbors=3, metric="euclidean").indices == -1).all()


@pytest.mark.parametrize("metric", METRICS)
def test_queries_among_other_points(rng, metric):
    queries, points = rng.integers(-3, 4, size=(2, 150, 3)).astype(np.float64)
    found = nearest_neighbors(queries, points, n_neighbors=6, metric=metric)
    indices, distances = ranked_neighbors(queries, points, 6, metric, False)
    np.testing.assert_array_equal(found.indices, indices)
    np.testing.assert_array_equal(found.distances, distances)


@pytest.mark.parametrize("metric", METRICS)
def test_few_distances_are_ranked(rng, monkeypatch, metric):
    """The bound spares nearly all: otherwise the search would be as slow as sorting."""
    monkeypatch.undo()
    ranked = []
    for kind in (CosineProducts, EuclideanProducts):

        def counted(self, rows, columns, of=kind.distances):
            distances = of(self, rows, columns)
            ranked.append(distances.size)
            return distances

        monkeypatch.setattr(kind, "distances", counted)
    nearest_neighbors(rng.normal(size=(3000, 16)), n_neighbors=10, metric=metric)
    assert 10 * 3000 <= sum(ranked) < 14 * 3000
