from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from manyview.base.summary import FitSummary
from manyview.data.dataset import Dataset
from manyview.data.views import MultiView
from manyview.report.run.facts import (
    agreement,
    describe_graph,
    describe_samples,
    graphs_of,
    map_places,
    supporters,
    view_graphs_of,
)

LABELS = np.array(["b", "a", "c", "a", None], dtype=object)
SHOWN = np.array(["b", "a", None, None, None], dtype=object)


@pytest.fixture
def facts():
    data = Dataset(
        "five", MultiView({"v": np.zeros((5, 1))}), LABELS, np.array(list("vwxyz")), (), ""
    )
    distributions = np.array([[0.9, 0.1], [0.8, 0.2], [0.4, 0.6], [0.7, 0.3], [0.55, 0.45]])
    classes = np.array(["a", "b"], dtype=object)
    model = SimpleNamespace(
        classes_=classes, label_distributions_=distributions, fit_summary=FitSummary
    )
    return describe_samples(data, SHOWN, model)


def test_classes_of_the_truth_follow_those_the_method_knows(facts):
    assert (facts.names, facts.n_known_classes) == (["a", "b", "c"], 2)
    assert facts.truth.tolist() == [1, 0, 2, 0, -1]
    assert facts.given.tolist() == [1, 0, -1, -1, -1]
    assert facts.predictions.tolist() == [0, 0, 1, 0, 0]
    assert facts.runners_up.tolist() == [1, 1, 0, 1, 1]
    np.testing.assert_allclose(facts.second_probabilities, [0.1, 0.2, 0.4, 0.3, 0.45])
    assert facts.confidence is None


def test_samples_are_scored_where_the_truth_is_known_and_was_not_shown(facts):
    assert facts.is_open.tolist() == [False, False, True, True, True]
    assert facts.is_scored.tolist() == [False, False, True, True, False]
    assert facts.confusion().tolist() == [[1, 0, 0], [0, 0, 0], [0, 1, 0]]


def test_least_certain_are_open_and_contradicted_were_given(facts):
    assert facts.least_certain(2).tolist() == [4, 2]
    assert facts.contradicted(5).tolist() == [0]


def test_map_keeps_the_main_components_and_their_explained_variance():
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(50, 1)) * np.array([1.5, -1.5, 0, 0])
    logits += rng.normal(size=(50, 1)) * np.array([0, 0, 0.5, -0.5])
    distributions = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    places, explained = map_places(distributions)
    assert explained == pytest.approx(1)
    assert places[:, 0].std() > places[:, 1].std()
    centered = logits - logits.mean(axis=0)
    np.testing.assert_allclose((places**2).sum(axis=1), (centered**2).sum(axis=1))


def test_map_takes_two_classes_certain_predictions_and_equal_samples():
    places, explained = map_places(np.array([[1.0, 0.0], [0.0, 1.0]]))
    assert np.isfinite(places).all()
    assert explained == pytest.approx(1)
    places, explained = map_places(np.full((3, 4), 0.25))
    assert (places == 0).all()
    assert explained == 0


# 0 and 1 are of one class, 2 and 3 of the other; 3 is linked to nobody; loops do not count.
GRAPH = sparse.csr_array(
    np.array([[9.0, 3, 1, 0], [3, 0, 0, 0], [1, 0, 5, 0], [0, 0, 0, 2]]), dtype=np.float32
)
PREDICTIONS = np.array([0, 0, 1, 1])
TRUTH = np.array([0, 1, 0, -1])


def test_graph_is_counted_without_loops():
    facts = describe_graph(GRAPH, PREDICTIONS, TRUTH, TRUTH >= 0)
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


def test_agreement_is_the_fraction_of_weight_to_the_same_prediction():
    np.testing.assert_allclose(agreement(GRAPH, PREDICTIONS), [0.75, 1, 0, 0])


def test_supporters_are_the_strongest_neighbors_with_their_views():
    only_strong = sparse.csr_array(np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0] * 4, [0] * 4]))
    found = supporters(0, GRAPH, {"all": GRAPH, "strong": only_strong}, n_most=5)
    assert [(one.row, one.weight, one.views) for one in found] == [
        (1, 0.75, ("all", "strong")),
        (2, 0.25, ("all",)),
    ]
    assert [one.row for one in supporters(0, GRAPH, {}, n_most=1)] == [1]
    assert supporters(3, GRAPH, {}, n_most=5) == []


def test_graphs_come_by_stage_and_in_both_directions():
    one_way = sparse.csr_array(np.array([[0.0, 2], [0, 0]]))
    graphs = graphs_of(FitSummary(graphs={"fused": one_way, "learned": one_way}))
    assert list(graphs) == ["fused", "learned"]
    assert graphs["fused"].toarray().tolist() == [[0, 1], [1, 0]]


def test_view_graphs_are_named_where_there_is_one_per_view():
    summary = FitSummary(view_graphs=[GRAPH, GRAPH])
    assert list(view_graphs_of(summary, ["a", "b"])) == ["a", "b"]
    assert view_graphs_of(summary, ["a"]) == {}
    assert view_graphs_of(FitSummary(), ["a"]) == {}
