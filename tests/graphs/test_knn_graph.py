"""The kNN graph of a view equals a literal loop; its search is checked."""

import sys

import numpy as np
import pytest
from exact_neighbors import exact_neighbors

from manyview.errors import InputError
from manyview.graphs import knn_graph as module
from manyview.graphs.knn_graph import check_search, is_approximate, knn_graph

METRICS = ("cosine", "euclidean")


def literal_graph(features, n_neighbors, metric, symmetry):
    chosen = exact_neighbors(features.tolist(), features.tolist(), n_neighbors, metric, True)
    n_samples = len(features)
    graph = np.zeros((n_samples, n_samples))
    for i in range(n_samples):
        for j in range(n_samples):
            picks = [j in chosen[i], i in chosen[j]]
            graph[i, j] = any(picks) if symmetry == "union" else all(picks)
    return graph


@pytest.mark.parametrize("symmetry", ["union", "mutual"])
@pytest.mark.parametrize("metric", METRICS)
def test_graph_equals_a_literal_loop_over_the_choices(rng, metric, symmetry):
    features = rng.integers(-2, 3, size=(25, 3))
    graph = knn_graph(features, n_neighbors=4, metric=metric, symmetry=symmetry)
    expected = literal_graph(features, 4, metric, symmetry)
    np.testing.assert_array_equal(graph.toarray(), expected)
    np.testing.assert_array_equal(expected, expected.T)
    assert graph.has_sorted_indices
    assert (graph.data == 1).all()
    assert (graph.diagonal() == 0).all()


@pytest.mark.parametrize("min_common_neighbors", [1, 2, 4])
def test_pruning_equals_a_literal_loop_over_common_neighbors(rng, min_common_neighbors):
    features = rng.normal(size=(40, 3))
    whole = knn_graph(features, n_neighbors=5).toarray()
    expected = np.zeros_like(whole)
    for i, j in np.argwhere(whole):
        n_common = sum(whole[i, other] and whole[j, other] for other in range(40))
        expected[i, j] = n_common >= min_common_neighbors
    pruned = knn_graph(features, n_neighbors=5, min_common_neighbors=min_common_neighbors)
    np.testing.assert_array_equal(pruned.toarray(), expected)
    assert 0 < pruned.nnz == expected.sum() < whole.sum()


@pytest.mark.parametrize("metric", METRICS)
def test_graph_follows_samples_when_they_are_renumbered(rng, metric):
    features, order = rng.normal(size=(40, 4)), rng.permutation(40)
    before = knn_graph(features, n_neighbors=5, metric=metric).toarray()
    after = knn_graph(features[order], n_neighbors=5, metric=metric).toarray()
    np.testing.assert_array_equal(after, before[order][:, order])


def test_pruning_does_not_depend_on_the_block_size(rng, monkeypatch):
    features = rng.normal(size=(40, 3))
    expected = knn_graph(features, n_neighbors=5, min_common_neighbors=2).toarray()
    monkeypatch.setattr(module, "BLOCK_PATHS", 50)
    pruned = knn_graph(features, n_neighbors=5, min_common_neighbors=2).toarray()
    np.testing.assert_array_equal(pruned, expected)


@pytest.mark.parametrize(
    ("search", "n_samples", "expected"),
    [
        ("auto", 30_000, False),
        ("auto", 30_001, True),
        ("exact", 10**6, False),
        ("approximate", 100, True),
    ],
)
def test_auto_is_exact_up_to_30_000_samples(search, n_samples, expected):
    assert is_approximate(search, n_samples) is expected


def test_an_unknown_search_is_refused():
    with pytest.raises(InputError, match=r"search must be one of .*Did you mean 'exact'"):
        check_search("exakt", 10)


def test_without_the_library_the_refusal_names_both_ways_out(monkeypatch):
    for library in ("pynndescent", "faiss"):
        monkeypatch.setitem(sys.modules, library, None)
    check_search("auto", 30_000)
    with pytest.raises(InputError) as error:
        check_search("auto", 100_000)
    assert "among 100,000 samples needs pynndescent, which is not installed" in str(error.value)
    assert "pip install 'manyview[scale]'" in str(error.value)
    assert "search='exact'" in str(error.value)
