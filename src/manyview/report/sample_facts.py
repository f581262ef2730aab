"""The samples of a run: what was given, what was answered, how surely, and what is true."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from manyview.data.dataset import Dataset
from manyview.data.label_values import is_known

LEAST_PROBABILITY = 1e-6  # below which logarithms of probabilities say nothing more
NO_CLASS = -1


@dataclass(frozen=True)
class SampleFacts:
    """Samples of one fit in numbers, one entry a sample.

    Attributes
    ----------
    names
        Of all classes: those the method knows first, then those that only the truth has.
    n_known_classes
        How many of them the method knows.
    ids
        Names of the samples.
    answers, runners_up
        Numbers of the likeliest and the second likeliest class.
    probabilities, second_probabilities
        Of these two.
    given, truth
        Class numbers, -1 where there is none. The truth is whatever label the data have.
    confidence
        Of the sample's place in the graph; None where the method has none.
    """

    names: list[str]
    n_known_classes: int
    ids: np.ndarray
    distributions: np.ndarray
    answers: np.ndarray
    runners_up: np.ndarray
    probabilities: np.ndarray
    second_probabilities: np.ndarray
    given: np.ndarray
    truth: np.ndarray
    confidence: np.ndarray | None

    @property
    def is_open(self) -> np.ndarray:
        """Samples whose label the method did not see."""
        return np.asarray(self.given == NO_CLASS)

    @property
    def is_scored(self) -> np.ndarray:
        """Samples whose label the method did not see, and we know."""
        return np.asarray(self.is_open & (self.truth != NO_CLASS))

    @property
    def is_right(self) -> np.ndarray:
        """Samples whose answer is the truth."""
        return np.asarray(self.answers == self.truth)

    def least_certain(self, n_most: int) -> np.ndarray:
        """Rows of the unlabeled samples of least probability, least first."""
        rows = np.flatnonzero(self.is_open)
        return np.asarray(rows[np.argsort(self.probabilities[rows], kind="stable")[:n_most]])

    def contradicted(self, n_most: int) -> np.ndarray:
        """Rows of the samples whose given label is not the answer, surest answer first."""
        rows = np.flatnonzero(~self.is_open & (self.given != self.answers))
        return np.asarray(rows[np.argsort(-self.probabilities[rows], kind="stable")[:n_most]])

    def confusion(self) -> np.ndarray:
        """Count the scored samples: [true class, answered class]."""
        n_classes = len(self.names)
        pairs = self.truth[self.is_scored] * n_classes + self.answers[self.is_scored]
        return np.bincount(pairs, minlength=n_classes**2).reshape(n_classes, n_classes)


def describe_samples(data: Dataset, labels: np.ndarray, model: Any) -> SampleFacts:
    """Gather what there is to say about the samples of a fitted model."""
    classes = model.classes_.tolist()
    truth = labels if data.labels is None else data.labels
    only_true = sorted(set(truth[is_known(truth)].tolist()) - set(classes))
    number_of = {label: number for number, label in enumerate([*classes, *only_true])}
    distributions = np.asarray(model.label_distributions_, dtype=np.float64)
    order = np.argsort(-distributions, axis=1, kind="stable")
    each = np.arange(len(distributions))
    confidence = getattr(model, "node_confidence_", None)
    return SampleFacts(
        names=[str(label) for label in number_of],
        n_known_classes=len(classes),
        ids=data.sample_ids,
        distributions=distributions,
        answers=order[:, 0],
        runners_up=order[:, 1],
        probabilities=distributions[each, order[:, 0]],
        second_probabilities=distributions[each, order[:, 1]],
        given=_numbers(labels, number_of),
        truth=_numbers(truth, number_of),
        confidence=None if confidence is None else np.asarray(confidence, dtype=np.float64),
    )


def map_places(distributions: np.ndarray) -> tuple[np.ndarray, float]:
    """Place samples by the two main directions of their logits: [sample, 2] and their share.

    Logarithms of the probabilities, less their mean, are the logits; the two directions are
    those in which they vary most (principal components).
    """
    logits = np.log(np.maximum(distributions, LEAST_PROBABILITY))
    logits -= logits.mean(axis=1, keepdims=True)
    logits -= logits.mean(axis=0)
    directions, powers, _ = np.linalg.svd(logits.T @ logits)  # [class, class]: cheap at any m
    places = logits @ directions[:, :2]
    signs = np.sign(places[np.abs(places).argmax(axis=0), [0, 1]])  # the same on every machine
    return places * np.where(signs == 0, 1, signs), float(powers[:2].sum() / (powers.sum() or 1.0))


def _numbers(labels: np.ndarray, number_of: dict[Any, int]) -> np.ndarray:
    known = is_known(labels)
    numbers = np.full(len(labels), NO_CLASS)
    numbers[known] = [number_of[label] for label in labels[known].tolist()]
    return numbers
