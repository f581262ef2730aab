"""The approximate search: the exact one's rules, a measured recall, and honest warnings.

Most tests of pynndescent put the exact neighbors, or worse ones, in the place of what it finds,
because it takes a minute to compile; those marked slow run it. Those of faiss run it.
"""

import warnings

import numpy as np
import pytest
import torch
from scipy import sparse

from manyview.graphs import approximate
from manyview.graphs.approximate import approximate_neighbors, recall_of
from manyview.graphs.inverted_file import has_faiss
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
def without_faiss(monkeypatch):
    monkeypatch.setattr(approximate, "has_faiss", lambda: False)


@pytest.fixture
def perfect_library(monkeypatch, without_faiss):
    monkeypatch.setattr(approximate, "_candidates", nearest_points)


needs_faiss = pytest.mark.skipif(not has_faiss(), reason="faiss is not installed")


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


def test_recall_equals_a_literal_count(rng, monkeypatch, without_faiss):
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


def test_a_low_recall_is_tried_again_with_more_effort_and_then_gives_a_warning(
    rng, monkeypatch, without_faiss
):
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
def test_a_later_attempt_may_reach_the_recall(rng, monkeypatch, without_faiss, enough):
    def better_later(points, n_searched, metric, seed):
        if n_searched < enough:
            return np.tile(np.arange(n_searched), (points.shape[0], 1))
        return nearest_points(points, n_searched, metric, seed)

    monkeypatch.setattr(approximate, "_candidates", better_later)
    found = approximate_neighbors(rng.normal(size=(1000, 5)), n_neighbors=20)
    assert found.recall == 1.0


@pytest.mark.parametrize(("n_missed", "requested"), [(1, [25]), (2, [25, 40])])
def test_the_cheapest_attempt_is_accepted_only_with_a_higher_recall(
    rng, monkeypatch, without_faiss, n_missed, requested
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
def test_pynndescent_finds_most_and_the_same_with_the_same_seed(
    rng, without_faiss, metric, as_view
):
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
def test_the_number_of_threads_is_left_as_it_was(rng, without_faiss):
    pytest.importorskip("pynndescent")
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        approximate_neighbors(rng.normal(size=(300, 6)), n_neighbors=5)
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(before)


@needs_faiss
@pytest.mark.parametrize("metric", METRICS)
def test_faiss_finds_most_and_the_same_with_the_same_seed(rng, metric):
    features = rng.normal(size=(3000, 12)).astype(np.float32)
    found = [
        find_neighbors(features, n_neighbors=8, metric=metric, search="approximate", seed=seed)
        for seed in (4, 4, 5)
    ]
    np.testing.assert_array_equal(found[0].indices, found[1].indices)
    assert (found[0].indices != found[2].indices).any()  # k-means started elsewhere
    assert 0.9 <= found[0].recall < 1  # not all clusters were searched
    exact = nearest_neighbors(features, n_neighbors=8, metric=metric)
    everywhere = recall_of(found[0].distances, exact.distances * (1 + 1e-6))
    assert found[0].recall == pytest.approx(everywhere, abs=0.02)  # 500 samples tell all
    is_same = found[0].indices == exact.indices
    np.testing.assert_allclose(found[0].distances[is_same], exact.distances[is_same], rtol=1e-5)


@needs_faiss
def test_where_bytes_are_too_coarse_the_values_themselves_are_stored(rng, monkeypatch):
    """One column with a huge value leaves a single byte value for all others."""
    kinds = []

    class Watched(approximate.InvertedFile):
        def __init__(self, points, kind, **settings):
            kinds.append(kind)
            super().__init__(points, kind, **settings)

    monkeypatch.setattr(approximate, "InvertedFile", Watched)
    features = rng.normal(size=(2000, 4))
    assert approximate_neighbors(features, n_neighbors=6, metric="euclidean").recall >= 0.9
    assert kinds == ["SQ8"]
    features[0] = 1e7
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = approximate_neighbors(features, n_neighbors=6, metric="euclidean")
    assert kinds == ["SQ8", "SQ8", "Flat"]
    assert found.recall >= 0.9


@needs_faiss
@pytest.mark.parametrize("metric", METRICS)
def test_equal_rows_are_linked_to_each_other_and_none_is_a_hub(rng, metric, monkeypatch):
    distinct = rng.normal(size=(200, 5))
    rows = np.r_[np.arange(200), np.zeros(1500, dtype=int), np.ones(3, dtype=int)]
    features = distinct[rng.permutation(rows)]
    for most in (100, 30_000):  # distinct rows searched approximately, and exactly
        monkeypatch.setattr(approximate, "EXACT_UP_TO", most)
        found = approximate_neighbors(features, n_neighbors=6, metric=metric, seed=1)
        exact = nearest_neighbors(features, n_neighbors=6, metric=metric)
        is_huge = (features == distinct[0]).all(axis=1)
        assert is_huge[found.indices[is_huge]].all()
        assert (found.distances[is_huge] == 0).all()
        assert recall_of(found.distances, exact.distances * (1 + 1e-6) + 1e-7) > 0.89
        assert (found.indices != np.arange(len(features))[:, None]).all()
        assert all(len({*row}) == 6 for row in found.indices)
        within = np.bincount(found.indices[is_huge].ravel(), minlength=len(features))
        assert within.max() == 6  # as often as each has neighbors


def test_samples_of_zeros_have_no_neighbors_among_equal_rows(rng):
    features = np.repeat(rng.normal(size=(100, 4)), 5, axis=0)
    features[10:20] = 0
    found = approximate_neighbors(features, n_neighbors=4)
    assert (found.indices[10:20] == -1).all()
    assert not np.isin(found.indices, np.arange(10, 20)).any()
    assert (np.delete(found.indices, np.arange(10, 20), axis=0) // 5).tolist() == [
        [row // 5] * 4 for row in range(500) if not 10 <= row < 20
    ]
