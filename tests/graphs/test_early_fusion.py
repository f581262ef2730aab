"""The early-fusion graph: neighbors by the weighted sum of the views' similarities."""

import numpy as np
import pytest
from scipy import sparse

from manyview.data.network_input import fit_input
from manyview.graphs import early_fusion
from manyview.graphs.early_fusion import early_fusion_features, early_fusion_graph


@pytest.fixture
def features(rng):
    return [rng.normal(size=(20, width)).astype(np.float32) + 1 for width in (4, 7)]


def graph_of(features, weights=(0.5, 0.5), present=None, n_neighbors=3):
    return early_fusion_graph(
        features,
        fit_input(features, present),
        present,
        np.array(weights),
        n_neighbors=n_neighbors,
        metric="cosine",
    ).toarray()


def literal_graph(features, weights, n_neighbors=3):
    """Rank the others of each sample by the cosine of all weighted views, concatenated."""
    blocks = []
    for view, weight in zip(features, weights, strict=True):
        centered = view.astype(np.float64) - view.mean(axis=0, dtype=np.float64)
        length = np.sqrt((centered**2).sum(axis=1).mean())
        blocks.append(centered / length * np.sqrt(weight))
    rows = np.hstack(blocks)
    graph = np.zeros((len(rows), len(rows)))
    for one in range(len(rows)):
        cosines = [
            rows[one] @ other / np.linalg.norm(rows[one]) / np.linalg.norm(other) for other in rows
        ]
        cosines[one] = -np.inf
        graph[one, np.argsort(cosines)[-n_neighbors:]] = 1
    return np.maximum(graph, graph.T)


@pytest.mark.parametrize("weights", [(0.5, 0.5), (0.9, 0.1), (0.2, 0.8)])
def test_early_fusion_graph_equals_a_literal_loop(features, weights):
    np.testing.assert_array_equal(graph_of(features, weights), literal_graph(features, weights))


def test_a_view_of_negligible_weight_does_not_matter(features, rng):
    other = [features[0], rng.normal(size=(20, 7)).astype(np.float32)]
    weights = (1.0, 1e-12)
    np.testing.assert_array_equal(graph_of(features, weights), graph_of(other, weights))


def test_renumbering_the_samples_renumbers_the_graph(features, rng):
    order = rng.permutation(20)
    expected = graph_of(features)[order][:, order]
    np.testing.assert_array_equal(graph_of([view[order] for view in features]), expected)


def test_sparse_views_are_centered_up_to_a_size(features, monkeypatch):
    thin = [view * (np.abs(view) > 0.5) for view in features]
    as_sparse = [sparse.csr_array(view) for view in thin]
    np.testing.assert_array_equal(graph_of(as_sparse), graph_of(thin))
    monkeypatch.setattr(early_fusion, "MAX_CENTERED", 10)
    assert sparse.issparse(early_fusion_features(as_sparse, fit_input(as_sparse), None))


def test_samples_that_lack_a_view_are_linked_through_the_others(features):
    present = np.ones((20, 2), dtype=bool)
    present[:4, 1] = False
    present[4, :] = False
    shown = [np.where(own[:, None], view, 0) for view, own in zip(features, present.T, strict=True)]
    graph = graph_of(shown, present=present)
    assert (graph[:4].sum(axis=1) >= 3).all()
    assert graph[4].sum() == 0
