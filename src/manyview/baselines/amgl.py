"""AMGL: harmonic labels on a mean of the views' graphs whose weights follow from the labels."""

from collections.abc import Sequence
from typing import NamedTuple
from warnings import warn

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from manyview.base.classifier import MethodCard, MultiViewClassifier
from manyview.callbacks.context import FitContext
from manyview.data.labels import UNKNOWN, class_frequencies
from manyview.data.scaling import Scaling, fit_scalers, scale_views, scaling_by_view
from manyview.data.views import MultiView
from manyview.graphs.harmonic import harmonic_labels
from manyview.graphs.normalization import normalized_laplacian, weighted_sum
from manyview.graphs.precomputed import precomputed_graph
from manyview.graphs.prepare import check_n_neighbors
from manyview.graphs.weighted_neighbors import probabilistic_neighbors
from manyview.numerics import normalize_rows
from manyview.validation import check_choice, check_number, check_whole_number

Matrix = np.ndarray | sparse.csr_array

# The roughness of labels on a graph, beside their size, below which it is rounding.
EXACT = 1e-10


class AutoWeightedLabels(NamedTuple):
    """What `auto_weighted_labels` finds.

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
    """Spread labels over several graphs: the F that minimizes sum_v sqrt(tr(F^T L_v F)).

    Rows of F with a known label are held at it. The harmonic labels of the weighted sum of the
    Laplacians, and the weights 1 / (2 sqrt(tr(F^T L_v F))), take turns, from equal weights.
    From the third iteration on they stop when the objective falls by less than the share `tol`.

    Parameters
    ----------
    laplacians
        One [sample, sample] a view, all dense or all sparse.
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
    while len(objective) < max_iter and not is_settled(objective, tol):
        labels = harmonic_labels(weighted_sum(laplacians, weights), y_encoded, n_classes)
        if halve:
            labels = np.where((y_encoded == UNKNOWN)[:, None], 0.5 * labels, labels)
        roughness = np.array([np.sum(labels * (matrix @ labels)) for matrix in laplacians])
        # A graph on which the labels are perfectly smooth would get an infinite weight.
        weights = 0.5 / np.sqrt(np.maximum(roughness, EXACT * np.sum(labels**2)))
        objective.append(float(np.sum(np.sqrt(np.maximum(roughness, 0.0)))))
    return AutoWeightedLabels(labels, weights, objective)


def is_settled(objective: Sequence[float], tol: float) -> bool:
    """Whether the last of at least three iterations lowered the objective by a share below tol.

    Examples
    --------
    >>> is_settled([4.0, 2.0], tol=0.1), is_settled([4.0, 2.0, 1.0], tol=0.1)
    (False, False)
    >>> is_settled([4.0, 2.0, 1.9], tol=0.1)
    True
    """
    if len(objective) < 3:
        return False
    before, now = objective[-2:]
    return before - now <= 0 or before - now < tol * before


class AMGLClassifier(MultiViewClassifier):
    """Spread the known labels over one graph a view, and weigh the graphs by how well they fit.

    Auto-weighted multiple graph learning (AMGL), its semi-supervised form:

        minimize  sum_v sqrt(tr(F^T L_v F))   over F [sample, class], known rows held at Y

    L_v is the normalized Laplacian of view v's graph. The square root makes the weights: a view
    counts 1 / (2 sqrt(tr(F^T L_v F))), the more the smoother the labels lie on its graph, and
    there is nothing to tune.

    Each view's graph links a sample to its `n_neighbors` nearest, the nearer the stronger. The
    authors' program takes the features as they are (`scaling="none"`); here rows are brought to
    length 1 first, which is much better on word counts and fairer to the method.

    Parameters
    ----------
    n_neighbors
        Neighbors in each view's graph. A view given as a graph is taken as it is.
    scaling
        See `fit_scaler`; one word, or one for each view.
    max_iter
        Rounds at most; three to ten are usual.
    tol
        Rounds stop when the objective falls by less than this share.
    halve_unlabeled
        Halve the labels of the unknown samples in every round, as the authors' program does
        and the derivation does not. It shifts the weights of the views a little.
    random_state
        Unused; nothing is drawn. For one contract.

    Attributes
    ----------
    classes_ : [class]
    transduction_ : [sample], a label for every fitted sample
    label_distributions_ : [sample, class], F scaled to probabilities
    view_weights_ : [view], share of each view's graph; sums to 1
    objective_ : [round], sum_v sqrt(tr(F^T L_v F))
    n_iter_ : int, number of rounds

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = np.repeat(["cat", "dog"], 20)
    >>> side = np.where(truth == "cat", 2.0, -2.0)[:, None]
    >>> views = {"sound": side + rng.normal(size=(40, 3)),
    ...          "shape": side + 2 * rng.normal(size=(40, 2))}
    >>> labels = np.where(np.arange(40) % 10 == 0, truth, None)
    >>> model = AMGLClassifier().fit(views, labels)
    >>> float((model.transduction_ == truth).mean())
    0.975
    >>> model.view_weights_.round(2)
    array([0.46, 0.54])
    """

    card = MethodCard(
        name="amgl",
        title="AMGL",
        paper="Nie, Li, Li: Parameter-free auto-weighted multiple graph learning: a framework "
        "for multiview clustering and semi-supervised classification. IJCAI",
        year=2016,
        cost="m^2 d for the graphs; a sparse linear system of m V k entries a round",
    )
    takes_graphs = True

    def __init__(
        self,
        *,
        n_neighbors: int = 5,
        scaling: Scaling = "unit",
        max_iter: int = 100,
        tol: float = 1e-8,
        halve_unlabeled: bool = False,
        random_state: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.scaling = scaling
        self.max_iter = max_iter
        self.tol = tol
        self.halve_unlabeled = halve_unlabeled
        self.random_state = random_state

    def _check_parameters(self, views: MultiView) -> None:
        check_n_neighbors(self.n_neighbors, len(views), auto=False)
        scaling_by_view(self.scaling, views)
        check_whole_number("max_iter", self.max_iter, at_least=1)
        check_number("tol", self.tol, at_least=0)
        check_choice("halve_unlabeled", self.halve_unlabeled, (True, False))

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
        self.objective_ = found.objective
        self.n_iter_ = len(found.objective)
        self.label_distributions_ = normalize_rows(found.labels, class_frequencies(y_encoded))
        if self.max_iter > 2 and not is_settled(self.objective_, self.tol):
            warn(
                f"AMGL still changed after max_iter={self.max_iter} rounds; raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _graphs(self, views: MultiView) -> list[sparse.csr_array]:
        features = scale_views(views, fit_scalers(views, self.scaling))
        return [
            precomputed_graph(views, name)
            if name in views.graph_names
            else probabilistic_neighbors(features[name], n_neighbors=self.n_neighbors)
            for name in views.names
        ]
