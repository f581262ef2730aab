"""The rule to abstain: predictions below a probability are written as unknown."""

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
        Predictions of less than this probability are unknown.
    n_predicted, n_unknown
        Samples with a prediction, and the others.
    accuracy
        Share of the predictions that are right, where the truth is known; None where it is nowhere.
    """

    below: float
    n_predicted: int
    n_unknown: int
    accuracy: float | None


def means_unknown(label: object) -> bool:
    """Say whether a class is named as the samples without a prediction are.

    Examples
    --------
    >>> means_unknown("Unknown"), means_unknown("unknown species"), means_unknown(0)
    (True, False, False)
    """
    return str(label).strip().casefold() == UNKNOWN_WORD


def check_class_names(classes: np.ndarray) -> None:
    """Refuse a class that could not be told from a sample without a prediction."""
    for label in filter(means_unknown, classes.tolist()):
        raise InputError(
            f"a class is named {label!r}, which is what samples below abstain_below are called. "
            "Rename it, or mark its samples as -1 if their label is not known."
        )


def abstain(predictions: np.ndarray, probabilities: np.ndarray, below: float | None) -> np.ndarray:
    """Copy the predictions with those below the probability replaced by `unknown`.

    Examples
    --------
    >>> abstain(np.array([3, 5]), np.array([0.9, 0.4]), 0.5).tolist()
    [3, 'unknown']
    """
    if below is None:
        return predictions
    written = predictions.astype(object)
    written[probabilities < below] = UNKNOWN_WORD
    return written


def describe_abstention(
    predictions: np.ndarray,
    probabilities: np.ndarray,
    below: float | None,
    truth: np.ndarray | None,
    counts: np.ndarray,
) -> Abstention | None:
    """Count what the rule does to the samples that count; None without a rule."""
    if below is None:
        return None
    predicted = counts & (probabilities >= below)
    scored = np.zeros_like(predicted) if truth is None else predicted & is_known(truth)
    right = [
        prediction == label
        for prediction, label in zip(
            predictions[scored].tolist(),
            [] if truth is None else truth[scored].tolist(),
            strict=True,
        )
    ]
    return Abstention(
        below=below,
        n_predicted=int(predicted.sum()),
        n_unknown=int((counts & ~predicted).sum()),
        accuracy=float(np.mean(right)) if right else None,
    )
