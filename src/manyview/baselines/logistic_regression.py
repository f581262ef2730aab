"""Logistic regression on the standardized columns of all views."""

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from manyview.baselines.bases.baseline import ITERATIONS, POSITIVE
from manyview.baselines.bases.cards import CARDS
from manyview.baselines.bases.concatenated import many_classes_allowed
from manyview.baselines.bases.table import TableClassifier, present_means
from manyview.baselines.solvers.trees import dense_block
from manyview.callbacks.context import FitContext
from manyview.data.labels import UNKNOWN, class_weights
from manyview.data.scaling import Scaling
from manyview.data.views import MultiView, View
from manyview.distributed.world import ALONE, World
from manyview.numerics import softmax
from manyview.validation import Constraint


@dataclass(kw_only=True, eq=False, repr=False)
class LogisticRegressionClassifier(TableClassifier):
    """Separate the classes by a linear function of all columns. Multinomial logistic regression.

    scikit-learn's `LogisticRegression` on the concatenated scaled views: columns standardized,
    each view divided by the root of its width. A sample that lacks a view has the mean of each of
    its columns. Not a method of the paper, but what a scikit-learn user would try first. See
    `TableClassifier` for `class_weight` and `Baseline` for the other parameters.

    Parameters
    ----------
    penalty
        C, the weight of the labels against the squared coefficients.
    max_iter, tol
        Iterations of the solver stop when no gradient is above `tol`, and after `max_iter` at the
        latest.
    random_state
        Unused: nothing is drawn.

    Attributes
    ----------
    coef_, intercept_ : [feature, class] and [class]
    column_means_ : [feature], in place of the features of views that a sample lacks

    Examples
    --------
    >>> model = LogisticRegressionClassifier()
    >>> model.fit([[0.0], [9.0], [1.0], [7.0]], ["low", "high", None, None]).transduction_
    array(['low', 'high', 'low', 'high'], dtype=object)
    """

    scaling: Scaling = "columns"
    penalty: float = 10.0
    max_iter: int = 1000
    tol: float = 1e-6

    card = CARDS["logistic-regression"]
    _parameter_constraints: ClassVar[dict[str, Constraint]] = {"penalty": POSITIVE, **ITERATIONS}

    def _fit(self, views: MultiView, y_encoded: np.ndarray, context: FitContext) -> None:
        self._fit_table(self._filled_table(views), y_encoded, context.sample_weight)

    def fit_held_out(
        self,
        views: MultiView,
        y_encoded: np.ndarray,
        classes: np.ndarray,
        parts: np.ndarray,
        world: World = ALONE,
    ) -> np.ndarray:
        """Fit as `TableClassifier` says; each part is predicted by a fit without it."""
        self.classes_ = classes
        table = self._filled_table(views)
        held_out = np.full((len(y_encoded), len(classes)), np.nan)
        for part in np.unique(parts[parts >= 0]).tolist():
            is_hidden = parts == part
            self._fit_table(table, np.where(is_hidden, UNKNOWN, y_encoded))
            held_out[is_hidden] = self.label_distributions_[is_hidden]
        self._fit_table(table, y_encoded)
        return held_out

    def _filled_table(self, views: MultiView) -> View:
        table = self._concatenate(views)
        self.column_means_ = present_means(table, views, self.concatenator_.scalers)
        return self._fill(table, views, self.column_means_)

    def _fit_table(
        self, table: View, y_encoded: np.ndarray, sample_weight: np.ndarray | None = None
    ) -> None:
        is_labeled = y_encoded != UNKNOWN
        self.coef_, self.intercept_, self.n_iter_ = fit_linear(
            table[is_labeled],
            y_encoded[is_labeled],
            penalty=self.penalty,
            max_iter=self.max_iter,
            tol=self.tol,
            class_weight=class_weights(self.class_weight, self.classes_, y_encoded),
            sample_weight=None if sample_weight is None else sample_weight[is_labeled],
        )
        if self.n_iter_ >= self.max_iter:
            self._warn_not_converged(self.max_iter)
        self.label_distributions_ = self._probabilities(table)

    def _predict_proba(self, views: MultiView) -> np.ndarray:
        return self._probabilities(self._new_table(views))

    def _new_table(self, views: MultiView) -> View:
        return self._fill(self.concatenator_(views), views, self.column_means_)

    def column_effects(self, views: MultiView, pair: tuple[int, int]) -> np.ndarray:
        """Return what each column adds, as `TableClassifier` says."""
        row = dense_block(self._new_table(views), slice(0, 1))[0]
        first, second = pair
        return np.asarray(
            (row - self.column_means_) * (self.coef_[:, first] - self.coef_[:, second])
        )

    def column_importance(self) -> np.ndarray:
        """Return the size of the coefficients for a standardized column, as a fraction.

        The columns of a view are standardized and then divided by the root of their number, so
        this is the coefficient times the spread of the column.
        """
        widths = [
            scaler.n_columns
            for scaler in self.concatenator_.scalers.values()
            for _ in range(scaler.n_columns)
        ]
        sizes = np.abs(self.coef_).mean(axis=1) / np.sqrt(widths)
        return np.asarray(sizes / (sizes.sum() or 1.0))

    def _probabilities(self, table: View) -> np.ndarray:
        return softmax(np.asarray(table @ self.coef_ + self.intercept_))


def fit_linear(
    features: View,
    y_encoded: np.ndarray,
    *,
    penalty: float,
    max_iter: int,
    tol: float,
    class_weight: np.ndarray | None = None,
    sample_weight: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray, int]:
    """Return coefficients [feature, class], intercepts [class] and the number of iterations.

    Two classes have the same coefficients with opposite signs.
    """
    from sklearn.linear_model import LogisticRegression

    weights = None if class_weight is None else dict(enumerate(class_weight))
    regression = LogisticRegression(C=penalty, max_iter=max_iter, tol=tol, class_weight=weights)
    # The solver's vectors are too short for threads, which would wait for each other.
    with many_classes_allowed(), warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore", ConvergenceWarning)  # the caller has its own
        regression.fit(features.astype(np.float64), y_encoded, sample_weight)
    coefficients, intercepts = regression.coef_, regression.intercept_
    if len(coefficients) == 1:
        coefficients = np.vstack([-coefficients, coefficients]) / 2
        intercepts = np.concatenate([-intercepts, intercepts]) / 2
    return np.ascontiguousarray(coefficients.T), intercepts, int(regression.n_iter_.max())
