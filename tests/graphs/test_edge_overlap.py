"""Edge overlap equals counts edge by edge, whatever the numbering of samples."""

import numpy as np
import pytest
from scipy import sparse

from manyview.graphs.edge_overlap import edge_overlap, overlap_weights
from manyview.graphs.knn_graph import knn_graph


def random_graph(rng, n_samples=14, density=0.3):
    upper = np.triu(rng.random((n_samples, n_samples)) < density, 1).astype(float)
    return sparse.csr_array(upper + upper.T)


@pytest.fixture
def graphs(rng):
    return [random_graph(rng) for _ in range(3)]


def literal_weights(graphs):
    n_samples = graphs[0].shape[0]
    dense = [graph.toarray() for graph in graphs]
    found = []
    for number, graph in enumerate(dense):
        excess = []
        for place, other in enumerate(dense):
            if place == number:
                continue
            pairs = [(i, j) for i in range(n_samples) for j in range(i)]
            edges = [pair for pair in pairs if graph[pair] > 0]
            n_shared = sum(other[pair] > 0 for pair in edges)
            chance = sum(other[pair] > 0 for pair in pairs) / len(pairs)
            excess.append((n_shared / len(edges) - chance) / (1 - chance))
        found.append(max(sum(excess) / len(excess), 0.0))
    found = np.maximum(found, 1e-3 * max(found))
    return found / found.sum()


def test_edges_in_other_graphs_are_counted_one_by_one(graphs):
    one, *others = graphs
    edges = list(zip(*one.nonzero(), strict=True))
    counts = [sum(other[edge] > 0 for edge in edges) for other in others]
    expected = sum(counts) / len(counts) / len(edges)
    assert edge_overlap(one, others) == pytest.approx(expected)


def test_overlap_weights_equal_a_literal_loop(graphs):
    agreeing = [graphs[0], graphs[0].maximum(graphs[1]), graphs[2]]
    np.testing.assert_allclose(overlap_weights(agreeing), literal_weights(agreeing), rtol=1e-12)


def test_overlap_weights_do_not_see_weights_loops_and_numbering(graphs, rng):
    expected = overlap_weights(graphs)
    order = rng.permutation(14)
    changed = [sparse.csr_array(2.5 * graph + sparse.eye_array(14)) for graph in graphs]
    renumbered = [graph[order][:, order] for graph in changed]
    np.testing.assert_allclose(overlap_weights(renumbered), expected)


def test_a_graph_of_noise_has_a_small_weight(rng):
    classes = np.repeat(np.arange(3), 30)
    good = [3 * rng.normal(size=(3, 6))[classes] + rng.normal(size=(90, 6)) for _ in range(2)]
    noise = rng.normal(size=(90, 6))
    weights = overlap_weights([knn_graph(view, n_neighbors=8) for view in (*good, noise)])
    assert weights[2] < 0.15 < weights[0]
    assert weights.sum() == pytest.approx(1.0)


def test_weights_of_limit_cases_sum_to_one():
    empty = sparse.csr_array((5, 5))
    full = sparse.csr_array(np.ones((5, 5)))
    np.testing.assert_allclose(overlap_weights([empty]), [1.0])
    np.testing.assert_allclose(overlap_weights([empty, empty]), [0.5, 0.5])
    np.testing.assert_allclose(overlap_weights([full, full]), [0.5, 0.5])
    assert edge_overlap(empty, [full]) == 0.0
    assert edge_overlap(full, []) == 0.0
