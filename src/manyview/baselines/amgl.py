"""AMGL: harmonic labels on a weighted mean of the views' graphs, the weights from the labels."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from manyview.baselines.bases.baseline import FLAG, NeighborBaseline
from manyview.baselines.bases.cards import CARDS
from manyview.callbacks.context import FitContext
from manyview.data.labels import UNKNOWN, class_frequencies
from manyview.data.scaling import fit_scalers, scale_views
from manyview.data.views import MultiView
from manyview.graphs.harmonic import harmonic_labels
from manyview.graphs.normalization import normalized_laplacian, weighted_sum
from manyview.graphs.precomputed import precomputed_graph
from manyview.graphs.weighted_neighbors import probabilistic_neighbors
from manyview.numerics import normalize_rows
from manyview.validation import Constraint

Matrix = np.ndarray | sparse.csr_array

# Roughness of labels on a graph, relative to their squared norm, that counts as rounding error.
EXACT = 1e-10


class AutoWeightedLabels(NamedTuple):
    """Result of `auto_weighted_labels`.

    Attributes
    ----------
    labels
        F [sample, class], one-hot where the label is known; rows of 0 where no label reaches.
    weights
        [view] 1 / (2 sqrt(tr(F^T L_v F))); only their ratios matter.
    objective
        sum_v sqrt(tr(F^T L_v F)) after each iteration.
    """

    labels: np.ndarray
    weights: np.ndarray
    objective: list[float]


def auto_weighted_labels(
    laplacians: Sequence[Matrix],
    y_encoded: np.ndarray,
    n_classes: int,
    *,
    max_iter: int,
    tol: float,
    halve: bool = False,
) -> AutoWeightedLabels:
    """Propagate labels over several graphs: the F that minimizes sum_v sqrt(tr(F^T L_v F)).

    Rows of F with a known label are fixed. From equal weights on, the harmonic labels of the
    weighted sum of the Laplacians alternate with the weights 1 / (2 sqrt(tr(F^T L_v F))). From
    the third iteration on, they stop when the objective decreases by less than the fraction
    `tol`.

    Parameters
    ----------
    laplacians
        One [sample, sample] per view, all dense or all sparse.
    y_encoded
        [sample] class number, -1 where unknown.
    halve
        Halve the unknown rows of F in every iteration, as the authors' program does.

    Examples
    --------
    A chain of three samples in one view, and only the first two linked in the other:

    >>> chain = np.array([[1.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 1.0]])
    >>> pair = np.array([[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    >>> y_encoded = np.array([0, -1, 1])
    >>> found = auto_weighted_labels([chain, pair], y_encoded, 2, max_iter=100, tol=1e-8)
    >>> found.labels.argmax(axis=1), bool(found.weights[1] > found.weights[0])
    (array([0, 0, 1]), True)
    """
    weights = np.full(len(laplacians), 1.0 / len(laplacians))
    objective: list[float] = []
    while len(objective) < max_iter and not has_converged(objective, tol):
        labels = harmonic_labels(weighted_sum(laplacians, weights), y_encoded, n_classes)
        if halve:
            labels = np.where((y_encoded == UNKNOWN)[:, None], 0.5 * labels, labels)
        roughness = np.array([np.sum(labels * (matrix @ labels)) for matrix in laplacians])
        # Without a minimum, a graph on which the labels are perfectly smooth gets infinite weight.
        weights = 0.5 / np.sqrt(np.maximum(roughness, EXACT * np.sum(labels**2)))
        objective.append(float(np.sum(np.sqrt(np.maximum(roughness, 0.0)))))
    return AutoWeightedLabels(labels, weights, objective)


def has_converged(objective: Sequence[float], tol: float) -> bool:
    """Return whether the third or a later iteration lowered the objective by a fraction below tol.

    Examples
    --------
    >>> has_converged([4.0, 2.0], tol=0.1), has_converged([4.0, 2.0, 1.0], tol=0.1)
    (False, False)
    >>> has_converged([4.0, 2.0, 1.9], tol=0.1)
    True
    """
    if len(objective) < 3:
        return False
    before, now = objective[-2:]
    return before - now <= 0 or before - now < tol * before


@dataclass(kw_only=True, eq=False, repr=False)
class AMGLClassifier(NeighborBaseline):
    """Propagate labels over one graph per view, weighted by how smooth the labels are on it.

    Auto-weighted multiple graph learning (AMGL), its semi-supervised form:

        minimize  sum_v sqrt(tr(F^T L_v F))   over F [sample, class], known rows fixed at Y

    L_v is the normalized Laplacian of view v's graph. The square root implies the view weights
    1 / (2 sqrt(tr(F^T L_v F))): the smoother the labels on a graph, the more it counts, without
    a parameter to tune.

    Each view's graph links a sample to its `n_neighbors` nearest, closer ones with larger
    weights. The authors' program uses the raw features (`scaling="none"`); here rows are scaled
    to unit length first, which is much better on word counts and fairer to the method. See
    `Baseline` for `scaling`; the method draws nothing.

    Parameters
    ----------
    n_neighbors
        Neighbors in each view's graph. A view given as a graph is used unchanged.
    max_iter
        Maximum number of iterations; three to ten are usual.
    tol
        Iterations stop when the objective decreases by less than this fraction.
    halve_unlabeled
        Halve the labels of the unlabeled samples in every iteration, as the authors' program
        does and the derivation does not. It changes the view weights a little.

    Attributes
    ----------
    label_distributions_ : [sample, class], F with rows normalized
    view_weights_ : [view], weight of each view's graph; sums to 1
    objective_ : [iteration], sum_v sqrt(tr(F^T L_v F))
    n_iter_ : int, number of iterations

    Examples
    --------
    >>> line = np.arange(12.0)[:, None]
    >>> noise = np.random.default_rng(0).normal(size=(12, 1))
    >>> model = AMGLClassifier(n_neighbors=2, scaling="none")
    >>> model.fit({"line": line, "noise": noise}, ["low", *[None] * 10, "high"])
    AMGLClassifier(n_neighbors=2, scaling='none')
    >>> model.view_weights_.round(2)
    array([0.66, 0.34])
    """

    n_neighbors: int = 5
    max_iter: int = 100
    tol: float = 1e-8
    halve_unlabeled: bool = False

    card = CARDS["amgl"]
    _parameter_constraints: ClassVar[dict[str, Constraint]] = {
        **NeighborBaseline._parameter_constraints,
        "halve_unlabeled": FLAG,
    }

    def _fit(self, views: MultiView, y_encoded: np.ndarray, context: FitContext) -> None:
        found = auto_weighted_labels(
            [normalized_laplacian(graph) for graph in self._graphs(views)],
            y_encoded,
            len(self.classes_),
            max_iter=self.max_iter,
            tol=self.tol,
            halve=self.halve_unlabeled,
        )
        self.view_weights_ = found.weights / found.weights.sum()
        self.objective_, self.n_iter_ = found.objective, len(found.objective)
        self.label_distributions_ = normalize_rows(found.labels, class_frequencies(y_encoded))
        if self.max_iter > 2 and not has_converged(self.objective_, self.tol):
            self._warn_not_converged(self.max_iter)

    def _graphs(self, views: MultiView) -> list[sparse.csr_array]:
        features = scale_views(views, fit_scalers(views, self.scaling))
        return [
            precomputed_graph(views, name)
            if name in views.graph_names
            else probabilistic_neighbors(features[name], n_neighbors=self.n_neighbors)
            for name in views.names
        ]
