"""The study of the queue: a run stops at the goal, and one that never gets there is not hidden."""

from types import SimpleNamespace

import labeling_page
import labeling_study as study
import numpy as np
import pytest


class Person:
    """A simulated person whose model gains one point per label."""

    def __init__(self, *_):
        self.y_encoded = np.full(200, -1)
        self.n_answers = 0
        self.rng = np.random.default_rng(0)
        self.found = SimpleNamespace(classes=("0", "1"), probabilities=np.full((200, 2), 0.5))

    def answer(self, rows):
        assert (self.y_encoded[rows] < 0).all()
        self.y_encoded[rows] = 1
        self.n_answers += len(rows)

    def fit(self):
        return int((self.y_encoded >= 0).sum()) / 100, 0.0


@pytest.mark.parametrize("strategy", ["random", "uncertainty"])
def test_a_run_ends_at_the_highest_level(monkeypatch, strategy):
    monkeypatch.setattr(study, "Simulation", Person)
    found = study.simulate(None, strategy, 0.0, 0, goal=0.4)
    assert [one["n_labels"] for one in found] == [5, 10, 15, 20, 25, 30, 40]
    assert study.labels_needed(found, 0.9 * 0.4) == 40
    assert [one["n_labels"] for one in study.simulate(None, strategy, 0.0, 0, goal=9)] == [
        *study.COUNTS
    ]


def records(dataset, seed, **needed):
    """Return the records of one data set and seed; None has not reached the goal of 90%."""
    yield {"dataset": dataset, "seed": seed, "strategy": study.GOAL, "mistakes": 0.0,
           "n_labels": 20, "accuracy": 0.9}  # fmt: skip
    for strategy, count in needed.items():
        for n_labels in study.COUNTS:
            accuracy = 0.9 if count is not None and n_labels >= count else 0.5
            yield {"dataset": dataset, "seed": seed, "strategy": strategy, "mistakes": 0.0,
                   "n_labels": n_labels, "accuracy": accuracy}  # fmt: skip
            if accuracy == 0.9:
                break


ALL = dict.fromkeys(study.REPORTED, 20)
STORED = [
    *records("one", 0, **ALL | {"queue": 10, "random": None}),
    *records("one", 1, **ALL | {"queue": 20, "random": 40}),
    *records("two", 0, **ALL | {"queue": 15, "random": 30}),
    *records("two", 1, queue=5),  # still running
]


def test_strategies_are_compared_on_the_same_runs():
    found = study.compared(STORED, 0.95, 0.0)
    assert found["queue"] == {("one", 0): 10, ("one", 1): 20, ("two", 0): 15}
    assert found["random"] == {("one", 0): None, ("one", 1): 40, ("two", 0): 30}
    assert study.counted(found["random"].values()) == [100, 40, 30]
    assert not any(study.compared(STORED, 0.95, 0.05).values())


def test_means_with_runs_that_never_got_there_are_marked():
    rows = labeling_page.strategies_table(STORED, 0.0).splitlines()
    queue, random = (
        next(row for row in rows if name in row) for name in ("| the queue", "| random")
    )
    assert "| 15.0 | 0 | 0.30 |" in queue
    assert "| ≥ 50.0 | 1 | 1.00 |" in random
    assert "≥ 70.0 (42.4), n = 2" in labeling_page.datasets_table(STORED, 0.0, 0.9)
    assert "15 instead of at least 50 labels" in labeling_page.answer(STORED)
    assert "1 to 2 of 5 seeds" in labeling_page.what_has_run(STORED)


def test_ratios_count_data_sets_alike_and_leave_out_those_that_nobody_reaches():
    stored = [
        *records("easy", 0, queue=5, random=20),
        *records("hard", 0, queue=80, random=None),
        *records("out of reach", 0, queue=None, random=None),
    ]
    assert labeling_page.mean_ratio(stored, 0.0, 0.95) == ((0.25 + 0.8) / 2, 2)
    easy, hard, out, mean = labeling_page.ratios_table(stored).splitlines()[2:]
    assert "| 5 / 20 (0.25) |" in easy
    assert "| 80 / ≥ 100 (0.80) |" in hard
    assert "| ≥ 100 / ≥ 100 (-) |" in out
    assert "| 0.53 of 2 |" in mean
    assert "0.53 and 0.53, over the 2 data sets" in labeling_page.answer(stored)


def test_strategies_that_need_fewer_labels_than_the_queue_are_named():
    assert labeling_page.losses(STORED) == ""
    better = [*records("one", 0, **ALL | {"queue": 30, "badge": 25, "random": 30, "coreset": 40})]
    found = labeling_page.losses(better)
    assert "BADGE (25.0 instead of 30.0 labels for 90%, with 0% mistakes, n = 1)" in found
    assert "TypiClust (20.0 instead of 30.0" in found
    assert "CoreSet" not in found
    assert "random" not in found


def test_without_records_the_page_says_so():
    assert labeling_page.losses([]) == ""
    assert labeling_page.answer([]) == "No run is stored yet."
    assert "No run" in labeling_page.strategies_table([], 0.05)
    assert "No data set" in labeling_page.what_has_run([])
