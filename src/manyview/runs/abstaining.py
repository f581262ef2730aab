"""The rule to abstain: answers below a probability are written as unknown."""

from dataclasses import dataclass

import numpy as np

from manyview.data.label_values import is_known
from manyview.errors import InputError

UNKNOWN_WORD = "unknown"


@dataclass(frozen=True)
class Abstention:
    """What the rule did to the samples that came without a label.

    Attributes
    ----------
    below
        Answers of less than this probability are unknown.
    n_answered, n_unknown
        Samples with an answer, and the others.
    accuracy
        Share of the answers that are right, where the truth is known; None where it is nowhere.
    """

    below: float
    n_answered: int
    n_unknown: int
    accuracy: float | None


def means_unknown(label: object) -> bool:
    """Say whether a class is named as the samples without an answer are.

    Examples
    --------
    >>> means_unknown("Unknown"), means_unknown("unknown species"), means_unknown(0)
    (True, False, False)
    """
    return str(label).strip().casefold() == UNKNOWN_WORD


def check_class_names(classes: np.ndarray) -> None:
    """Refuse a class that could not be told from a sample without an answer."""
    for label in filter(means_unknown, classes.tolist()):
        raise InputError(
            f"a class is named {label!r}, which is what samples below abstain_below are called. "
            "Rename it, or mark its samples as -1 if their label is not known."
        )


def abstain(answers: np.ndarray, probabilities: np.ndarray, below: float | None) -> np.ndarray:
    """Copy the answers with those below the probability replaced by `unknown`.

    Examples
    --------
    >>> abstain(np.array([3, 5]), np.array([0.9, 0.4]), 0.5).tolist()
    [3, 'unknown']
    """
    if below is None:
        return answers
    written = answers.astype(object)
    written[probabilities < below] = UNKNOWN_WORD
    return written


def describe_abstention(
    answers: np.ndarray,
    probabilities: np.ndarray,
    below: float | None,
    truth: np.ndarray | None,
    counts: np.ndarray,
) -> Abstention | None:
    """Count what the rule does to the samples that count; None without a rule."""
    if below is None:
        return None
    answered = counts & (probabilities >= below)
    scored = np.zeros_like(answered) if truth is None else answered & is_known(truth)
    right = [
        answer == label
        for answer, label in zip(
            answers[scored].tolist(), [] if truth is None else truth[scored].tolist(), strict=True
        )
    ]
    return Abstention(
        below=below,
        n_answered=int(answered.sum()),
        n_unknown=int((counts & ~answered).sum()),
        accuracy=float(np.mean(right)) if right else None,
    )
