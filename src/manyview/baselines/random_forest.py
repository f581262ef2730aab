"""Random forest: a vote of decision trees on the columns of all views."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from manyview.baselines.bases.baseline import POSITIVE_INT
from manyview.baselines.bases.cards import CARDS
from manyview.baselines.bases.table import TableClassifier
from manyview.baselines.solvers.trees import TreeEnsemble, grow_forest
from manyview.callbacks.context import FitContext
from manyview.data.labels import UNKNOWN, class_weights
from manyview.data.scaling import Scaling
from manyview.data.views import MultiView, View
from manyview.validation import Constraint, draw_seed


@dataclass(kw_only=True, eq=False, repr=False)
class ForestClassifier(TableClassifier):
    """Average the class fractions of many randomized decision trees. Random forest.

    scikit-learn's `RandomForestClassifier` on the concatenated raw views. Views that a sample
    lacks are missing values, which every split sends to one side. Not a method of the paper, but
    what a scikit-learn user would try first. See `TableClassifier` for `class_weight` and
    `Baseline` for the other parameters.

    Parameters
    ----------
    n_estimators
        Number of trees.
    min_samples_leaf
        Labeled samples in a leaf, at least.

    Attributes
    ----------
    label_distributions_ : [sample, class], mean fractions; those of labeled samples are too sure
    trees_ : the trees as arrays; see `TreeEnsemble`

    Examples
    --------
    >>> model = ForestClassifier(n_estimators=20, random_state=0)
    >>> model.fit([[0.0], [9.0], [1.0], [7.0]], ["low", "high", None, None]).transduction_
    array(['low', 'high', 'low', 'high'], dtype=object)
    """

    scaling: Scaling = "none"
    n_estimators: int = 300
    min_samples_leaf: int = 1

    card = CARDS["random-forest"]
    record_types = (*TableClassifier.record_types, TreeEnsemble)
    _parameter_constraints: ClassVar[dict[str, Constraint]] = {
        "n_estimators": POSITIVE_INT,
        "min_samples_leaf": POSITIVE_INT,
    }

    def _fit(self, views: MultiView, y_encoded: np.ndarray, context: FitContext) -> None:
        seed = draw_seed(self.random_state)
        table = self._table(views, self._concatenate(views))
        is_labeled = y_encoded != UNKNOWN
        self.trees_ = grow_forest(
            table[is_labeled],
            y_encoded[is_labeled],
            seed=seed,
            class_weight=class_weights(self.class_weight, self.classes_, y_encoded),
            n_estimators=self.n_estimators,
            min_samples_leaf=self.min_samples_leaf,
        )
        self.label_distributions_ = self.trees_.mean(table)

    def _predict_proba(self, views: MultiView) -> np.ndarray:
        return self.trees_.mean(self._table(views, self.concatenator_(views)))

    def check_learned(self) -> None:
        """Refuse trees that do not fit the views and classes."""
        super().check_learned()
        self.trees_.check(self.concatenator_.n_columns, len(self.classes_))
        values = self.trees_.values
        if values.min() < 0 or not np.allclose(values.sum(axis=1), 1):
            raise ValueError("the leaves of trees_ must hold fractions")

    def _table(self, views: MultiView, table: View) -> View:
        return self._fill(table, views, np.full(table.shape[1], np.nan, dtype=np.float32))
