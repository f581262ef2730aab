"""Folds of the known labels: score a model on them, and compare two models."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from manyview.base.classifier import MultiViewClassifier
from manyview.data.cross_validation import LabelHidingSplit, TransductiveViews
from manyview.tuning.scorers import LabelScorer


@dataclass(frozen=True)
class Folds:
    """Splits of the known labels, the same for every model."""

    samples: TransductiveViews
    labels: np.ndarray
    splits: tuple[tuple[np.ndarray, np.ndarray], ...]
    scorer: LabelScorer

    @classmethod
    def of(
        cls,
        samples: TransductiveViews,
        labels: np.ndarray,
        split: LabelHidingSplit,
        scorer: LabelScorer,
    ) -> "Folds":
        """Split the known labels."""
        return cls(samples, labels, tuple(split.split(samples, labels)), scorer)

    def score(self, model: MultiViewClassifier) -> list[float]:
        """Fit the model on all samples per fold, and score it on the labels hidden there."""
        return [self._score_one(model, train, test) for train, test in self.splits]

    def _score_one(self, model: MultiViewClassifier, train: np.ndarray, test: np.ndarray) -> float:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(self.samples[train], self.labels[train])
        curve = model.fit_summary().training_curve
        if curve is not None and curve.stopped == "interrupted":
            raise KeyboardInterrupt  # a fit ends early on Ctrl-C; here it ends the tuning
        return self.scorer(model, self.samples[test], self.labels[test])


@dataclass(frozen=True)
class Gain:
    """Difference of two models' scores on the same folds, with its standard error."""

    mean: float
    standard_error: float

    @classmethod
    def between(cls, scores: Sequence[float], others: Sequence[float]) -> "Gain":
        """Compare fold by fold.

        Examples
        --------
        >>> Gain.between([0.75, 0.5], [0.5, 0.5])
        Gain(mean=0.125, standard_error=0.125)
        """
        differences = np.asarray(scores) - np.asarray(others)
        spread = float(differences.std(ddof=1)) if len(differences) > 1 else float("inf")
        return cls(float(differences.mean()), spread / sqrt(len(differences)))

    @property
    def is_clear(self) -> bool:
        """Whether the gain is larger than its standard error."""
        return self.mean > max(self.standard_error, 1e-9)
