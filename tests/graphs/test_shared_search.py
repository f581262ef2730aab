"""Searches that several processes share: the neighbors of one process, bit for bit, in all.

Blocks are small in these tests, so that few samples are divided, and every second process has two
threads.
"""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from manyview.graphs.inverted_file import has_faiss

needs_faiss = pytest.mark.skipif(not has_faiss(), reason="faiss is not installed")
SETTINGS = {"n_neighbors": 5, "metric": "cosine", "search": "exact", "seed": 3}


def search(ranks, size, features, folder=None, *, patched=None, **changed):
    return ranks.run(
        "search", size, features, {**SETTINGS, **changed}, patched or {}, folder and str(folder)
    )


def assert_same(ranks, features, sizes=(2, 3), **changed):
    (alone,) = search(ranks, 1, features, **changed)
    for size in sizes:
        for found in search(ranks, size, features, **changed):
            assert np.array_equal(found.indices, alone.indices)
            assert found.indices.dtype == alone.indices.dtype
            assert np.array_equal(found.distances, alone.distances)
            assert found.recall == alone.recall
    return alone


def draw_features(seed, n_samples, n_columns, repeats):
    """Rows of zeros, ties and, for `repeats`, few distinct rows."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n_samples, n_columns)).astype(np.float32)
    if repeats:
        features = features[rng.integers(max(1, n_samples // 3), size=n_samples)]
    features[rng.integers(n_samples, size=2)] = 0
    return features


@given(
    seed=st.integers(0, 99),
    n_samples=st.integers(7, 400),
    n_columns=st.integers(1, 9),
    repeats=st.booleans(),
    metric=st.sampled_from(["cosine", "euclidean"]),
)
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_exact_search_equals_that_of_one_process(
    ranks, seed, n_samples, n_columns, repeats, metric
):
    assert_same(ranks, draw_features(seed, n_samples, n_columns, repeats), metric=metric)


@pytest.mark.parametrize("metric", ["cosine", "euclidean"])
def test_exact_search_in_several_parts_of_the_points_equals_that_of_one_process(ranks, metric):
    features = draw_features(0, 300, 6, repeats=False)
    assert_same(ranks, features, metric=metric, patched={"point_bytes": 8 * 6 * 130})


def test_exact_search_of_sparse_views_equals_that_of_one_process(ranks, rng):
    features = sparse.csr_array(sparse.random_array((200, 30), density=0.1, rng=rng))
    assert_same(ranks, features)


@needs_faiss
@given(
    seed=st.integers(0, 99),
    n_samples=st.integers(300, 1500),
    repeats=st.booleans(),
    metric=st.sampled_from(["cosine", "euclidean"]),
)
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_approximate_search_equals_that_of_one_process(ranks, seed, n_samples, repeats, metric):
    features = draw_features(seed, n_samples, 16, repeats)
    assert_same(ranks, features, search="approximate", metric=metric, seed=seed)


@needs_faiss
def test_recall_and_number_of_clusters_are_the_same_in_all_processes(ranks):
    features = draw_features(1, 6000, 24, repeats=False)
    alone = assert_same(ranks, features, sizes=(2,), search="approximate")
    assert 0.9 <= alone.recall < 1


@pytest.mark.parametrize("as_view", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_what_faiss_cannot_search_is_searched_by_the_first_process(ranks, as_view):
    features = as_view(draw_features(2, 300, 5, repeats=False))
    assert_same(ranks, features, search="approximate", patched={"has_faiss": False})


def test_first_process_reads_and_writes_the_cache_for_all(ranks, tmp_path):
    features = draw_features(3, 200, 4, repeats=False)
    searched = search(ranks, 3, features, tmp_path)
    (file,) = tmp_path.rglob("*.npz")
    assert file.parent == Path(tmp_path / "0")
    with np.load(file) as arrays:
        changed = {**arrays, "distances": arrays["distances"] + 1}
    np.savez(file, **changed)
    for before, read in zip(searched, search(ranks, 3, features, tmp_path), strict=True):
        assert np.array_equal(read.indices, before.indices)
        assert np.array_equal(read.distances, before.distances + 1)


@pytest.mark.parametrize("kind", ["exact", pytest.param("approximate", marks=needs_faiss)], ids=str)
def test_graphs_of_views_with_absent_samples_and_duplicates_are_those_of_one_process(
    ranks, rng, kind
):
    views = {
        "one": rng.normal(size=(400, 6)),
        "other": rng.normal(size=(400, 9)) * 10.0 ** rng.integers(-2, 3, size=9),
        "counts": rng.integers(3, size=(400, 3)).astype(np.float64),
    }
    views["other"][30:90] = np.nan
    views["one"][200:220] = views["one"][200]
    (alone,) = ranks.run("prepare", 1, views, kind)
    assert len(alone["graphs"]) == 4
    for size in (2, 3):
        for shared in ranks.run("prepare", size, views, kind):
            assert shared["recalls"] == alone["recalls"]
            assert shared["scalings"] == alone["scalings"]
            for one, other in zip(shared["graphs"], alone["graphs"], strict=True):
                assert np.array_equal(one.indptr, other.indptr)
                assert np.array_equal(one.indices, other.indices)
                assert np.array_equal(one.data, other.data)
