"""Predictions with the labels that score them: of fitted samples, or of new ones."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from manyview.base.classifier import MultiViewClassifier
from manyview.data.alignment import align_labels
from manyview.data.label_values import is_known
from manyview.errors import InputError

NO_COLUMN = -1  # number of a class that no column of probabilities stands for


@dataclass(frozen=True)
class ScoredPredictions:
    """Class probabilities and true labels of the same samples.

    Attributes
    ----------
    y_true
        [sample] true labels.
    y_prob
        [sample, class] probabilities.
    classes
        [class]
    """

    y_true: np.ndarray
    y_prob: np.ndarray
    classes: np.ndarray

    @property
    def y_encoded(self) -> np.ndarray:
        """[sample] number of the true class; -1 for a class without a column."""
        number_of = {label: number for number, label in enumerate(self.classes.tolist())}
        return np.array([number_of.get(label, NO_COLUMN) for label in self.y_true.tolist()])

    @property
    def y_pred(self) -> np.ndarray:
        """[sample] predicted labels."""
        return np.asarray(self.classes[self.y_prob.argmax(axis=1)])

    @classmethod
    def of_estimator(cls, estimator: MultiViewClassifier, views: Any, y: Any) -> Self:
        """Return predictions of new samples, or without `views` of the fitted ones.

        Of the fitted samples, those count whose label the fit did not see and `y` knows. Without
        `y`, they are the labels that the fit itself held out.
        """
        check_is_fitted(estimator)
        if views is None and y is None:
            return cls._held_out(estimator)
        if y is None:
            raise InputError("y must hold the true labels of X; got None.", parameter="y")
        if views is not None:
            return cls.of_labels(y, estimator.predict_proba(views), estimator.classes_)
        n_samples = len(estimator.label_distributions_)
        labels = np.asarray(align_labels(y, estimator.sample_ids_))
        if labels.shape != (n_samples,):
            raise InputError(
                f"y must hold one label for each of the {n_samples:,} fitted samples, -1 or None "
                f"where unknown; got shape {labels.shape}. For new samples, pass X, too.",
                parameter="y",
            )
        counts = is_known(labels) & ~estimator.is_labeled_
        if not counts.any():
            raise InputError(
                "y must hold labels that the fit did not see, to score its predictions; got none. "
                "Hide some with hide_labels before the fit, or pass X and y of new samples.",
                parameter="y",
            )
        return cls(labels[counts], estimator.label_distributions_[counts], estimator.classes_)

    @classmethod
    def of_labels(cls, y_true: Any, y_prob: Any, classes: Any = None) -> Self:
        """Return predictions given as probabilities, without the samples of unknown label.

        `classes` names the columns; by default they are the sorted labels.
        """
        labels, chances = np.asarray(y_true), np.asarray(y_prob, dtype=np.float64)
        if chances.ndim == 1:  # probability of the second of two classes, as scikit-learn takes it
            chances = np.column_stack([1 - chances, chances])
        if labels.shape != chances.shape[:1]:
            raise InputError(
                f"y_true must hold one label per row of y_prob; got {labels.shape} and "
                f"{chances.shape}."
            )
        known = is_known(labels)
        names = np.unique(labels[known]) if classes is None else np.asarray(classes)
        if len(names) != chances.shape[1]:
            raise InputError(
                f"classes must name the {chances.shape[1]} columns of y_prob; got {len(names)}: "
                f"{', '.join(map(str, names[:5]))}. Pass classes=model.classes_.",
                parameter="classes",
            )
        if not known.any():
            raise InputError("y_true must hold at least one known label; all are unknown.")
        return cls(labels[known], chances[known], names)

    @classmethod
    def _held_out(cls, estimator: MultiViewClassifier) -> Self:
        crossed, calibrated = estimator.cross_fit_, estimator.calibration_
        if crossed is not None and len(crossed.samples):
            y_encoded, chances = crossed.y_encoded, crossed.probabilities
        elif calibrated is not None:
            y_encoded, chances = calibrated.y_encoded, calibrated.probabilities()
        else:
            raise InputError(
                "y must hold labels that the fit did not see, to score its predictions; got None. "
                "Pass them, or fit ManyviewClassifier with two or more labels per class, which "
                "hides them in turn.",
                parameter="y",
            )
        return cls(estimator.classes_[y_encoded], chances, estimator.classes_)
