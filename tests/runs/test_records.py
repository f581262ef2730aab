import numpy as np
import pytest
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score

from manyview.runs.records import csv_text, score

EVERY = np.ones(40, dtype=bool)


def test_scores_equal_those_of_scikit_learn(rng):
    truth, predictions = rng.integers(0, 3, 40), rng.integers(0, 3, 40)
    scores = score(predictions, truth, EVERY)
    assert scores.n_scored == 40
    assert scores.accuracy == accuracy_score(truth, predictions)
    assert scores.balanced_accuracy == pytest.approx(balanced_accuracy_score(truth, predictions))
    assert scores.macro_f1 == pytest.approx(f1_score(truth, predictions, average="macro"))


def test_scores_do_not_depend_on_the_kind_of_labels(rng):
    truth, predictions = rng.integers(0, 2, 40), rng.integers(0, 2, 40)
    expected = score(predictions, truth, EVERY)
    texts = np.array(["no", "yes"])
    assert score(texts[predictions], texts[truth].astype(object), EVERY) == expected
    assert score((predictions == 1).astype(object), truth == 1, EVERY) == expected


def test_only_known_samples_that_count_are_scored():
    truth = np.array(["a", None, "b", "b"], dtype=object)
    counts = np.array([False, True, True, True])
    scores = score(np.array(["b", "a", "b", "a"]), truth, counts)
    assert (scores.n_scored, scores.accuracy) == (2, 0.5)


def test_class_that_the_method_does_not_know_counts_as_wrong():
    predictions, truth = np.array([0, 0, 0, 1]), np.array([0, 0, 2, 2])
    assert score(predictions, truth, np.ones(4, dtype=bool)).balanced_accuracy == 0.5


@pytest.mark.parametrize("truth", [None, np.array([-1, -1])])
def test_without_a_truth_there_are_no_scores(truth):
    assert score(np.array([0, 1]), truth, np.ones(2, dtype=bool)) is None


def test_csv_quotes_what_needs_it():
    assert csv_text(("a", "b"), [(1, None), ('x,"y"', "é")]) == 'a,b\n1,\n"x,""y""",é\n'
