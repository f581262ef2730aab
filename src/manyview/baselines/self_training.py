"""Self-training: a support vector machine that believes its surest predictions."""

from collections.abc import Mapping
from math import ceil
from typing import Any

import numpy as np

from manyview.base.classifier import MethodCard, MultiViewClassifier
from manyview.baselines._concat import JoinedViews, join_views
from manyview.baselines.svm import SoftmaxSVC, check_kernel_memory, check_machine
from manyview.callbacks.context import FitContext
from manyview.data.labels import UNKNOWN, class_frequencies, class_weights
from manyview.data.scaling import Scaling, ViewScaler, scaling_by_view
from manyview.data.views import MultiView, View
from manyview.errors import InputError
from manyview.validation import check_choice, check_number

ROUNDING = 1e-9


class SelfTrainingSVMClassifier(MultiViewClassifier):
    """Train on the labels, believe the surest predictions, train again. Self-training.

    A support vector machine on the scaled views side by side is trained on the labeled
    samples; the surest share of its predictions is taken for labels; and so on until all samples
    are labeled. Not a method of the paper, but what a scikit-learn user would try first.

    A share, not a threshold on the probability, because the machine's probabilities are not
    calibrated: 0.75 would be nearly everybody with two classes and nobody with twenty.

    Parameters
    ----------
    selection
        Which predictions are believed. "by-class": the surest of each class, as many as its share
        among the given labels, so that no class swallows the others; as in co-training (Blum
        and Mitchell, 1998). "surest": the surest of all, as scikit-learn's
        `SelfTrainingClassifier` does with `criterion="k_best"`; a machine that favors the
        largest class, as on text with few labels, then soon knows no other.
    fraction_per_iter
        Share of the unlabeled samples that is labeled in each round, above 0, at most 1.
    kernel, penalty, gamma
        Of the machine, as in `SVMClassifier`.
    class_weight
        None, "balanced" (by the given labels), or a dict of class -> weight.
    scaling
        "unit", "standard", "rows", "tfidf" or "none" (see `fit_scaler`), for all views, or a list
        or a dict by name with one for each.
    random_state
        Unused; for one contract.

    Attributes
    ----------
    classes_ : [class]
    transduction_ : [sample], a label for every fitted sample: the prediction of the last machine
    label_distributions_ : [sample, class], softmax of its votes and margins; not calibrated
    pseudo_labels_ : [sample], class number the last machine was trained with
    labeled_iter_ : [sample], 0 where the label was given
    n_iter_ : int, number of rounds
    features_ : the scaled views side by side; the last machine is trained again from them when
        new samples come

    Examples
    --------
    >>> import numpy as np
    >>> views = [np.array([[0.0], [1.0], [8.0], [9.0]]), np.array([[5.0], [5.5], [2.0], [2.5]])]
    >>> model = SelfTrainingSVMClassifier().fit(views, ["low", None, "high", None])
    >>> model.transduction_.tolist()
    ['low', 'low', 'high', 'high']
    """

    card = MethodCard(
        name="self-training",
        title="Self-training",
        paper="Yarowsky: Unsupervised word sense disambiguation rivaling supervised methods. ACL",
        year=1995,
        cost="m^2 x d a round, ten rounds",
    )
    record_types = (JoinedViews, ViewScaler)
    takes_graphs = False

    def __init__(
        self,
        *,
        selection: str = "by-class",
        fraction_per_iter: float = 0.1,
        kernel: str = "rbf",
        penalty: float = 1.0,
        gamma: float | str = "scale",
        class_weight: str | Mapping[Any, float] | None = None,
        scaling: Scaling = "unit",
        random_state: int | None = None,
    ) -> None:
        self.selection = selection
        self.fraction_per_iter = fraction_per_iter
        self.kernel = kernel
        self.penalty = penalty
        self.gamma = gamma
        self.class_weight = class_weight
        self.scaling = scaling
        self.random_state = random_state

    def _check_parameters(self, views: MultiView) -> None:
        check_choice("selection", self.selection, ("by-class", "surest"))
        check_number("fraction_per_iter", self.fraction_per_iter, above=0)
        if self.fraction_per_iter > 1:
            raise InputError(
                f"fraction_per_iter must be at most 1; got {self.fraction_per_iter!r}."
            )
        check_machine(self.kernel, self.penalty, self.gamma)
        check_kernel_memory(len(views), self.card.name)
        scaling_by_view(self.scaling, views)

    def _fit(self, views: MultiView, y_encoded: np.ndarray, context: FitContext) -> None:
        self.joined_, self.features_ = join_views(views, self.scaling)
        weights = class_weights(self.class_weight, self.classes_, y_encoded)
        self.class_weights_ = None if weights is None else dict(enumerate(weights.tolist()))
        self.pseudo_labels_, self.labeled_iter_ = self_train(
            self._machine(),
            self.features_,
            y_encoded,
            n_a_round=ceil(self.fraction_per_iter * (y_encoded == UNKNOWN).sum()),
            shares=class_frequencies(y_encoded) if self.selection == "by-class" else None,
        )
        self.n_iter_ = int(self.labeled_iter_.max())
        self.label_distributions_ = self._last_machine().predict_proba(self.features_)

    def _predict_proba(self, views: MultiView) -> np.ndarray:
        return self._last_machine().predict_proba(self.joined_(views))

    def _last_machine(self) -> SoftmaxSVC:
        return self._machine().fit(self.features_, self.pseudo_labels_)

    def _machine(self) -> SoftmaxSVC:
        return SoftmaxSVC(
            kernel=self.kernel,
            penalty=self.penalty,
            gamma=self.gamma,
            class_weight=self.class_weights_,
        )


def self_train(
    machine: SoftmaxSVC,
    features: View,
    y_encoded: np.ndarray,
    *,
    n_a_round: int,
    shares: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Label `n_a_round` samples a round: class number and round of each, 0 where given.

    With `shares` [class] each class gets its share of a round, rounded up; else the surest of
    all samples are taken.
    """
    believed, in_round = y_encoded.copy(), np.zeros(len(y_encoded), dtype=np.int64)
    while (unlabeled := np.flatnonzero(believed == UNKNOWN)).size:
        is_labeled = believed != UNKNOWN
        machine.fit(features[is_labeled], believed[is_labeled])
        probabilities = machine.predict_proba(features[unlabeled])
        if shares is None:
            predictions = surest(probabilities, n_a_round)
        else:
            predictions = surest_by_class(probabilities, share_of_round(shares, n_a_round))
        chosen = unlabeled[predictions != UNKNOWN]
        believed[chosen] = predictions[predictions != UNKNOWN]
        in_round[chosen] = in_round.max() + 1
    return believed, in_round


def surest(probabilities: np.ndarray, n_chosen: int) -> np.ndarray:
    """Class of the surest samples, -1 for the others.

    Examples
    --------
    >>> surest(np.array([[0.6, 0.4], [0.1, 0.9], [0.5, 0.5]]), 2)
    array([ 0,  1, -1])
    """
    predictions = probabilities.argmax(axis=1)
    order = np.argsort(-probabilities.max(axis=1), kind="stable")
    predictions[order[n_chosen:]] = UNKNOWN
    return np.asarray(predictions)


def surest_by_class(probabilities: np.ndarray, n_by_class: np.ndarray) -> np.ndarray:
    """Class of the surest samples of each class, no more than asked for; -1 for the others.

    A sample that two classes want goes to the one that is surer of it.

    Examples
    --------
    >>> surest_by_class(np.array([[0.9, 0.1], [0.8, 0.2], [0.6, 0.4]]), np.array([1, 1]))
    array([ 0, -1,  1])
    """
    n_classes = probabilities.shape[1]
    predictions = [UNKNOWN] * len(probabilities)
    n_left = n_by_class.tolist()
    for pair in np.argsort(-probabilities, axis=None, kind="stable").tolist():
        sample, code = divmod(pair, n_classes)
        if predictions[sample] == UNKNOWN and n_left[code]:
            predictions[sample] = code
            n_left[code] -= 1
    return np.array(predictions)


def share_of_round(shares: np.ndarray, n_a_round: int) -> np.ndarray:
    """Divide a round among the classes, rounded up, so that none is ever left out.

    Examples
    --------
    >>> share_of_round(np.array([0.5, 0.3, 0.2]), 4)
    array([2, 2, 1])
    """
    return np.asarray(np.ceil(shares * n_a_round - ROUNDING).astype(np.int64))
