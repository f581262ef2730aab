"""Rounds: networks trained one after the other, each taught by the answers of the one before."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np

from manyview.lessons import Lesson
from manyview.training import TrainingCurve

Network = TypeVar("Network")
SETTLED = 0.005  # share of changed answers below which no further round is needed


@dataclass(frozen=True)
class Round:
    """What one network that was taught by the one before came to.

    Attributes
    ----------
    n_epochs
        How long it learned.
    changed
        Share of the samples it answers otherwise than its teacher.
    agreement
        [view] how far neighbours in each view had one answer of the teacher's.
    """

    n_epochs: int
    changed: float
    agreement: np.ndarray

    @classmethod
    def between(
        cls, before: np.ndarray, after: np.ndarray, lesson: Lesson, n_epochs: int
    ) -> "Round":
        """Compare the probabilities of teacher and taught."""
        changed = float((before.argmax(axis=1) != after.argmax(axis=1)).mean())
        return cls(n_epochs, changed, lesson.agreement)

    @property
    def has_settled(self) -> bool:
        """Whether so few answers changed that another round would change hardly any."""
        return self.changed < SETTLED


@dataclass(frozen=True)
class Taught(Generic[Network]):
    """The last network that was done, how it was trained, and the rounds that led to it."""

    network: Network
    curve: TrainingCurve
    rounds: list[Round]


def train_in_rounds(
    fit: Callable[[int, Lesson | None], tuple[Network, TrainingCurve]],
    answers_of: Callable[[Network], np.ndarray],
    lesson_of: Callable[[np.ndarray], Lesson],
    max_rounds: int,
) -> Taught[Network]:
    """Train a network on the labels, then others that the answers of the last one teach.

    Ends when a network answers as its teacher did, or after `max_rounds`. Where the user ends it
    in a round, the last network that was done is kept.

    Parameters
    ----------
    fit
        Trains the network of a number, 0 the first, on the labels and a lesson.
    answers_of
        Returns a network's probabilities, [sample, class].
    lesson_of
        Cleans such probabilities into a lesson.
    """
    network, curve = fit(0, None)
    rounds: list[Round] = []
    while len(rounds) < max_rounds and not curve.was_cut_short:
        before = answers_of(network)
        lesson = lesson_of(before)
        taught, its_curve = fit(len(rounds) + 1, lesson)
        if its_curve.was_cut_short:
            curve = replace(curve, stopped=its_curve.stopped)
            break
        network, curve = taught, its_curve
        rounds.append(Round.between(before, answers_of(network), lesson, curve.n_epochs))
        if rounds[-1].has_settled:
            break
    return Taught(network, curve, rounds)
