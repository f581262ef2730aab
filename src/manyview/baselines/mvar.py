"""MVAR: one robust regression a view, all with the same labels, weighted by how well they fit."""

import numpy as np

from manyview.base.classifier import MethodCard, MultiViewClassifier
from manyview.baselines._mvar import adaptive_regression, importance, is_wide
from manyview.callbacks.context import FitContext
from manyview.data.labels import UNKNOWN, one_hot
from manyview.data.scaling import Scaling, ViewScaler, fit_scalers, scale_views, scaling_by_view
from manyview.data.views import MultiView
from manyview.numerics import project_to_simplex
from manyview.system.memory import GB, check_memory
from manyview.validation import check_number, check_whole_number


class MVARClassifier(MultiViewClassifier):
    """Fit one robust regression a view to labels that all views share and improve.

    Multi-view semi-supervised classification via adaptive regression (MVAR):

        min  sum_v alpha_v^r ( sum_i s_i |x_i W_v + b_v - f_i| + ridge |W_v|^2 )
        over W, b, alpha >= 0 with sum_v alpha_v = 1, and f_i

    where f_i is given for labeled samples and a one-hot row to be found for the others. The
    loss is not squared, so samples that fit no class pull little. Steps follow the released
    code: labels, sample weights, regressions, view weights; b is penalized like W there.

    It differs in two points. The released stop rule names a variable that does not exist, so
    29 iterations are always run; here it works as meant. And residuals are smoothed so that
    those of 1e-4 or less count as none, which keeps the systems solvable.

    Parameters
    ----------
    ridge
        Weight of the size of W.
    labeled_weight
        s_i of labeled samples; unlabeled ones have 1.
    power
        r, above 1: near 1 the best view counts alone, far above all count alike.
    max_iter, tol
        Learning stops when the last six objective values differ by less than `tol` of their
        size, at the latest after `max_iter` iterations, as the released code always does.
    scaling
        "unit", "standard", "rows", "tfidf" or "none" (see `fit_scaler`), for all views, or a list
        or a dict by name with one for each.
    random_state
        Unused; for one contract.

    Attributes
    ----------
    classes_ : [class]
    transduction_ : [sample], a label for every fitted sample
    label_distributions_ : [sample, class], one-hot for labeled samples; for the others the
        views' weighted prediction, moved to the nearest probabilities
    view_weights_ : [view], alpha; sums to 1
    coefficients_ : list of [feature + 1, class], W_v of each view above its b_v
    objective_ : list of float, by iteration
    n_iter_ : int

    Examples
    --------
    >>> import numpy as np
    >>> views = [np.array([[0.0], [1.0], [8.0], [9.0]]), np.array([[5.0], [5.5], [2.0], [2.5]])]
    >>> MVARClassifier().fit(views, ["low", None, "high", None]).transduction_.tolist()
    ['low', 'low', 'high', 'high']
    """

    card = MethodCard(
        name="mvar",
        title="MVAR",
        paper="Tao, Hou, Nie, Zhu, Yi: Scalable multi-view semi-supervised classification via "
        "adaptive regression. IEEE Transactions on Image Processing",
        year=2017,
        cost="m x d^2 + d^3 a view and iteration, or m^3 where there are more features",
    )
    record_types = (ViewScaler,)
    takes_graphs = False

    def __init__(
        self,
        *,
        ridge: float = 1e-3,
        labeled_weight: float = 1e4,
        power: float = 2.0,
        max_iter: int = 30,
        tol: float = 1e-6,
        scaling: Scaling = "unit",
        random_state: int | None = None,
    ) -> None:
        self.ridge = ridge
        self.labeled_weight = labeled_weight
        self.power = power
        self.max_iter = max_iter
        self.tol = tol
        self.scaling = scaling
        self.random_state = random_state

    def _check_parameters(self, views: MultiView) -> None:
        check_number("ridge", self.ridge, above=0)
        check_number("labeled_weight", self.labeled_weight, above=0)
        check_number("power", self.power, above=1)
        check_whole_number("max_iter", self.max_iter, at_least=1)
        check_number("tol", self.tol, at_least=0)
        scaling_by_view(self.scaling, views)

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
        shares = importance(self.view_weights_, self.power)
        scores = np.zeros((len(views), len(self.classes_)))
        for view, share, both in zip(features, shares, self.coefficients_, strict=True):
            scores += share / shares.sum() * (view @ both[:-1] + both[-1])
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
