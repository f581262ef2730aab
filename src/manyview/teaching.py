"""Teaching: how the networks of one fit come to be, by the recipe for few labels.

linear answers -> lesson -> plain network -> lesson -> the network that answers

Teachers have the joint graph beside the views' graphs, the last network does not.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from manyview.graphs.edge_overlap import confirmed_shares
from manyview.lessons import Lesson, prepare_lesson
from manyview.network.mgcn_dns import MGCNDNS, NetworkInputs
from manyview.network.prepared import Ground
from manyview.network.spectral import linear_answers
from manyview.network.training import TrainingCurve
from manyview.numerics import softmax
from manyview.rounds import Taught, Turn, train_in_rounds

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
