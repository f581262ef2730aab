"""Logistic regression on the standardized columns of all views."""

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from manyview.baselines.bases.baseline import ITERATIONS, POSITIVE
from manyview.baselines.bases.cards import CARDS
from manyview.baselines.bases.concatenated import many_classes_allowed
from manyview.baselines.bases.table import TableClassifier, present_means
from manyview.callbacks.context import FitContext
from manyview.data.labels import UNKNOWN, class_weights
from manyview.data.scaling import Scaling
from manyview.data.views import MultiView, View
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
        table = self._concatenate(views)
        self.column_means_ = present_means(table, views, self.concatenator_.scalers)
        table = self._fill(table, views, self.column_means_)
        is_labeled = y_encoded != UNKNOWN
        self.coef_, self.intercept_, self.n_iter_ = fit_linear(
            table[is_labeled],
            y_encoded[is_labeled],
            penalty=self.penalty,
            max_iter=self.max_iter,
            tol=self.tol,
            class_weight=class_weights(self.class_weight, self.classes_, y_encoded),
        )
        if self.n_iter_ >= self.max_iter:
            self._warn_not_converged(self.max_iter)
        self.label_distributions_ = self._probabilities(table)

    def _predict_proba(self, views: MultiView) -> np.ndarray:
        table = self.concatenator_(views)
        return self._probabilities(self._fill(table, views, self.column_means_))

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
) -> tuple[np.ndarray, np.ndarray, int]:
    """Return coefficients [feature, class], intercepts [class] and the number of iterations.

    Two classes have the same coefficients with opposite signs.
    """
    weights = None if class_weight is None else dict(enumerate(class_weight))
    regression = LogisticRegression(C=penalty, max_iter=max_iter, tol=tol, class_weight=weights)
    with many_classes_allowed(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the caller has its own
        regression.fit(features.astype(np.float64), y_encoded)
    coefficients, intercepts = regression.coef_, regression.intercept_
    if len(coefficients) == 1:
        coefficients = np.vstack([-coefficients, coefficients]) / 2
        intercepts = np.concatenate([-intercepts, intercepts]) / 2
    return np.ascontiguousarray(coefficients.T), intercepts, int(regression.n_iter_.max())
