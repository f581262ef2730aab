"""The learner: starts without labels, learns, and continues from its files."""

from dataclasses import replace

import numpy as np
import pytest

from manyview.data.views import MultiView
from manyview.labeling.learned import Learned
from manyview.labeling.learner import Learner, Task
from manyview.labeling.queue import AGAIN
from manyview.labeling.two_step import TwoStepClassifier

NAMES = ("0", "1", "2")


def fast():
    return TwoStepClassifier(random_state=0, max_iter=1).set_params(estimator__max_epochs=8)


@pytest.fixture
def learner(tiny_views, tmp_path):
    return Learner(MultiView(tiny_views.views), fast(), tmp_path)


def test_without_labels_there_is_a_queue_a_map_and_no_prediction(learner, tmp_path, tiny_views):
    found = learner.learn(Task(0, np.full(60, -1), ()))
    assert found.classes == ()
    assert len(set(tiny_views.labels[found.queue.rows[:6]])) == 3
    assert learner.places.shape == (60, 2)
    assert (found.evidence >= 0).any()
    assert Learned.load(tmp_path, 60).queue.rows.tolist() == found.queue.rows.tolist()


def test_one_class_alone_is_not_fitted(learner):
    assert learner.learn(Task(1, np.where(np.arange(60) < 3, 0, -1), ("a",))).classes == ()


def test_labels_are_learned_and_written(learner, tmp_path, tiny_views):
    found = learner.learn(Task(3, tiny_views.known_labels, NAMES))
    predicted = np.array(found.classes)[found.probabilities.argmax(axis=1)]
    assert (predicted == tiny_views.labels.astype(str)).mean() > 0.8
    again = Learned.load(tmp_path, 60)
    np.testing.assert_allclose(again.probabilities, found.probabilities, atol=1e-6)
    assert (again.number, again.classes) == (3, NAMES)
    before = learner.places
    learner.move()
    assert np.abs(learner.places - before).max() > 0


def test_evidence_is_that_of_the_explanation(learner, tiny_views):
    found = learner.learn(Task(3, tiny_views.known_labels, NAMES))
    for row in (0, 31):
        why = learner.model.explain(row)
        wanted = {one.row: one.margin for one in why.neighbors[:3]}
        margins = dict(zip(found.evidence[row].tolist(), found.margins[row].tolist(), strict=True))
        assert {one: pytest.approx(margins[one], abs=1e-4) for one in wanted} == wanted


def test_a_new_class_is_added_to_what_was_learned(learner, tiny_views):
    y_encoded = np.where(tiny_views.known_labels == 2, -1, tiny_views.known_labels)
    assert learner.learn(Task(3, y_encoded, NAMES)).classes == ("0", "1")
    weights = learner.model.learned_weights_
    assert learner.learn(Task(4, tiny_views.known_labels, NAMES)).classes == NAMES
    assert learner.model.learned_weights_ is not weights


def test_a_canceled_fit_leaves_the_model_as_it_was(learner, tiny_views):
    learner.learn(Task(3, tiny_views.known_labels, NAMES))
    before = learner.model.label_distributions_.copy()

    def cancel():
        raise KeyError

    with pytest.raises(KeyError):
        learner.learn(Task(4, tiny_views.labels, NAMES), cancel)
    np.testing.assert_array_equal(learner.model.label_distributions_, before)


def test_a_worker_without_its_server_writes_nothing(learner, tmp_path, tiny_views):
    learner.learn(Task(3, tiny_views.known_labels, NAMES))
    learner.learn(Task(4, tiny_views.known_labels, NAMES))  # the same labels: no epoch is trained

    def gone():
        raise KeyError

    with pytest.raises(KeyError):
        learner.learn(Task(5, tiny_views.known_labels, NAMES), gone)
    assert Learned.load(tmp_path, 60).number == 4


def test_a_later_learner_continues(learner, tmp_path, tiny_views):
    learner.learn(Task(3, tiny_views.known_labels, NAMES))
    learner.save()
    later = Learner(MultiView(tiny_views.views), fast(), tmp_path)
    assert later.model.learned_weights_ is not None
    np.testing.assert_array_equal(later.places, learner.places)
    assert later.learn(Task(5, tiny_views.known_labels, NAMES)).classes == NAMES
    other = Learner(MultiView({"x": np.eye(60)}), fast(), tmp_path)
    assert other.model.learned_weights_ is None  # it has other samples
    (tmp_path / "model.json").write_text("{")
    damaged = Learner(MultiView(tiny_views.views), fast(), tmp_path)
    assert damaged.model.learned_weights_ is None


def test_classes_get_the_type_that_a_file_of_labels_gives_them():
    task = Task(1, np.array([0, 1, -1]), ("7", "8"))
    assert task.labels().tolist() == [7, 8, -1]
    assert Task(1, np.array([0, 1, -1]), ("7", "x")).labels().tolist() == ["7", "x", None]


def test_a_label_that_others_contradict_is_asked_again_until_it_is_checked(learner, tiny_views):
    y_encoded = np.where(np.arange(60) < 20, tiny_views.labels, -1)
    assert AGAIN not in learner.learn(Task(20, y_encoded, NAMES)).queue.reasons
    wrong = int(np.flatnonzero(y_encoded == 0)[0])
    y_encoded[wrong] = 1
    queue = learner.learn(Task(21, y_encoded, NAMES)).queue
    assert queue.rows[queue.reasons == AGAIN].tolist() == [wrong]
    for answered in ({"checked": (wrong,)}, {"skipped": (wrong,)}):
        queue = learner.learn(Task(22, y_encoded, NAMES, **answered)).queue
        assert AGAIN not in queue.reasons
    others = np.flatnonzero(y_encoded >= 0)[1:6]
    confirmed = Task(20, y_encoded, NAMES, checked=tuple(others.tolist()))
    assert learner.learn(confirmed).queue.reasons.tolist().index(AGAIN) > 5
    changed = learner.learn(replace(confirmed, number=24, n_changed=5)).queue
    assert changed.reasons.tolist().index(AGAIN) == 0
    few = np.where(np.arange(60) < 8, y_encoded, -1)
    assert AGAIN not in learner.learn(Task(23, few, NAMES)).queue.reasons


def test_cross_fitting_comes_after_the_predictions(learner, tmp_path, tiny_views):
    task = Task(3, tiny_views.known_labels, NAMES)
    found = learner.learn(task)
    assert learner.model.cross_fit_ is None
    completed = learner.complete(task, found)
    assert learner.model.cross_fit_ is not None
    assert (completed.number, completed.seconds) == (3, found.seconds)
    again = Learned.load(tmp_path, 60)
    np.testing.assert_allclose(again.probabilities, completed.probabilities, atol=1e-6)
    assert learner.complete(task, completed) is None
    assert learner.complete(Task(0, np.full(60, -1), ()), completed) is None
