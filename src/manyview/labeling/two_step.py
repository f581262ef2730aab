"""A classifier that predicts first and cross-fits later, for a person who waits for predictions.

    fit -> predictions, mixed by the weights of the last cross-fit
    complete -> new weights, new predictions, and how good they are by estimate

Cross-fitting takes longer than the fit itself, and one more label hardly changes what it finds.
It may therefore be paused when newer labels come: folds that are done are kept, and the next
`complete` goes on with the labels it has started with. The one after it takes the newer labels.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import torch

from manyview.data.labels import UNKNOWN
from manyview.data.views import MultiView
from manyview.estimators.cross_fit import CrossFit, TableLearner
from manyview.estimators.manyview import ManyviewClassifier
from manyview.network.prepared import PreparedInputs
from manyview.system.threads import threads_for


@dataclass
class _Folds:
    """A cross-fit that may be paused: the labels it hides, and the folds that are done."""

    views: MultiView
    y_encoded: np.ndarray
    classes: np.ndarray
    predict: Callable[[np.ndarray, int], np.ndarray]
    seed: int
    check: Callable[[], None] = lambda: None
    done: dict[int, np.ndarray] = field(default_factory=dict)

    def logits(self, y_shown: np.ndarray, fold: int) -> np.ndarray:
        """Return the logits of a fold; call `check` before one that is not done."""
        if fold not in self.done:
            self.check()
            self.done[fold] = self.predict(y_shown, fold)
        return self.done[fold]

    def is_of(self, y_encoded: np.ndarray, classes: np.ndarray) -> bool:
        """Whether its labels are still given, and its classes those of the model."""
        is_hidden = self.y_encoded != UNKNOWN
        return np.array_equal(self.classes, classes) and np.array_equal(
            self.y_encoded[is_hidden], y_encoded[is_hidden]
        )


class TwoStepClassifier(ManyviewClassifier):
    """`ManyviewClassifier` whose `fit` leaves cross-fitting to `complete`.

    A fit that is followed by `complete` gives what a fit of `ManyviewClassifier` gives.

    Examples
    --------
    >>> from manyview import hide_labels, make_multiview_classification
    >>> views, truth = make_multiview_classification(60, 2, class_sep=3, random_state=0)
    >>> labels = hide_labels(truth, 0.3, random_state=0)
    >>> model = TwoStepClassifier(random_state=0, warm_start=True).fit(views, labels)
    >>> model.cross_fit_ is None, model.is_pending
    (True, True)
    >>> model.complete()
    >>> model.cross_fit_ is None, model.is_pending
    (False, False)
    """

    _folds: _Folds | None = None  # that are not all done
    _of_network: tuple[np.ndarray, float]  # its own predictions, and their temperature
    _y_used: np.ndarray  # labels of the last fit, without those that the audit left out
    _mixture: tuple[CrossFit, tuple[TableLearner, ...], dict[str, np.ndarray]] | None = None
    _mixed_classes: np.ndarray

    @property
    def is_pending(self) -> bool:
        """Whether `complete` has something to do."""
        return self._folds is not None

    def complete(self, check: Callable[[], None] = lambda: None) -> None:
        """Cross-fit, and mix the predictions by what it finds.

        `check` is called before every fold, and may raise to pause; predictions are then as they
        were.
        """
        folds = self._folds
        if folds is None:
            return
        mixed = self.label_distributions_
        folds.check = check
        self.label_distributions_ = self._of_network[0]
        try:
            with threads_for(len(folds.views)):
                found, learners = self._hide_in_turn(
                    folds.views, folds.y_encoded, folds.logits, folds.seed
                )
        except BaseException:
            self.label_distributions_ = mixed
            raise
        table_logits = {one.name: one.take_fitted_logits() for one in learners}
        self._mixture, self._mixed_classes = (found, learners, table_logits), self.classes_
        is_latest = np.array_equal(folds.y_encoded, self._y_used)
        self._folds = None if is_latest else replace(folds, y_encoded=self._y_used, done={})
        self._mix_by_last()
        self.transduction_ = self.classes_[self.label_distributions_.argmax(axis=1)]

    def _cross_fit(
        self,
        views: MultiView,
        prepared: PreparedInputs,
        y_encoded: np.ndarray,
        generator: torch.Generator,
        *,
        is_complete: bool,
    ) -> None:
        self._unmix()
        if not self._can_cross_fit(is_complete):
            self._folds = None
            return
        self._of_network, self._y_used = (self.label_distributions_, self.temperature_), y_encoded
        if self._folds is None or not self._folds.is_of(y_encoded, self.classes_):
            predict = partial(self._held_out_logits, prepared, generator)
            seed = generator.initial_seed()
            self._folds = _Folds(views, y_encoded, self.classes_, predict, seed)
        if self._mixture is not None and np.array_equal(self._mixed_classes, self.classes_):
            self._mix_by_last()

    def _mix_by_last(self) -> None:
        """Mix the network's predictions by the weights of the last cross-fit."""
        assert self._mixture is not None
        self.label_distributions_, self.temperature_ = self._of_network
        self._mix(*self._mixture, self._y_used)
