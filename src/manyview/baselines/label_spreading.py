"""Label spreading: labels handed on from neighbor to neighbor."""

import numpy as np
from sklearn.semi_supervised import LabelSpreading

from manyview.base.classifier import MethodCard, MultiViewClassifier
from manyview.baselines._concat import (
    JoinedViews,
    few_labels_a_class,
    join_views,
)
from manyview.callbacks.context import FitContext
from manyview.data.labels import class_frequencies
from manyview.data.scaling import Scaling, ViewScaler, scaling_by_view
from manyview.data.views import MultiView
from manyview.graphs.neighbors import nearest_neighbors
from manyview.numerics import normalize_rows
from manyview.validation import check_number, check_whole_number


class LabelSpreadingClassifier(MultiViewClassifier):
    """Hand labels on from neighbor to neighbor until they settle. Label spreading.

        F <- alpha S F + (1 - alpha) Y

    scikit-learn's `LabelSpreading` on the k-nearest-neighbor graph of the scaled views side
    by side: not a method of the paper, but what a scikit-learn user would try first.

    Parameters
    ----------
    n_neighbors
        Neighbors k, the sample itself counted, as in scikit-learn; at most all samples.
    alpha
        Share of a sample's label that comes from its neighbors, between 0 and 1.
    max_iter, tol
        Spreading stops when an iteration changes the labels of all samples together by less
        than `tol`, at the latest after `max_iter`.
    scaling
        "unit", "standard", "rows", "tfidf" or "none" (see `fit_scaler`), for all views, or a list
        or a dict by name with one for each.
    random_state
        Unused; for one contract.

    Attributes
    ----------
    classes_ : [class]
    transduction_ : [sample], a label for every fitted sample
    label_distributions_ : [sample, class]; a sample that no label reaches gets the shares of
        the classes among the labeled samples
    is_reached_ : [sample], whether a label reached it
    features_ : the scaled views side by side, where new samples find their neighbors
    n_neighbors_, n_iter_ : int

    Examples
    --------
    >>> import numpy as np
    >>> views = [np.array([[0.0], [1.0], [8.0], [9.0]]), np.array([[5.0], [5.5], [2.0], [2.5]])]
    >>> model = LabelSpreadingClassifier(n_neighbors=2).fit(views, ["low", None, "high", None])
    >>> model.transduction_.tolist()
    ['low', 'low', 'high', 'high']
    """

    card = MethodCard(
        name="label-spreading",
        title="Label spreading",
        paper="Zhou, Bousquet, Lal, Weston, Schölkopf: Learning with local and global "
        "consistency. NIPS",
        year=2003,
        cost="m^2 x d for the neighbors, m x k an iteration",
    )
    record_types = (JoinedViews, ViewScaler)
    takes_graphs = False

    def __init__(
        self,
        *,
        n_neighbors: int = 7,
        alpha: float = 0.2,
        max_iter: int = 30,
        tol: float = 1e-3,
        scaling: Scaling = "unit",
        random_state: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.scaling = scaling
        self.random_state = random_state

    def _check_parameters(self, views: MultiView) -> None:
        check_whole_number("n_neighbors", self.n_neighbors, at_least=1)
        check_number("alpha", self.alpha, above=0, below=1)
        check_whole_number("max_iter", self.max_iter, at_least=1)
        check_number("tol", self.tol, at_least=0)
        scaling_by_view(self.scaling, views)

    def _fit(self, views: MultiView, y_encoded: np.ndarray, context: FitContext) -> None:
        self.joined_, self.features_ = join_views(views, self.scaling)
        self.n_neighbors_ = min(self.n_neighbors, len(y_encoded))
        spreading = LabelSpreading(
            kernel="knn",
            n_neighbors=self.n_neighbors_,
            alpha=self.alpha,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        with few_labels_a_class():
            spreading.fit(self.features_, y_encoded)
        self.n_iter_ = spreading.n_iter_
        self.class_frequencies_ = class_frequencies(y_encoded)
        evidence = spreading.label_distributions_
        self.is_reached_ = evidence.any(axis=1)
        self.label_distributions_ = normalize_rows(evidence, self.class_frequencies_)

    def _predict_proba(self, views: MultiView) -> np.ndarray:
        """Add up the distributions of the nearest fitted samples, as scikit-learn does."""
        nearest = nearest_neighbors(
            self.joined_(views),
            self.features_,
            n_neighbors=self.n_neighbors_,
            metric="euclidean",
        ).indices
        evidence = self.label_distributions_ * self.is_reached_[:, None]
        return normalize_rows(evidence[nearest].sum(axis=1), self.class_frequencies_)
