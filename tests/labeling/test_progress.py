"""Progress: the estimate of a model, the expected gain, and when to stop."""

from math import log
from types import SimpleNamespace

import pytest

from manyview.labeling.progress import (
    Estimate,
    advice,
    expected_gain,
    is_time_to_stop,
    progress_document,
    read_estimate,
)


def curve(accuracy, counts):
    return [Estimate(n, accuracy(n), accuracy(n) - 0.1, min(accuracy(n) + 0.1, 1)) for n in counts]


def rising(n):
    return 0.5 + 0.1 * log(n / 10)


def flat(n):
    return 0.95


def test_a_model_without_an_estimate_has_none():
    assert read_estimate(object()) is None
    assert read_estimate(SimpleNamespace(performance_=None)) is None


def test_the_estimate_of_a_model_is_read():
    accuracy = SimpleNamespace(value=0.9, low=0.8, high=0.95)
    model = SimpleNamespace(performance_=SimpleNamespace(n_labels=30, accuracy=accuracy))
    assert read_estimate(model) == Estimate(30, 0.9, 0.8, 0.95)


def test_expected_gain_follows_the_curve():
    found = expected_gain(curve(rising, range(10, 60, 10)))
    assert found == pytest.approx(rising(60) - rising(50))
    assert expected_gain(curve(flat, range(10, 60, 10))) == pytest.approx(0)
    assert expected_gain(curve(rising, [10, 20])) is None
    assert expected_gain(curve(lambda n: 0.999 + 0.001 * (n > 30), [10, 20, 30, 40])) <= 1


def test_it_is_time_to_stop_when_the_curve_is_flat():
    assert not is_time_to_stop(curve(rising, range(10, 90, 10)))
    assert is_time_to_stop(curve(flat, range(10, 90, 10)))
    assert not is_time_to_stop(curve(flat, [10, 20, 30]))  # too soon to know


def test_advice_is_one_sentence():
    assert advice([], 9) == "How good the predictions are: too few labels to say."
    assert advice([], 9, n_labels=30) == "How good the predictions are: not estimated yet."
    one = [Estimate(12, 0.8, 0.7, 0.9)]
    assert advice(one, 9) == "What ten more labels would bring: too few labels to say."
    assert advice(curve(rising, range(10, 60, 10)), 9).startswith("Ten more labels are expected")
    assert advice(curve(flat, range(10, 90, 10)), 9).startswith("It is time to stop")
    assert advice([], 0) == "Every sample has a label."


def test_the_document_holds_the_curve():
    found = progress_document(curve(flat, range(10, 90, 10)), 9)
    assert found["estimate"]["n_labels"] == 80
    assert len(found["curve"]) == 8
    assert found["is_time_to_stop"]
