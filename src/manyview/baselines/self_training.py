"""Self-training: a support vector machine that learns from its most confident predictions."""

from dataclasses import dataclass
from math import ceil
from typing import ClassVar

import numpy as np

from manyview.baselines.bases.cards import CARDS
from manyview.baselines.svm import (
    BaseSVMClassifier,
    SoftmaxSVC,
    TrainingData,
    check_kernel_memory,
)
from manyview.callbacks.context import FitContext
from manyview.data.labels import UNKNOWN, class_frequencies, class_weights
from manyview.data.views import MultiView, View
from manyview.validation import Choice, Constraint, Number

ROUNDING = 1e-9


@dataclass(kw_only=True, eq=False, repr=False)
class SelfTrainingSVMClassifier(BaseSVMClassifier):
    """Train on the labels, take the most confident predictions as labels, train again.

    A support vector machine on the concatenated scaled views is trained on the labeled samples.
    In each iteration a fixed fraction of the samples, those with the most confident predictions,
    get their prediction as label, until all samples are labeled. Not a method of the paper, but
    what a scikit-learn user would try first. See `BaseSVMClassifier` for the parameters of the
    machine and `Baseline` for `scaling`.

    A fraction instead of a probability threshold, because the probabilities of the machine are
    not calibrated: 0.75 would select nearly all samples with two classes and none with twenty.

    Parameters
    ----------
    selection
        "by-class" takes the most confident predictions of each class, in proportion to the
        class frequencies of the given labels, so that no class absorbs the others; as in
        co-training (Blum and Mitchell, 1998). "most-confident" takes the most confident of all,
        as scikit-learn's `SelfTrainingClassifier` does with `criterion="k_best"`; a machine that
        favors the largest class, as on text with few labels, then soon predicts no other.
    fraction_per_iter
        Fraction of the unlabeled samples that is labeled per iteration, above 0, at most 1.

    Attributes
    ----------
    transduction_ : [sample], the predictions of the last machine
    label_distributions_ : [sample, class], softmax of its votes and margins; not calibrated
    pseudo_labels_ : [sample], class numbers the last machine was trained with
    labeled_iter_ : [sample], iteration that labeled the sample; 0 where the label was given
    n_iter_ : int
    features_ : [sample, feature], the concatenated scaled views. `predict` trains the last
        machine again from them.

    Examples
    --------
    >>> model = SelfTrainingSVMClassifier(scaling="none", fraction_per_iter=0.5)
    >>> model.fit([[0.0], [2.0], [7.0], [9.0]], [0, -1, -1, 1]).labeled_iter_
    array([0, 1, 1, 0])
    """

    selection: str = "by-class"
    fraction_per_iter: float = 0.1

    card = CARDS["self-training"]
    _parameter_constraints: ClassVar[dict[str, Constraint]] = {
        **BaseSVMClassifier._parameter_constraints,
        "selection": Choice(("by-class", "most-confident")),
        "fraction_per_iter": Number(above=0, at_most=1),
    }

    def _check_parameters(self, views: MultiView) -> None:
        super()._check_parameters(views)
        check_kernel_memory(len(views), self.card.name)

    def _fit(self, views: MultiView, y_encoded: np.ndarray, context: FitContext) -> None:
        self.features_ = self._concatenate(views)
        weights = class_weights(self.class_weight, self.classes_, y_encoded)
        self.class_weights_ = None if weights is None else dict(enumerate(weights.tolist()))
        self.pseudo_labels_, self.labeled_iter_ = self_train(
            self._machine(self.class_weights_),
            self.features_,
            y_encoded,
            n_per_iter=ceil(self.fraction_per_iter * (y_encoded == UNKNOWN).sum()),
            frequencies=class_frequencies(y_encoded) if self.selection == "by-class" else None,
        )
        self.n_iter_ = int(self.labeled_iter_.max())
        self.label_distributions_ = self._last_machine().predict_proba(self.features_)

    def _training_data(self) -> TrainingData:
        return TrainingData(self.features_, self.pseudo_labels_, "features_", "pseudo_labels_")

    def _predict_proba(self, views: MultiView) -> np.ndarray:
        return self._last_machine().predict_proba(self.concatenator_(views))

    def _last_machine(self) -> SoftmaxSVC:
        return self._machine(self.class_weights_).fit(self.features_, self.pseudo_labels_)


def self_train(
    machine: SoftmaxSVC,
    features: View,
    y_encoded: np.ndarray,
    *,
    n_per_iter: int,
    frequencies: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Label `n_per_iter` samples per iteration until all are labeled.

    Parameters
    ----------
    frequencies
        [class] fraction of the samples of an iteration that each class gets, rounded up; None
        takes the most confident predictions of any class.

    Returns
    -------
    pseudo_labels : [sample] class number
    labeled_iter : [sample] iteration that labeled it, 0 where the label was given
    """
    pseudo_labels, labeled_iter = y_encoded.copy(), np.zeros(len(y_encoded), dtype=np.int64)
    while (unlabeled := np.flatnonzero(pseudo_labels == UNKNOWN)).size:
        is_labeled = pseudo_labels != UNKNOWN
        machine.fit(features[is_labeled], pseudo_labels[is_labeled])
        probabilities = machine.predict_proba(features[unlabeled])
        if frequencies is None:
            predictions = most_confident(probabilities, n_per_iter)
        else:
            n_by_class = class_quotas(frequencies, n_per_iter)
            predictions = most_confident_by_class(probabilities, n_by_class)
        chosen = unlabeled[predictions != UNKNOWN]
        pseudo_labels[chosen] = predictions[predictions != UNKNOWN]
        labeled_iter[chosen] = labeled_iter.max() + 1
    return pseudo_labels, labeled_iter


def most_confident(probabilities: np.ndarray, n_chosen: int) -> np.ndarray:
    """Return the class of the samples with the most confident predictions, -1 for the others.

    Examples
    --------
    >>> most_confident(np.array([[0.6, 0.4], [0.1, 0.9], [0.5, 0.5]]), 2)
    array([ 0,  1, -1])
    """
    predictions = probabilities.argmax(axis=1)
    order = np.argsort(-probabilities.max(axis=1), kind="stable")
    predictions[order[n_chosen:]] = UNKNOWN
    return np.asarray(predictions)


def most_confident_by_class(probabilities: np.ndarray, n_by_class: np.ndarray) -> np.ndarray:
    """Return the class of the most confident samples of each class, -1 for the others.

    A class gets at most `n_by_class` samples. A sample that two classes could get goes to the
    more probable one.

    Examples
    --------
    >>> most_confident_by_class(np.array([[0.9, 0.1], [0.8, 0.2], [0.6, 0.4]]), np.array([1, 1]))
    array([ 0, -1,  1])
    """
    n_classes = probabilities.shape[1]
    predictions = [UNKNOWN] * len(probabilities)
    n_left = n_by_class.tolist()
    for pair in np.argsort(-probabilities, axis=None, kind="stable").tolist():
        sample, number = divmod(pair, n_classes)
        if predictions[sample] == UNKNOWN and n_left[number]:
            predictions[sample] = number
            n_left[number] -= 1
    return np.array(predictions)


def class_quotas(frequencies: np.ndarray, n_samples: int) -> np.ndarray:
    """Divide samples among the classes by frequency, rounded up so that each class gets one.

    Examples
    --------
    >>> class_quotas(np.array([0.5, 0.3, 0.2]), 4)
    array([2, 2, 1])
    """
    return np.asarray(np.ceil(frequencies * n_samples - ROUNDING).astype(np.int64))
