"""AWDR: views weighted while a regression with a margin is learned."""

from collections.abc import Sequence
from warnings import warn

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from manyview.base.classifier import MethodCard, MultiViewClassifier
from manyview.baselines._awdr import discriminative_regression
from manyview.baselines.knn import check_n_voters, n_voters, vote_shares
from manyview.callbacks.context import FitContext
from manyview.data.labels import UNKNOWN
from manyview.data.scaling import Scaling, ViewScaler, fit_scalers, scale_views, scaling_by_view
from manyview.data.views import MultiView, View
from manyview.system.memory import GB, check_memory
from manyview.validation import check_number, check_whole_number


class AWDRClassifier(MultiViewClassifier):
    """Weigh the views while regressing the labels, then vote in the space of the classes.

    Adaptive-weighting discriminative regression (AWDR) learns from the labeled samples alone:

        min  |X W + 1 b^T - (Y + Y * M)|^2 + ridge sum_v |W_v|^2 / delta_v
        over W, b, M >= 0, delta >= 0 with sum_v delta_v = 1

    where Y holds +1 for a sample's class and -1 for the others, and M lets predictions beyond
    their mark go unpunished. The three steps are closed forms. A sample's class is then the
    vote of its nearest labeled samples in the space X W + b.

    The published form weighs the features; this one is equal to it, and is that of the
    released code, but for the number of classes, there the largest label in the training set.

    Parameters
    ----------
    ridge
        Weight of the size of W.
    n_neighbors
        Number of voters; "auto" takes 5, or fewer where classes have fewer labels (see
        `choose_n_voters`). Where fewer samples are labeled, all of them vote.
    max_iter, tol
        Learning stops when an iteration changes W, b and delta by a squared length below
        `tol`, at the latest after `max_iter`.
    scaling
        "unit", "standard", "rows", "tfidf" or "none" (see `fit_scaler`), for all views, or a list
        or a dict by name with one for each.
    random_state
        Unused; for one contract.

    Attributes
    ----------
    classes_ : [class]
    transduction_ : [sample], a label for every fitted sample
    label_distributions_ : [sample, class], shares of the votes
    view_weights_ : [view], delta; sums to 1
    coefficients_ : list of [feature, class], W_v of each view
    intercept_ : [class], b
    labeled_scores_, labeled_codes_ : the voters in the space of the classes, their classes
    objective_ : list of float, by iteration
    n_iter_, n_neighbors_ : int

    Examples
    --------
    >>> import numpy as np
    >>> views = [np.array([[0.0], [1.0], [8.0], [9.0]]), np.array([[5.0], [5.5], [2.0], [2.5]])]
    >>> AWDRClassifier().fit(views, ["low", None, "high", None]).transduction_.tolist()
    ['low', 'low', 'high', 'high']
    """

    card = MethodCard(
        name="awdr",
        title="AWDR",
        paper="Yang, Deng, Nie: Adaptive-weighting discriminative regression for multi-view "
        "classification. Pattern Recognition",
        year=2019,
        cost="l^2 x d once, min(l, d)^3 an iteration",
    )
    record_types = (ViewScaler,)
    takes_graphs = False

    def __init__(
        self,
        *,
        ridge: float = 1.0,
        n_neighbors: int | str = "auto",
        max_iter: int = 200,
        tol: float = 5e-3,
        scaling: Scaling = "unit",
        random_state: int | None = None,
    ) -> None:
        self.ridge = ridge
        self.n_neighbors = n_neighbors
        self.max_iter = max_iter
        self.tol = tol
        self.scaling = scaling
        self.random_state = random_state

    def _check_parameters(self, views: MultiView) -> None:
        check_number("ridge", self.ridge, above=0)
        check_n_voters(self.n_neighbors)
        check_whole_number("max_iter", self.max_iter, at_least=1)
        check_number("tol", self.tol, at_least=0)
        scaling_by_view(self.scaling, views)

    def _fit(self, views: MultiView, y_encoded: np.ndarray, context: FitContext) -> None:
        is_labeled = y_encoded != UNKNOWN
        self._check_memory(views, int(is_labeled.sum()))
        self.scalers_ = fit_scalers(views, self.scaling)
        features = list(scale_views(views, self.scalers_).values())
        self.labeled_codes_ = y_encoded[is_labeled]
        signs = np.where(self.labeled_codes_[:, None] == np.arange(len(self.classes_)), 1.0, -1.0)
        regression = discriminative_regression(
            [view[is_labeled] for view in features],
            signs,
            ridge=self.ridge,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        if not regression.has_converged:
            warn(
                f"AWDR did not settle in max_iter={self.max_iter} iterations; raise max_iter, or "
                "tol.",
                ConvergenceWarning,
                stacklevel=3,
            )
        self.coefficients_, self.intercept_ = regression.coefficients, regression.intercept
        self.view_weights_, self.objective_ = regression.view_weights, regression.objective
        self.n_iter_ = len(self.objective_)
        self.n_neighbors_ = n_voters(self.n_neighbors, len(self.labeled_codes_), len(self.classes_))
        scores = self._scores(features)
        self.labeled_scores_ = scores[is_labeled]
        self.label_distributions_ = self._votes(scores)

    def _predict_proba(self, views: MultiView) -> np.ndarray:
        return self._votes(self._scores(list(scale_views(views, self.scalers_).values())))

    def _scores(self, features: Sequence[View]) -> np.ndarray:
        """Bring samples into the space of the classes: X W + b, [sample, class]."""
        products = [v @ w for v, w in zip(features, self.coefficients_, strict=True)]
        return np.asarray(sum(products) + self.intercept_)

    def _votes(self, scores: np.ndarray) -> np.ndarray:
        return vote_shares(
            scores,
            self.labeled_scores_,
            self.labeled_codes_,
            n_neighbors=self.n_neighbors_,
            n_classes=len(self.classes_),
        )

    def _check_memory(self, views: MultiView, n_labeled: int) -> None:
        n_features = views.shape[1]
        if n_features < n_labeled:
            needed = n_labeled * n_features + 3 * n_features**2
        else:
            needed = (views.n_views + 3) * n_labeled**2
        check_memory(
            8 * needed / GB,
            f"awdr on {n_labeled:,} labeled samples in {views.n_views} views",
            "Label fewer samples",
        )
