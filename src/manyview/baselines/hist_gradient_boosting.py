"""Histogram gradient boosting: decision trees that correct each other, on all columns."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from manyview.baselines.bases.baseline import (
    AUTO_OR_POSITIVE_INT,
    NON_NEGATIVE,
    POSITIVE,
    POSITIVE_INT,
)
from manyview.baselines.bases.cards import CARDS
from manyview.baselines.bases.table import TableClassifier
from manyview.baselines.solvers.growing import grow_boosting
from manyview.baselines.solvers.trees import TreeEnsemble
from manyview.baselines.svm import two_columns
from manyview.callbacks.context import FitContext
from manyview.data.labels import UNKNOWN, class_weights
from manyview.data.scaling import Scaling
from manyview.data.views import MultiView, View
from manyview.numerics import softmax
from manyview.validation import Constraint, WholeNumber, draw_seed

MAX_LEAF_SAMPLES = 20  # scikit-learn's own number


@dataclass(kw_only=True, eq=False, repr=False)
class BoostingClassifier(TableClassifier):
    """Add decision trees, each fitted to what the others leave. Histogram gradient boosting.

    scikit-learn's `HistGradientBoostingClassifier` on the concatenated raw views, without early
    stopping, which would hide labels. Views that a sample lacks are missing values, which every
    split sends to one side. Not a method of the paper, but what a scikit-learn user would try
    first. See `TableClassifier` for `class_weight` and `Baseline` for the other parameters.

    Parameters
    ----------
    max_iter, learning_rate
        Number of trees per class, and the factor of each tree.
    max_leaf_nodes
        Leaves of a tree, at most.
    min_samples_leaf
        Labeled samples in a leaf, at least. "auto" takes 20 as scikit-learn does, or fewer where
        classes have few labels (see `choose_min_samples`): with 20, 39 labels are never split.
    l2_regularization
        Weight of the squared leaf values.

    Attributes
    ----------
    trees_, baseline_ : the trees as arrays (see `TreeEnsemble`), and the scores without trees
    min_samples_leaf_, n_iter_ : int, the numbers that were used

    Examples
    --------
    >>> model = BoostingClassifier(max_iter=20)
    >>> model.fit([[0.0], [9.0], [1.0], [7.0]], ["low", "high", None, None]).transduction_
    array(['low', 'high', 'low', 'high'], dtype=object)
    """

    scaling: Scaling = "none"
    max_iter: int = 100
    learning_rate: float = 0.1
    max_leaf_nodes: int = 31
    min_samples_leaf: int | str = "auto"
    l2_regularization: float = 0.0

    card = CARDS["hist-gradient-boosting"]
    record_types = (*TableClassifier.record_types, TreeEnsemble)
    _parameter_constraints: ClassVar[dict[str, Constraint]] = {
        "max_iter": POSITIVE_INT,
        "learning_rate": POSITIVE,
        "max_leaf_nodes": WholeNumber(at_least=2),
        "min_samples_leaf": AUTO_OR_POSITIVE_INT,
        "l2_regularization": NON_NEGATIVE,
    }

    def _fit(self, views: MultiView, y_encoded: np.ndarray, context: FitContext) -> None:
        seed = draw_seed(self.random_state)
        table = self._table(views, self._concatenate(views))
        is_labeled, weights = y_encoded != UNKNOWN, context.sample_weight
        self.min_samples_leaf_ = (
            choose_min_samples(int(is_labeled.sum()), len(self.classes_))
            if isinstance(self.min_samples_leaf, str)
            else int(self.min_samples_leaf)
        )
        self.trees_, self.baseline_ = grow_boosting(
            table[is_labeled],
            y_encoded[is_labeled],
            seed=seed,
            class_weight=class_weights(self.class_weight, self.classes_, y_encoded),
            sample_weight=None if weights is None else weights[is_labeled],
            max_iter=self.max_iter,
            learning_rate=self.learning_rate,
            max_leaf_nodes=self.max_leaf_nodes,
            min_samples_leaf=self.min_samples_leaf_,
            l2_regularization=self.l2_regularization,
        )
        self.n_iter_ = self.max_iter
        self.label_distributions_ = self._probabilities(table)

    def _predict_proba(self, views: MultiView) -> np.ndarray:
        return self._probabilities(self._table(views, self.concatenator_(views)))

    def column_importance(self) -> np.ndarray:
        """Return how often the trees compare each column; see `TreeEnsemble.column_use`."""
        return self.trees_.column_use(self.concatenator_.n_columns)

    def check_learned(self) -> None:
        """Refuse trees that do not fit the views and classes."""
        super().check_learned()
        self.trees_.check(self.concatenator_.n_columns, 1)
        n_outputs = 1 if len(self.classes_) == 2 else len(self.classes_)
        if self.baseline_.shape != (n_outputs,) or len(self.trees_.roots) % n_outputs:
            raise ValueError(f"trees_ and baseline_ must have {n_outputs} outputs")

    def _table(self, views: MultiView, table: View) -> View:
        return self._fill(table, views, np.full(table.shape[1], np.nan, dtype=np.float32))

    def _probabilities(self, table: View) -> np.ndarray:
        scores = self.trees_.sums(table, self.baseline_)
        return softmax(two_columns(scores[:, 0]) if scores.shape[1] == 1 else scores)


def choose_min_samples(n_labeled: int, n_classes: int) -> int:
    """Choose the smallest leaf: a fourth of the mean number of labels per class, from 1 to 20.

    Examples
    --------
    >>> [choose_min_samples(n_labeled, 10) for n_labeled in (10, 100, 5000)]
    [1, 2, 20]
    """
    return max(1, min(MAX_LEAF_SAMPLES, n_labeled // (4 * n_classes)))
