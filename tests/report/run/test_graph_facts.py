from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from manyview.report.run.facts import (
    agreement,
    describe_graph,
    graphs_of,
    supporters,
    view_graphs_of,
)

# 0 and 1 are of one class, 2 and 3 of the other; 3 is linked to nobody; loops do not count.
GRAPH = sparse.csr_array(
    np.array([[9.0, 3, 1, 0], [3, 0, 0, 0], [1, 0, 5, 0], [0, 0, 0, 2]]), dtype=np.float32
)
ANSWERS = np.array([0, 0, 1, 1])
TRUTH = np.array([0, 1, 0, -1])


def test_graph_is_counted_without_loops():
    facts = describe_graph(GRAPH, ANSWERS, TRUTH, TRUTH >= 0)
    assert facts.degrees.tolist() == [2, 1, 1, 0]
    assert facts.n_edges == 2
    assert facts.weight == 4
    assert facts.sparsity == pytest.approx(1 - 2 / 6)
    assert facts.homophily == pytest.approx(3 / 4)
    assert facts.true_homophily == pytest.approx(1 / 4)
    assert facts.n_effective == pytest.approx(np.mean([16 / 10, 1, 1]))


def test_edges_of_weight_zero_do_not_count():
    graph = sparse.csr_array(([0.0, 0.0], ([0, 1], [1, 0])), shape=(2, 2))
    facts = describe_graph(graph, np.zeros(2), np.zeros(2), np.zeros(2, dtype=bool))
    assert (facts.n_edges, facts.weight, facts.n_effective) == (0, 0, 0)
    assert np.isnan(facts.homophily)


def test_agreement_is_the_share_of_weight_to_the_same_prediction():
    np.testing.assert_allclose(agreement(GRAPH, ANSWERS), [0.75, 1, 0, 0])


def test_supporters_are_the_strongest_neighbors_with_their_views():
    only_strong = sparse.csr_array(np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0] * 4, [0] * 4]))
    found = supporters(0, GRAPH, {"all": GRAPH, "strong": only_strong}, n_most=5)
    assert [(one.row, one.share, one.views) for one in found] == [
        (1, 0.75, ("all", "strong")),
        (2, 0.25, ("all",)),
    ]
    assert [one.row for one in supporters(0, GRAPH, {}, n_most=1)] == [1]
    assert supporters(3, GRAPH, {}, n_most=5) == []


def test_graphs_come_in_the_order_they_were_made_and_go_both_ways():
    one_way = sparse.csr_array(np.array([[0.0, 2], [0, 0]]))
    model = SimpleNamespace(learned_graph_=one_way, fused_graph_=one_way, selected_graph_=None)
    graphs = graphs_of(model)
    assert list(graphs) == ["fused", "learned"]
    assert graphs["fused"].toarray().tolist() == [[0, 1], [1, 0]]


def test_view_graphs_are_named_where_there_is_one_a_view():
    model = SimpleNamespace(view_graphs_=[GRAPH, GRAPH])
    assert list(view_graphs_of(model, ["a", "b"])) == ["a", "b"]
    assert view_graphs_of(model, ["a"]) == {}
    assert view_graphs_of(SimpleNamespace(), ["a"]) == {}
