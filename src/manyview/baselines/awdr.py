"""AWDR: view weights learned together with a regression with margins."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from manyview.baselines.bases.baseline import AUTO_OR_POSITIVE_INT
from manyview.baselines.bases.cards import CARDS
from manyview.baselines.knn import n_voters, vote_fractions
from manyview.baselines.solvers.awdr import discriminative_regression
from manyview.baselines.solvers.ridge import RegressionClassifier
from manyview.callbacks.context import FitContext
from manyview.data.labels import UNKNOWN
from manyview.data.scaling import fit_scalers, scale_views
from manyview.data.views import MultiView, View
from manyview.system.memory import GB, check_memory
from manyview.validation import Constraint


@dataclass(kw_only=True, eq=False, repr=False)
class AWDRClassifier(RegressionClassifier):
    """Weight the views while regressing the labels, then vote in the space of the classes.

    Adaptive-weighting discriminative regression (AWDR) learns from the labeled samples only:

        min  |X W + 1 b^T - (Y + Y * M)|^2 + ridge sum_v |W_v|^2 / delta_v
        over W, b, M >= 0, delta >= 0 with sum_v delta_v = 1

    where Y holds +1 for a sample's class and -1 for the others, and M removes the penalty on
    predictions beyond their target. Each of the three steps has a closed form. A sample's class
    is then the vote of its nearest labeled samples in the space X W + b.

    The published form weights the features. This equivalent form is that of the released code,
    except that the released code takes the largest training label as the number of classes. See
    `RegressionClassifier` for `ridge` and `Baseline` for `scaling`.

    Parameters
    ----------
    n_neighbors
        Number of voters, as in `KNNClassifier`.
    max_iter, tol
        Iterations stop when one changes W, b and delta by a squared length below `tol`, and
        after `max_iter` at the latest.

    Attributes
    ----------
    label_distributions_ : [sample, class], fractions of the votes
    view_weights_ : [view], delta; sums to 1
    coefficients_ : list of [feature, class], W_v of each view
    intercept_ : [class], b
    labeled_scores_, labeled_y_ : the voters in the space of the classes, and their class numbers
    objective_ : list of float, by iteration
    n_iter_, n_neighbors_ : int

    Examples
    --------
    >>> informative = np.array([[0.0], [9.0], [1.0], [8.0]])
    >>> model = AWDRClassifier(scaling="none").fit([informative, np.ones((4, 1))], [0, 1, -1, -1])
    >>> model.transduction_, model.view_weights_.round(2)
    (array([0, 1, 0, 1]), array([1., 0.]))
    """

    ridge: float = 1.0
    n_neighbors: int | str = "auto"
    max_iter: int = 200
    tol: float = 5e-3

    card = CARDS["awdr"]
    _parameter_constraints: ClassVar[dict[str, Constraint]] = {
        **RegressionClassifier._parameter_constraints,
        "n_neighbors": AUTO_OR_POSITIVE_INT,
    }

    def _fit(self, views: MultiView, y_encoded: np.ndarray, context: FitContext) -> None:
        is_labeled = y_encoded != UNKNOWN
        self._check_memory(views, int(is_labeled.sum()))
        self.scalers_ = fit_scalers(views, self.scaling)
        features = list(scale_views(views, self.scalers_).values())
        self.labeled_y_ = y_encoded[is_labeled]
        signs = np.where(self.labeled_y_[:, None] == np.arange(len(self.classes_)), 1.0, -1.0)
        regression = discriminative_regression(
            [view[is_labeled] for view in features],
            signs,
            ridge=self.ridge,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        if not regression.has_converged:
            self._warn_not_converged(self.max_iter)
        self.coefficients_, self.intercept_ = regression.coefficients, regression.intercept
        self.view_weights_, self.objective_ = regression.view_weights, regression.objective
        self.n_iter_ = len(self.objective_)
        self.n_neighbors_ = n_voters(self.n_neighbors, len(self.labeled_y_), len(self.classes_))
        scores = self._scores(features)
        self.labeled_scores_ = scores[is_labeled]
        self.label_distributions_ = self._votes(scores)

    def _predict_proba(self, views: MultiView) -> np.ndarray:
        return self._votes(self._scores(list(scale_views(views, self.scalers_).values())))

    def _scores(self, features: Sequence[View]) -> np.ndarray:
        """Map samples to the space of the classes: X W + b, [sample, class]."""
        products = [v @ w for v, w in zip(features, self.coefficients_, strict=True)]
        return np.asarray(sum(products) + self.intercept_)

    def _votes(self, scores: np.ndarray) -> np.ndarray:
        voters, n_classes = self.labeled_scores_, len(self.classes_)
        return vote_fractions(scores, voters, self.labeled_y_, self.n_neighbors_, n_classes)

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
