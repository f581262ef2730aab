"""The worker: predictions come first, and the estimate when no newer label waits."""

from multiprocessing import Pipe
from types import SimpleNamespace

import numpy as np
import pytest

from manyview.errors import InputError
from manyview.labeling.learner import Task
from manyview.labeling.worker import MAX_CANCELED, ServerGoneError, _Loop

TASK = Task(3, np.array([0, 1, -1]), ("a", "b"))


class ThreeFolds:
    """A learner whose cross-fit has three folds, and whose fit one epoch."""

    def __init__(self):
        self.n_folds, self.n_moves = 0, 0

    def learn(self, task, check):
        check()
        return SimpleNamespace(number=task.number)

    def move(self):
        self.n_moves += 1

    def complete(self, task, found, check):
        if self.n_folds == 3:
            return None
        while self.n_folds < 3:
            check()
            self.n_folds += 1
        return found


@pytest.fixture
def server():
    ours, theirs = Pipe()
    with ours, theirs:
        yield SimpleNamespace(connection=ours, loop=_Loop(theirs, ThreeFolds()))


def reports(server):
    found = []
    while server.connection.poll():
        found.append(server.connection.recv().kind)
    return found


def test_predictions_are_reported_before_the_estimate(server):
    assert server.loop._learn(TASK)
    assert reports(server) == ["fitting", "learned", "moved", "learned"]


def test_newer_labels_pause_the_estimate_and_let_one_fold_through_in_time(server):
    learner = server.loop.learner
    server.connection.send(TASK)
    found = []
    for _ in range(MAX_CANCELED + 2):
        server.loop._complete(TASK, None)
        found.append(learner.n_folds)
    assert found == [0] * MAX_CANCELED + [1, 1]
    assert server.loop.next.number == 3
    server.loop.next = None
    server.loop._complete(TASK, SimpleNamespace())
    assert learner.n_folds == 3
    assert reports(server) == ["learned"]


def test_newer_labels_end_an_early_fit_and_not_a_late_one(server):
    server.loop.seconds = 1000.0  # of the last fit: this one is early
    server.connection.send(TASK)
    assert not server.loop._learn(TASK)
    assert (server.loop.n_canceled, reports(server)) == (1, ["fitting"])
    server.loop.seconds = 0.0
    assert server.loop._learn(TASK)
    assert reports(server)[:2] == ["fitting", "learned"]


def test_an_estimate_that_fails_is_reported(server):
    def complete(task, found, check):
        raise InputError("training diverged")

    server.loop.learner.complete = complete
    assert server.loop._learn(TASK)
    assert reports(server)[-1] == "failed"


def test_the_end_of_the_server_ends_the_worker(server):
    server.connection.send(None)
    with pytest.raises(ServerGoneError):
        server.loop._complete(TASK, None)
