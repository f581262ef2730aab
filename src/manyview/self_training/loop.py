"""Rounds: networks trained one after the other, each taught by the answers of the one before."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np
import torch

from manyview.graphs.edge_overlap import confirmed_shares
from manyview.network.mgcn_dns import MGCNDNS, NetworkInputs
from manyview.network.prepared import Ground
from manyview.network.spectral import linear_answers
from manyview.network.training import TrainingCurve
from manyview.numerics import softmax
from manyview.self_training.pseudo_labels import TAUGHT_TEMPERATURE, Lesson, prepare_lesson

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
class Turn(Generic[Network]):
    """Which network is to be trained.

    Attributes
    ----------
    number
        0 for the first.
    is_last
        Whether its answers are those of the fit; otherwise they only teach the next.
    lesson, teacher
        What it learns beside the labels, and the network it is from; None for the first.
    """

    number: int
    is_last: bool
    lesson: Lesson | None = None
    teacher: Network | None = None


@dataclass(frozen=True)
class Taught(Generic[Network]):
    """What a fit in rounds came to.

    Attributes
    ----------
    network, curve
        The last network that was done, and how it was trained.
    rounds
        One for each network that was taught.
    is_whole
        Whether that network is the one all rounds lead to, not a teacher of it.
    """

    network: Network
    curve: TrainingCurve
    rounds: list[Round]
    is_whole: bool

    @property
    def temperature(self) -> float:
        """What its logits are to be divided by."""
        return TAUGHT_TEMPERATURE if self.rounds else 1.0


def train_in_rounds(
    fit: Callable[[Turn[Network]], tuple[Network, TrainingCurve]],
    answers_of: Callable[[Network, Turn[Network]], np.ndarray],
    lesson_of: Callable[[np.ndarray], Lesson],
    max_rounds: int,
    first_answers: Callable[[], np.ndarray] | None = None,
) -> Taught[Network]:
    """Train networks one after the other, each taught by the answers of the one before.

    When a network answers as its teacher did, the next is the last; so is that of round
    `max_rounds`. Where the user ends it in a round, the last network that was done is kept; in the
    first, where there is none, the one at work.

    Parameters
    ----------
    fit
        Trains the network whose turn it is.
    answers_of
        Returns the probabilities of the network of a turn, [sample, class].
    lesson_of
        Cleans such probabilities into a lesson.
    first_answers
        Returns what the first lesson is made from; None trains a network on the labels for it.
        Without rounds a network is trained on the labels in any case.
    """
    if max_rounds > 0 and first_answers is not None:
        return _teach(fit, answers_of, lesson_of, max_rounds, first_answers(), None)
    turn: Turn[Network] = Turn(0, is_last=max_rounds == 0)
    network, curve = fit(turn)
    first = Taught(network, curve, [], is_whole=turn.is_last)
    if turn.is_last or curve.was_cut_short:
        return first
    return _teach(fit, answers_of, lesson_of, max_rounds, answers_of(network, turn), first)


def _teach(
    fit: Callable[[Turn[Network]], tuple[Network, TrainingCurve]],
    answers_of: Callable[[Network, Turn[Network]], np.ndarray],
    lesson_of: Callable[[np.ndarray], Lesson],
    max_rounds: int,
    answers: np.ndarray,
    done: Taught[Network] | None,
) -> Taught[Network]:
    """Train a network a round; `done` is what there is to fall back on."""
    rounds: list[Round] = []
    for number in range(1, max_rounds + 1):
        lesson = lesson_of(answers)
        has_settled = bool(rounds) and rounds[-1].has_settled
        teacher = None if done is None else done.network
        turn = Turn(number, has_settled or number == max_rounds, lesson, teacher)
        network, curve = fit(turn)
        if curve.was_cut_short and done is not None:
            return replace(done, curve=replace(done.curve, stopped=curve.stopped))
        taught = answers_of(network, turn)
        rounds.append(Round.between(answers, taught, lesson, curve.n_epochs))
        done, answers = Taught(network, curve, list(rounds), turn.is_last), taught
        if turn.is_last or curve.was_cut_short:
            break
    assert done is not None  # there is at least one round
    return done


SEEDS_APART = 100  # of the networks of one fit; folds of the calibration take those between
FitNetwork = Callable[
    [NetworkInputs, torch.Generator, Turn[MGCNDNS]], tuple[MGCNDNS, TrainingCurve]
]


@dataclass(frozen=True)
class Teaching:
    """What is taught, and by whom.

    Attributes
    ----------
    codes
        [sample] class numbers, -1 where unknown.
    class_weight
        [class] or None.
    max_rounds
        Networks that are taught; 0 trains one on the labels alone.
    class_shares
        Whether "labels" or "answers" tell the size of the classes.
    linear_teacher
        Whether a linear classifier teaches first; otherwise a plain network does.
    is_warm
        Whether networks go on from earlier weights, which know the views' graphs alone. Labels
        that came later are rarely a sample of the classes, so there are no shares to learn from.
    """

    ground: Ground
    codes: np.ndarray
    n_classes: int
    class_weight: np.ndarray | None
    max_rounds: int
    class_shares: str
    linear_teacher: bool
    is_warm: bool

    def run(self, generator: torch.Generator, fit_network: FitNetwork) -> Taught[MGCNDNS]:
        """Train by turns; every network has a source of randomness of its own."""

        def fit(turn: Turn[MGCNDNS]) -> tuple[MGCNDNS, TrainingCurve]:
            own = generator
            if turn.number:
                seed = generator.initial_seed() + SEEDS_APART * turn.number
                own = torch.Generator(device=generator.device).manual_seed(seed)
            return fit_network(self._inputs_of(turn), own, turn)

        first = self._linear_answers if self.linear_teacher else None
        is_done = bool((self.codes >= 0).all())  # nobody is left to teach
        max_rounds = 0 if is_done else min(self.max_rounds, 1 if self.is_warm else np.inf)
        return train_in_rounds(fit, self._answers_of, self._lesson_of, int(max_rounds), first)

    def _inputs_of(self, turn: Turn[MGCNDNS]) -> NetworkInputs:
        return self.ground.inputs if turn.is_last or self.is_warm else self.ground.teacher_inputs

    @torch.no_grad()
    def _answers_of(self, network: MGCNDNS, turn: Turn[MGCNDNS]) -> np.ndarray:
        return softmax(network(*self._inputs_of(turn)).cpu().numpy())

    def _linear_answers(self) -> np.ndarray:
        return linear_answers(
            self.ground.teacher_inputs,
            confirmed_shares(self.ground.graphs),
            self.codes,
            self.n_classes,
            self.class_weight,
        )

    def _lesson_of(self, answers: np.ndarray) -> Lesson:
        return prepare_lesson(
            answers,
            self.codes,
            self.ground.view_graphs,
            self.class_weight,
            joint_graph=self.ground.joint_graph,
            class_shares="answers" if self.is_warm else self.class_shares,
        )
