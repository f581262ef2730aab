"""Scorers: unknown labels are ignored."""

import numpy as np
import pytest
from sklearn import metrics

from manyview.errors import InputError
from manyview.tuning.scorers import SCORERS


class Predictions:
    """A model that gives fixed probabilities for the rows it is shown, by number."""

    classes_ = np.array([0, 1, 2])

    def predict_proba(self, rows):
        return np.random.default_rng(0).dirichlet(np.ones(3), size=40)[np.asarray(rows)]

    def predict(self, rows):
        return self.classes_[self.predict_proba(rows).argmax(axis=1)]


@pytest.mark.parametrize("unknown", [-1, None, float("nan")])
def test_scores_are_those_of_scikit_learn_on_the_known_rows(unknown, rng):
    model, rows = Predictions(), np.arange(40)
    truth = rng.integers(3, size=40)
    is_open = rng.random(40) < 0.4
    kind = float if isinstance(unknown, float) else object if unknown is None else int
    labels = truth.astype(kind)
    labels[is_open] = unknown
    wanted, given = truth[~is_open], model.predict(rows)[~is_open]
    probabilities = model.predict_proba(rows)[~is_open]
    expected = {
        "accuracy": metrics.accuracy_score(wanted, given),
        "balanced_accuracy": metrics.balanced_accuracy_score(wanted, given),
        "macro_f1": metrics.f1_score(wanted, given, average="macro"),
        "neg_log_loss": -metrics.log_loss(wanted, probabilities),
    }
    found = {name: scorer(model, rows, labels) for name, scorer in SCORERS.items()}
    assert found == pytest.approx(expected)


def test_log_loss_of_a_class_the_model_does_not_know_is_large_but_finite():
    assert -40 < SCORERS["neg_log_loss"](Predictions(), [0], np.array([7])) < -30


@pytest.mark.parametrize("name", SCORERS)
def test_labels_that_are_all_unknown_are_refused(name):
    with pytest.raises(InputError, match=f"{name} needs a known label to score; all 2"):
        SCORERS[name](Predictions(), [0, 1], np.array([-1, -1]))
