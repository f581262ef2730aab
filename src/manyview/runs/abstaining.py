"""Abstention: predictions below a probability are written as `unknown`."""

from dataclasses import dataclass

import numpy as np

from manyview.data.label_values import is_known
from manyview.errors import InputError

UNKNOWN_WORD = "unknown"


@dataclass(frozen=True)
class Abstention:
    """Effect of abstention on the samples without a label.

    Predictions with a probability lower than `below` are unknown. `accuracy` is that of the
    predictions whose true label is known; None if there are none.
    """

    below: float
    n_predicted: int
    n_unknown: int
    accuracy: float | None


def means_unknown(label: object) -> bool:
    """Whether a class has the name that marks samples without a prediction.

    Examples
    --------
    >>> means_unknown("Unknown"), means_unknown("unknown species"), means_unknown(0)
    (True, False, False)
    """
    return str(label).strip().casefold() == UNKNOWN_WORD


def check_class_names(classes: np.ndarray) -> None:
    """Refuse a class that has the name of samples without a prediction."""
    for label in filter(means_unknown, classes.tolist()):
        raise InputError(
            f"abstain_below writes {UNKNOWN_WORD!r} for samples below it, and a class is named "
            f"{label!r}. Rename the class, or mark its samples as -1 if their label is not known.",
            parameter="abstain_below",
        )


def abstain(predictions: np.ndarray, probabilities: np.ndarray, below: float | None) -> np.ndarray:
    """Return the predictions, with `unknown` for those below the probability.

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
    """Count predicted and unknown samples among those that count; None without abstention."""
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
