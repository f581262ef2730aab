"""MVAR: one robust regression per view on common labels, weighted by how well it fits."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from manyview.baselines.bases.baseline import POSITIVE
from manyview.baselines.bases.cards import CARDS
from manyview.baselines.solvers.mvar import adaptive_regression, is_wide, view_coefficients
from manyview.baselines.solvers.ridge import RegressionClassifier
from manyview.callbacks.context import FitContext
from manyview.data.labels import UNKNOWN, one_hot
from manyview.data.scaling import fit_scalers, scale_views
from manyview.data.views import MultiView
from manyview.numerics import project_to_simplex
from manyview.system.memory import GB, check_memory
from manyview.validation import Constraint, Number


@dataclass(kw_only=True, eq=False, repr=False)
class MVARClassifier(RegressionClassifier):
    """Fit one robust regression per view to labels that are common to all views and learned.

    Multi-view semi-supervised classification via adaptive regression (MVAR):

        min  sum_v alpha_v^r ( sum_i s_i |x_i W_v + b_v - f_i| + ridge |W_v|^2 )
        over W, b, alpha >= 0 with sum_v alpha_v = 1, and f_i

    where f_i is given for labeled samples and an unknown one-hot row for the others. The loss
    is not squared, so samples that fit no class have little influence. The steps follow the
    released code: labels, sample weights, regressions, view weights; b is penalized like W.

    It differs from that code in two points. The released stopping rule refers to a variable that
    does not exist, so 29 iterations always run; here the rule works as intended. Residuals are
    smoothed so that those of 1e-4 or less count as 0, which keeps the systems solvable. See
    `Baseline` for `scaling`.

    Parameters
    ----------
    ridge
        Weight of the penalty on W.
    labeled_weight
        s_i of labeled samples; it is 1 for unlabeled samples.
    power
        r, above 1: near 1 only the best view counts; for large r all views count alike.
    max_iter, tol
        Iterations stop when the last six objective values differ by less than `tol` times the
        largest of them, and after `max_iter` at the latest, as the released code always does.

    Attributes
    ----------
    label_distributions_ : [sample, class], one-hot for labeled samples; for the others the
        views' weighted prediction, projected to the nearest probabilities
    view_weights_ : [view], alpha; sums to 1
    coefficients_ : list of [feature + 1, class], W_v of each view, with b_v as the last row
    objective_ : list of float, by iteration
    n_iter_ : int

    Examples
    --------
    >>> views = [np.array([[0.0], [1.0], [8.0], [9.0]]), np.array([[5.0], [5.5], [2.0], [2.5]])]
    >>> model = MVARClassifier(scaling="standard").fit(views, ["low", None, "high", None])
    >>> model.predict(views).tolist()
    ['low', 'low', 'high', 'high']
    """

    ridge: float = 1e-3
    labeled_weight: float = 1e4
    power: float = 2.0
    max_iter: int = 30
    tol: float = 1e-6

    card = CARDS["mvar"]
    _parameter_constraints: ClassVar[dict[str, Constraint]] = {
        **RegressionClassifier._parameter_constraints,
        "labeled_weight": POSITIVE,
        "power": Number(above=1),
    }

    def _fit(self, views: MultiView, y_encoded: np.ndarray, context: FitContext) -> None:
        self._check_memory(views)
        self.scalers_ = fit_scalers(views, self.scaling)
        regression = adaptive_regression(
            list(scale_views(views, self.scalers_).values()),
            y_encoded,
            len(self.classes_),
            ridge=self.ridge,
            labeled_weight=self.labeled_weight,
            power=self.power,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        self.view_weights_, self.coefficients_ = regression.view_weights, regression.coefficients
        self.objective_, self.n_iter_ = regression.objective, len(regression.objective)
        self.label_distributions_ = project_to_simplex(regression.scores)
        self.label_distributions_[y_encoded != UNKNOWN] = one_hot(
            y_encoded[y_encoded != UNKNOWN], len(self.classes_)
        )

    def _predict_proba(self, views: MultiView) -> np.ndarray:
        features = scale_views(views, self.scalers_).values()
        weights = view_coefficients(self.view_weights_, self.power)
        scores = np.zeros((len(views), len(self.classes_)))
        for view, weight, both in zip(features, weights, self.coefficients_, strict=True):
            scores += weight / weights.sum() * (view @ both[:-1] + both[-1])
        return project_to_simplex(scores)

    def _check_memory(self, views: MultiView) -> None:
        n_samples = len(views)
        widths = [view.shape[1] for view in views]
        squares = [n_samples**2 if is_wide(n_samples, d) else n_samples * d for d in widths]
        largest = max(min(n_samples, d) ** 2 for d in widths)
        check_memory(
            8 * (sum(squares) + 2 * largest) / GB,
            f"mvar on {n_samples:,} samples in {views.n_views} views",
            "Leave out a view",
        )
