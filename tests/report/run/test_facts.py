from types import SimpleNamespace

import numpy as np
import pytest

from manyview.data.dataset import Dataset
from manyview.data.views import MultiView
from manyview.report.run.facts import describe_samples, map_places

LABELS = np.array(["b", "a", "c", "a", None], dtype=object)
SHOWN = np.array(["b", "a", None, None, None], dtype=object)


@pytest.fixture
def facts():
    data = Dataset(
        "five", MultiView({"v": np.zeros((5, 1))}), LABELS, np.array(list("vwxyz")), (), ""
    )
    distributions = np.array([[0.9, 0.1], [0.8, 0.2], [0.4, 0.6], [0.7, 0.3], [0.55, 0.45]])
    classes = np.array(["a", "b"], dtype=object)
    model = SimpleNamespace(classes_=classes, label_distributions_=distributions)
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


def test_map_keeps_what_varies_most_and_says_how_much():
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(50, 1)) * np.array([1.5, -1.5, 0, 0])
    logits += rng.normal(size=(50, 1)) * np.array([0, 0, 0.5, -0.5])
    distributions = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    places, share = map_places(distributions)
    assert share == pytest.approx(1)
    assert places[:, 0].std() > places[:, 1].std()
    centered = logits - logits.mean(axis=0)
    np.testing.assert_allclose((places**2).sum(axis=1), (centered**2).sum(axis=1))


def test_map_takes_two_classes_certain_predictions_and_equal_samples():
    places, share = map_places(np.array([[1.0, 0.0], [0.0, 1.0]]))
    assert np.isfinite(places).all()
    assert share == pytest.approx(1)
    places, share = map_places(np.full((3, 4), 0.25))
    assert (places == 0).all()
    assert share == 0
