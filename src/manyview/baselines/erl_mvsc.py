"""ERL-MVSC: labels smoothed by a regularizer learned from the views' Laplacians."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from manyview.baselines.bases.baseline import FLAG, ITERATIONS, NON_NEGATIVE, POSITIVE
from manyview.baselines.bases.cards import CARDS
from manyview.baselines.bases.must_link import MustLinkClassifier, check_must_link_memory
from manyview.baselines.solvers.erl import has_converged, learn_labels, view_regularizer
from manyview.callbacks.context import FitContext
from manyview.data.labels import class_frequencies, one_hot
from manyview.data.views import MultiView
from manyview.errors import InputError
from manyview.numerics import normalize_rows
from manyview.validation import Constraint


@dataclass(kw_only=True, eq=False, repr=False)
class ERLMVSCClassifier(MustLinkClassifier):
    """Learn one regularizer from the Laplacians of all views, and smooth the known labels by it.

    Embedding regularizer learning for multi-view semi-supervised classification (ERL-MVSC):

        minimize  1/2 sum_v w_v^a ||M - S_v||_F^2 + beta/2 tr(P^T M P)
                  + gamma ||M||_2,1 + delta/2 ||P - Y||_F^2

    over the labels P [sample, class], the regularizer M [sample, sample] and the weights w of
    the views, which sum to 1. S_v is the normalized Laplacian of view v's graph in which labeled
    samples are linked to all labeled samples of their class and to none of another; Y holds the
    known labels.

    The iterations alternate between the minimum over P, the minimum over M and the stationary
    point of w. With the published a = 0.01 that point is a maximum over w, so the objective as a
    whole need not decrease (above a = 1 it does). The minima exist only while beta^2 times the
    labels per class is small relative to delta, which holds by a wide margin for the defaults.
    The released program departs from the objective in two places, which `as_released`
    reproduces. See `MustLinkClassifier` for `scaling` and `random_state`.

    Parameters
    ----------
    as_released
        Solve for P with beta delta / 2 in place of beta / (2 delta), and add beta/2 P P^T to M
        rather than subtract it, as the authors' program does.
    weight_power
        a; above 0 and not 1. Below 1, views far from M weigh more; above 1, near ones do.
    smoothness
        beta, the weight of M in the labels.
    sparsity
        gamma, the shrinkage of the rows of M.
    fidelity
        delta, the weight of the known labels.
    n_neighbors
        Neighbors in each view's graph; all other samples where there are fewer.
    max_iter
        Maximum number of iterations; two to five are usual.
    tol
        Iterations stop when the objective changes by less.

    Attributes
    ----------
    label_distributions_ : [sample, class], P with rows normalized
    view_weights_ : [view], sums to 1
    objective_ : [iteration]
    n_iter_ : int

    Examples
    --------
    >>> from manyview import hide_labels, make_multiview_classification
    >>> views, truth = make_multiview_classification(60, 2, class_sep=3, random_state=0)
    >>> model = ERLMVSCClassifier().fit(views, hide_labels(truth, 0.1, random_state=0))
    >>> float(np.mean(model.transduction_ == truth))
    1.0
    """

    as_released: bool = False
    weight_power: float = 0.01
    smoothness: float = 0.01
    sparsity: float = 0.001
    fidelity: float = 10.0
    n_neighbors: int = 20
    max_iter: int = 40
    tol: float = 1e-4

    card = CARDS["erl-mvsc"]
    _parameter_constraints: ClassVar[dict[str, Constraint]] = {
        **MustLinkClassifier._parameter_constraints,
        **ITERATIONS,
        "as_released": FLAG,
        "weight_power": POSITIVE,
        "smoothness": POSITIVE,
        "sparsity": NON_NEGATIVE,
        "fidelity": POSITIVE,
    }

    def _check_parameters(self, views: MultiView) -> None:
        super()._check_parameters(views)
        if self.weight_power == 1:
            raise InputError(
                "weight_power must not be 1: the weights would not be determined.",
                parameter="weight_power",
            )

    def _fit(self, views: MultiView, y_encoded: np.ndarray, context: FitContext) -> None:
        n_matrices = len(views.names) + 5  # M, its parts, and their differences to S_v
        check_must_link_memory(y_encoded, n_matrices, self.card.title)
        found = learn_labels(
            [view_regularizer(graph, y_encoded) for graph in self._heat_kernel_graphs(views)],
            one_hot(y_encoded, len(self.classes_)),
            weight_power=self.weight_power,
            smoothness=self.smoothness,
            sparsity=self.sparsity,
            fidelity=self.fidelity,
            max_iter=self.max_iter,
            tol=self.tol,
            as_released=self.as_released,
        )
        self.label_distributions_ = normalize_rows(found.labels, class_frequencies(y_encoded))
        self.view_weights_ = found.view_weights
        self.objective_, self.n_iter_ = found.objective, len(found.objective)
        if self.max_iter > 1 and not has_converged(self.objective_, self.tol):
            self._warn_not_converged(self.max_iter)
