"""Random forest: a vote of decision trees on the columns of all views."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from manyview.baselines.bases.baseline import POSITIVE_INT
from manyview.baselines.bases.cards import CARDS
from manyview.baselines.bases.table import TableClassifier, present_means
from manyview.baselines.solvers.growing import grow_forest, grow_held_out_forest
from manyview.baselines.solvers.trees import TreeEnsemble, dense_block
from manyview.callbacks.context import FitContext
from manyview.cross_fitting.mixing import log_probabilities
from manyview.data.labels import UNKNOWN, class_weights
from manyview.data.scaling import Scaling
from manyview.data.views import MultiView, View
from manyview.distributed.exchange import compute_by_blocks
from manyview.distributed.world import ALONE, World
from manyview.validation import Constraint, draw_seed

N_COMPARED = 200  # columns whose effects on a prediction are computed


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
    column_means_ : [feature]

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

    def fit_held_out(
        self,
        views: MultiView,
        y_encoded: np.ndarray,
        classes: np.ndarray,
        parts: np.ndarray,
        world: World = ALONE,
    ) -> np.ndarray:
        """Fit as `TableClassifier` does; predict by the trees that did not draw a sample."""
        self.classes_ = classes
        table = self._fitted_table(views)
        rows = np.flatnonzero(y_encoded != UNKNOWN)
        self.trees_, of_rows = grow_held_out_forest(
            table[rows], y_encoded[rows], **self._settings(y_encoded)
        )
        self.label_distributions_ = compute_by_blocks(
            world, table.shape[0], lambda own: self.trees_.mean(table[own])
        )
        held_out = np.full((len(y_encoded), len(classes)), np.nan)
        held_out[rows] = np.where(np.isfinite(of_rows), of_rows, 1 / len(classes))
        return np.where((parts >= 0)[:, None], held_out, np.nan)

    def _fit(self, views: MultiView, y_encoded: np.ndarray, context: FitContext) -> None:
        settings = self._settings(y_encoded)
        table = self._fitted_table(views)
        is_labeled = y_encoded != UNKNOWN
        weights = context.sample_weight
        self.trees_ = grow_forest(
            table[is_labeled],
            y_encoded[is_labeled],
            sample_weight=None if weights is None else weights[is_labeled],
            **settings,
        )
        self.label_distributions_ = self.trees_.mean(table)

    def _settings(self, y_encoded: np.ndarray) -> dict[str, Any]:
        return {
            "seed": draw_seed(self.random_state),
            "class_weight": class_weights(self.class_weight, self.classes_, y_encoded),
            "n_estimators": self.n_estimators,
            "min_samples_leaf": self.min_samples_leaf,
        }

    def _predict_proba(self, views: MultiView) -> np.ndarray:
        return self.trees_.mean(self._table(views, self.concatenator_(views)))

    def column_effects(self, views: MultiView, pair: tuple[int, int]) -> np.ndarray:
        """Return what each column adds, as `TableClassifier` says.

        Only columns that trees compare on the sample's way to their leaves can add something; of
        these, the `N_COMPARED` that most trees compare are looked at.
        """
        row = dense_block(self._table(views, self.concatenator_(views)), slice(0, 1))[0]
        compared = self.trees_.compared_columns(row)[:N_COMPARED]
        changed = np.tile(row, (len(compared) + 1, 1))
        changed[1 + np.arange(len(compared)), compared] = self.column_means_[compared]
        logits = log_probabilities(self.trees_.mean(changed))
        log_odds = logits[:, pair[0]] - logits[:, pair[1]]
        effects = np.zeros(len(row))
        effects[compared] = log_odds[0] - log_odds[1:]
        return effects

    def column_importance(self) -> np.ndarray:
        """Return how often the trees compare each column; see `TreeEnsemble.column_use`."""
        return self.trees_.column_use(self.concatenator_.n_columns)

    def check_learned(self) -> None:
        """Refuse trees that do not fit the views and classes."""
        super().check_learned()
        self.trees_.check(self.concatenator_.n_columns, len(self.classes_))
        values = self.trees_.values
        if values.min() < 0 or not np.allclose(values.sum(axis=1), 1):
            raise ValueError("the leaves of trees_ must hold fractions")

    def _fitted_table(self, views: MultiView) -> View:
        table = self._concatenate(views)
        self.column_means_ = present_means(table, views, self.concatenator_.scalers)
        return self._table(views, table)

    def _table(self, views: MultiView, table: View) -> View:
        return self._fill(table, views, np.full(table.shape[1], np.nan, dtype=np.float32))
