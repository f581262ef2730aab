"""Equal rows: grouped, and neighbors spread over them."""

import numpy as np
import pytest

from manyview.graphs import equal_rows
from manyview.graphs.equal_rows import EqualRows
from manyview.graphs.knn_graph import find_neighbors
from manyview.graphs.neighbors import NO_NEIGHBOR, Neighbors, nearest_neighbors


def literal_groups(points):
    first = {}
    return [first.setdefault(tuple(row), len(first)) for row in (points + 0.0).tolist()]


@pytest.mark.parametrize("keys_collide", [False, True])
def test_groups_equal_a_literal_count(rng, monkeypatch, keys_collide):
    if keys_collide:
        monkeypatch.setattr(equal_rows, "_row_keys", lambda points: np.zeros(len(points), int))
    points = rng.integers(-1, 2, size=(60, 3)).astype(np.float32)
    points[points == 0] *= -1  # -0.0 equals 0.0
    points[::2] += 0.0
    rows = EqualRows.of(points)
    assert rows.group.tolist() == literal_groups(points)
    assert rows.sizes.tolist() == np.bincount(rows.group).tolist()
    for number, row in enumerate(rows.first):
        members = rows.members[rows.starts[number] : rows.starts[number + 1]]
        assert members.tolist() == np.flatnonzero(rows.group == number).tolist()
        assert row == members[0]
        assert rows.place[members].tolist() == list(range(len(members)))
    assert not rows.are_distinct
    assert EqualRows.of(points[rows.first]).are_distinct


def test_rows_that_differ_in_the_last_bit_are_distinct():
    points = np.ones((3, 2), dtype=np.float32)
    points[1, 1] = np.nextafter(np.float32(1), np.float32(2))
    assert EqualRows.of(points).group.tolist() == [0, 1, 0]


@pytest.mark.parametrize("n_neighbors", [1, 3, 7, 12])
def test_spread_neighbors_are_no_farther_than_the_exact_ones(rng, n_neighbors):
    points = rng.integers(0, 4, size=(80, 2)).astype(np.float64)
    rows = EqualRows.of(points)
    among = nearest_neighbors(points[rows.first], n_neighbors=n_neighbors, metric="euclidean")
    found = rows.spread(among, n_neighbors, seed=3)
    exact = nearest_neighbors(points, n_neighbors=n_neighbors, metric="euclidean")
    np.testing.assert_array_equal(found.distances, exact.distances)
    for row, (indices, distances) in enumerate(zip(found.indices, found.distances, strict=True)):
        assert row not in indices
        assert len({*indices}) == n_neighbors
        np.testing.assert_array_equal(((points[indices] - points[row]) ** 2).sum(1), distances)


def test_where_there_are_too_few_rows_the_rest_is_empty():
    rows = EqualRows.of(np.array([[1.0], [2.0], [1.0]]))
    among = Neighbors(np.array([[1, NO_NEIGHBOR], [0, NO_NEIGHBOR]]), np.array([[1, np.inf]] * 2))
    found = rows.spread(among, 4, seed=0)
    assert [sorted(row) for row in found.indices.tolist()] == [
        [-1, -1, 1, 2], [-1, -1, 0, 2], [-1, -1, 0, 1]
    ]  # fmt: skip
    assert np.isinf(found.distances[:, 2:]).all()


def test_few_steps_lead_through_a_large_group():
    """A ring would take hundreds of steps."""
    rows = EqualRows.of(np.ones((2000, 1)))
    among = Neighbors(np.full((1, 1), NO_NEIGHBOR), np.full((1, 1), np.inf))
    found = rows.spread(among, 6, seed=0)
    reached, n_steps = {0}, 0
    while len(reached) < 2000:
        reached |= {int(one) for row in reached for one in found.indices[row]}
        n_steps += 1
    assert n_steps < 40
    again = rows.spread(among, 6, seed=0)
    np.testing.assert_array_equal(found.indices, again.indices)
    assert (found.indices != rows.spread(among, 6, seed=1).indices).any()


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
@pytest.mark.parametrize("n_neighbors", [1, 4, 9, 30])
@pytest.mark.parametrize("block", [1, 2**22])
def test_exactly_spread_neighbors_are_those_of_the_whole_search(
    rng, monkeypatch, metric, n_neighbors, block
):
    """Whole numbers, so that groups tie, too; rows of zeros; more neighbors than distinct rows."""
    monkeypatch.setattr(equal_rows, "BLOCK_CANDIDATES", block)
    features = rng.integers(-1, 2, size=(150, 3)).astype(np.float64)
    whole = nearest_neighbors(features, n_neighbors=n_neighbors, metric=metric)
    found = find_neighbors(features, n_neighbors=n_neighbors, metric=metric, search="exact")
    np.testing.assert_array_equal(found.indices, whole.indices)
    np.testing.assert_array_equal(found.distances, whole.distances)
    assert found.indices.dtype == whole.indices.dtype


def test_distinct_rows_are_searched_only_where_most_repeat(rng, monkeypatch):
    searched = []

    def watched(features, **settings):
        searched.append(len(features))
        return nearest_neighbors(features, **settings)

    monkeypatch.setattr("manyview.graphs.knn_graph.nearest_neighbors", watched)
    distinct = rng.normal(size=(40, 3))
    for features in (distinct, np.repeat(distinct, 3, axis=0)):
        find_neighbors(features, n_neighbors=2, metric="euclidean")
    assert searched == [40, 40]
