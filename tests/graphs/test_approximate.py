"""The approximate search: the exact one's rules, a measured recall, and honest warnings.

Most tests put the exact neighbors, or worse ones, in the place of the library's prediction, which
takes a minute to compile; those marked slow run the library.
"""

import numpy as np
import pytest
import torch
from scipy import sparse

from manyview.graphs import approximate
from manyview.graphs.approximate import approximate_neighbors, recall_of
from manyview.graphs.knn_graph import find_neighbors
from manyview.graphs.neighbors import nearest_neighbors

METRICS = ("cosine", "euclidean")
both_kinds = pytest.mark.parametrize(
    "as_view", [np.asarray, sparse.csr_array], ids=["dense", "sparse"]
)


def nearest_points(points, n_searched, metric, seed):
    """All that the library could find at best: the point itself, then its nearest."""
    others = nearest_neighbors(points, n_neighbors=n_searched - 1, metric=metric).indices
    return np.column_stack([np.arange(points.shape[0]), others])


@pytest.fixture
def perfect_library(monkeypatch):
    monkeypatch.setattr(approximate, "_candidates", nearest_points)


def awkward_features(rng, n_samples=400):
    """Rows of zeros, duplicates, and whole numbers, so that right angles and ties abound."""
    features = rng.integers(-2, 3, size=(n_samples, 6)).astype(np.float64)
    features[[3, 50, 51]] = 0
    features[100:104] = features[100]
    return features


@both_kinds
@pytest.mark.parametrize("metric", METRICS)
def test_rules_are_those_of_the_exact_search(rng, perfect_library, metric, as_view):
    features = as_view(awkward_features(rng))
    found = approximate_neighbors(features, n_neighbors=5, metric=metric)
    exact = nearest_neighbors(features, n_neighbors=5, metric=metric)
    assert found.recall == 1.0
    np.testing.assert_allclose(found.distances, exact.distances, rtol=1e-6, atol=1e-7)
    assert (found.indices != np.arange(400)[:, None]).all()
    if metric == "cosine":
        assert (found.indices[[3, 50, 51]] == -1).all()
        assert not np.isin(found.indices, [3, 50, 51]).any()


@both_kinds
@pytest.mark.parametrize("metric", METRICS)
def test_without_ties_the_same_samples_are_found(rng, perfect_library, metric, as_view):
    features = as_view(rng.normal(size=(300, 5)))
    found = approximate_neighbors(features, n_neighbors=4, metric=metric)
    exact = nearest_neighbors(features, n_neighbors=4, metric=metric)
    np.testing.assert_array_equal(found.indices, exact.indices)


def test_recall_equals_a_literal_count(rng, monkeypatch):
    """The library misses the nearest of every second sample."""
    features = rng.normal(size=(400, 5))

    def missing_some(points, n_searched, metric, seed):
        candidates = nearest_points(points, n_searched, metric, seed)
        candidates[::2, 1] = -1
        return candidates

    monkeypatch.setattr(approximate, "_candidates", missing_some)
    monkeypatch.setattr(approximate, "MIN_RECALL", 0.0)
    found = approximate_neighbors(features, n_neighbors=5)
    exact = nearest_neighbors(features, n_neighbors=5)
    shared = [len({*a} & {*b}) for a, b in zip(found.indices, exact.indices, strict=True)]
    assert found.recall == pytest.approx(sum(shared) / (5 * 400))
    assert found.recall == pytest.approx(0.9)


def test_recall_counts_equally_near_samples_and_no_missing_ones():
    reach = np.array([[0.0, 0.0, 1.0], [1.0, np.inf, np.inf]])
    assert recall_of(np.array([[0.0, 1.0, 1.0], [1.0, np.inf, np.inf]]), reach) == 1.0
    assert recall_of(np.array([[0.0, 1.0, 2.0], [np.inf] * 3]), reach) == 0.5
    assert recall_of(np.full((2, 3), np.inf), np.full((2, 3), np.inf)) == 1.0


def test_a_low_recall_is_tried_again_with_more_effort_and_then_gives_a_warning(rng, monkeypatch):
    requested = []

    def poor(points, n_searched, metric, seed):
        requested.append(n_searched)
        return np.tile(np.arange(n_searched), (points.shape[0], 1))

    monkeypatch.setattr(approximate, "_candidates", poor)
    with pytest.warns(UserWarning, match=r"found \d+% of the nearest neighbors, less than 90%"):
        found = approximate_neighbors(rng.normal(size=(1000, 5)), n_neighbors=20)
    assert requested == [25, 40, 80]
    assert found.recall < 0.2


@pytest.mark.parametrize("enough", [40, 80])
def test_a_later_attempt_may_reach_the_recall(rng, monkeypatch, enough):
    def better_later(points, n_searched, metric, seed):
        if n_searched < enough:
            return np.tile(np.arange(n_searched), (points.shape[0], 1))
        return nearest_points(points, n_searched, metric, seed)

    monkeypatch.setattr(approximate, "_candidates", better_later)
    found = approximate_neighbors(rng.normal(size=(1000, 5)), n_neighbors=20)
    assert found.recall == 1.0


@pytest.mark.parametrize(("n_missed", "requested"), [(1, [25]), (2, [25, 40])])
def test_the_cheapest_attempt_is_accepted_only_with_a_higher_recall(
    rng, monkeypatch, n_missed, requested
):
    """Of 20 neighbors, one missed is a recall of 0.95, and two are 0.9."""
    asked = []

    def missing(points, n_searched, metric, seed):
        asked.append(n_searched)
        candidates = nearest_points(points, n_searched, metric, seed)
        candidates[:, 1 : 1 + n_missed] = -1
        return candidates

    monkeypatch.setattr(approximate, "_candidates", missing)
    approximate_neighbors(rng.normal(size=(1000, 5)), n_neighbors=20)
    assert asked == requested


def test_few_samples_are_searched_exactly(rng):
    features = rng.normal(size=(30, 4))
    found = approximate_neighbors(features, n_neighbors=5)
    np.testing.assert_array_equal(found.indices, nearest_neighbors(features, n_neighbors=5).indices)


@pytest.mark.slow
@both_kinds
@pytest.mark.parametrize("metric", METRICS)
def test_the_library_finds_most_and_the_same_with_the_same_seed(rng, metric, as_view):
    pytest.importorskip("pynndescent")
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    features = as_view(awkward_features(rng, 2000) + (metric == "euclidean"))
    one, two = (
        find_neighbors(features, n_neighbors=8, metric=metric, search="approximate", seed=4)
        for _ in range(2)
    )
    np.testing.assert_array_equal(one.indices, two.indices)
    assert one.recall > 0.9
    exact = nearest_neighbors(features, n_neighbors=8, metric=metric)
    assert recall_of(one.distances, exact.distances * (1 + 1e-6) + 1e-7) > 0.9
    np.testing.assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002


@pytest.mark.slow
def test_the_number_of_threads_is_left_as_it_was(rng):
    pytest.importorskip("pynndescent")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        approximate_neighbors(rng.normal(size=(300, 6)), n_neighbors=5)
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)
