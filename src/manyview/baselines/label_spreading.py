"""Label spreading: labels passed from neighbor to neighbor."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn.semi_supervised import LabelSpreading

from manyview.baselines.bases.baseline import ITERATIONS, POSITIVE_INT
from manyview.baselines.bases.cards import CARDS
from manyview.baselines.bases.concatenated import ConcatenatedViewsClassifier, many_classes_allowed
from manyview.callbacks.context import FitContext
from manyview.data.labels import class_frequencies
from manyview.data.views import MultiView
from manyview.graphs.neighbors import nearest_neighbors
from manyview.numerics import normalize_rows
from manyview.validation import Constraint, Number


@dataclass(kw_only=True, eq=False, repr=False)
class LabelSpreadingClassifier(ConcatenatedViewsClassifier):
    """Pass labels from neighbor to neighbor until they converge. Label spreading.

        F <- alpha S F + (1 - alpha) Y

    scikit-learn's `LabelSpreading` on the k-nearest-neighbor graph of the concatenated scaled
    views: not a method of the paper, but what a scikit-learn user would try first. See
    `Baseline` for `scaling`.

    Parameters
    ----------
    n_neighbors
        Neighbors k, the sample itself included, as in scikit-learn; at most all samples.
    alpha
        Weight of the neighbors' labels relative to the sample's own, between 0 and 1.
    max_iter, tol
        Iterations stop when one changes the labels of all samples together by less than `tol`,
        and after `max_iter` at the latest.

    Attributes
    ----------
    label_distributions_ : [sample, class]; samples that no label reaches get the class
        frequencies of the labeled samples
    is_reached_ : [sample], whether a label reaches it
    features_ : [sample, feature], the concatenated scaled views, among which new samples find
        their neighbors
    n_neighbors_, n_iter_ : int

    Examples
    --------
    >>> model = LabelSpreadingClassifier(n_neighbors=2, scaling="none")
    >>> model.fit([[0.0], [1.0], [8.0], [9.0]], ["low", None, "high", None]).transduction_
    array(['low', 'low', 'high', 'high'], dtype=object)
    """

    n_neighbors: int = 7
    alpha: float = 0.2
    max_iter: int = 30
    tol: float = 1e-3

    card = CARDS["label-spreading"]
    _parameter_constraints: ClassVar[dict[str, Constraint]] = {
        "n_neighbors": POSITIVE_INT,
        "alpha": Number(above=0, below=1),
        **ITERATIONS,
    }

    def _fit(self, views: MultiView, y_encoded: np.ndarray, context: FitContext) -> None:
        self.features_ = self._concatenate(views)
        self.n_neighbors_ = min(self.n_neighbors, len(y_encoded))
        spreading = LabelSpreading(
            kernel="knn",
            n_neighbors=self.n_neighbors_,
            alpha=self.alpha,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        with many_classes_allowed():
            spreading.fit(self.features_, y_encoded)
        self.n_iter_ = spreading.n_iter_
        self.class_frequencies_ = class_frequencies(y_encoded)
        evidence = spreading.label_distributions_
        self.is_reached_ = evidence.any(axis=1)
        self.label_distributions_ = normalize_rows(evidence, self.class_frequencies_)

    def _predict_proba(self, views: MultiView) -> np.ndarray:
        """Sum the distributions of the nearest fitted samples, as scikit-learn does."""
        nearest = nearest_neighbors(
            self.concatenator_(views),
            self.features_,
            n_neighbors=self.n_neighbors_,
            metric="euclidean",
        ).indices
        evidence = self.label_distributions_ * self.is_reached_[:, None]
        return normalize_rows(evidence[nearest].sum(axis=1), self.class_frequencies_)
