"""Scorers that ignore unknown labels, for scikit-learn's `scoring=`."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from manyview.data.label_values import is_known
from manyview.errors import InputError
from manyview.runs.records import score

SMALLEST = float(np.finfo(np.float64).eps)  # probability of a class the model does not have


@dataclass(frozen=True)
class LabelScorer:
    """Score a fitted model on the rows whose label is known; higher is better.

    Called as scikit-learn calls a scorer, with the model, the views and the labels.
    """

    name: str

    def __call__(self, model: Any, views: Any, labels: Any) -> float:
        """Return the score."""
        values = np.asarray(labels)
        known = is_known(values)
        if not known.any():
            raise InputError(
                f"{self.name} needs a known label to score; all {len(values)} are unknown."
            )
        if self.name == "neg_log_loss":
            return -log_loss(model.predict_proba(views)[known], model.classes_, values[known])
        scores = score(np.asarray(model.predict(views)), values, known)
        return float(getattr(scores, self.name))


def log_loss(probabilities: np.ndarray, classes: np.ndarray, labels: np.ndarray) -> float:
    """Return the mean of -log(probability of the true label).

    Examples
    --------
    >>> round(log_loss(np.array([[0.25, 0.75]]), np.array(["a", "b"]), np.array(["b"])), 4)
    0.2877
    """
    column_of = {label: column for column, label in enumerate(classes.tolist())}
    given = [
        row[column_of[label]] if label in column_of else 0.0
        for row, label in zip(probabilities, labels.tolist(), strict=True)
    ]
    return float(-np.log(np.maximum(given, SMALLEST)).mean())


SCORERS = {
    name: LabelScorer(name)
    for name in ("accuracy", "balanced_accuracy", "macro_f1", "neg_log_loss")
}
