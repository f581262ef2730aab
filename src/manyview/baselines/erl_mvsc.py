"""ERL-MVSC: labels smoothed by a regularizer that is itself learned from the views' Laplacians."""

from warnings import warn

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from manyview.base.classifier import MethodCard, MultiViewClassifier
from manyview.baselines._erl import changes_little, learn_labels, view_regularizer
from manyview.baselines._must_link import check_links_fit, heat_graphs
from manyview.callbacks.context import FitContext
from manyview.data.labels import class_frequencies, one_hot
from manyview.data.scaling import Scaling, scaling_by_view
from manyview.data.views import MultiView
from manyview.errors import InputError
from manyview.numerics import normalize_rows
from manyview.validation import check_choice, check_number, check_whole_number, draw_seed


class ERLMVSCClassifier(MultiViewClassifier):
    """Learn one regularizer from the Laplacians of all views, and smooth the known labels by it.

    Embedding regularizer learning for multi-view semi-supervised classification (ERL-MVSC):

        minimize  1/2 sum_v w_v^a ||M - S_v||_F^2 + beta/2 tr(P^T M P)
                  + gamma ||M||_2,1 + delta/2 ||P - Y||_F^2

    over the labels P [sample, class], the regularizer M [sample, sample] and the weights w of
    the views, which sum to 1. S_v is the normalized Laplacian of view v's graph in which labeled
    samples of the same class are linked fully and those of different classes not at all; Y holds
    the known labels.

    P and M are set to their minima in turn, w to where its derivative is 0. With the published
    a = 0.01 that is a maximum over w, so the objective as a whole need not fall (above a = 1 it
    does). The minima are there only while beta^2 times the labels of a class is small beside
    delta; the defaults are far on the safe side. The released program departs from the objective
    in two places; `as_released` follows it.

    Parameters
    ----------
    weight_power
        a; above 0 and not 1. Below 1 views far from M weigh more, above 1 near ones.
    smoothness
        beta, how much labels must follow M.
    sparsity
        gamma, how strongly rows of M are shrunk.
    fidelity
        delta, how close labels stay to the known ones.
    n_neighbors
        Neighbors in each view's graph; all others where there are fewer.
    scaling
        See `fit_scaler`; one word, or one for each view.
    max_iter
        Iterations at most; two to five are usual.
    tol
        Iterations stop when the objective changes by less.
    as_released
        Solve for P with beta delta / 2 in place of beta / (2 delta), and add beta/2 P P^T to M
        rather than subtract it, as the authors' program does.
    random_state
        Seed of the samples that set the width of the heat kernel, drawn beyond 3,000 samples.

    Attributes
    ----------
    classes_ : [class]
    transduction_ : [sample], a label for every fitted sample
    label_distributions_ : [sample, class], P scaled to probabilities
    view_weights_ : [view], sums to 1
    objective_ : [iteration]
    n_iter_ : int

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = np.repeat(["cat", "dog"], 20)
    >>> centers = np.where(truth == "cat", 2.0, -2.0)[:, None]
    >>> views = {"sound": centers * [1, 1, -1] + rng.normal(size=(40, 3)),
    ...          "shape": centers * [1, -1] + rng.normal(size=(40, 2))}
    >>> labels = np.where(np.arange(40) % 10 == 0, truth, None)
    >>> model = ERLMVSCClassifier(n_neighbors=10).fit(views, labels)
    >>> float((model.transduction_ == truth).mean())
    1.0
    """

    card = MethodCard(
        name="erl-mvsc",
        title="ERL-MVSC",
        paper="Huang, Wang, Zheng, Zhao, Lin: Embedding regularizer learning for multi-view "
        "semi-supervised classification. IEEE TIP",
        year=2021,
        cost="m^2 d for the graphs; (m V k + l^2) c an iteration",
    )
    takes_graphs = True

    def __init__(
        self,
        *,
        weight_power: float = 0.01,
        smoothness: float = 0.01,
        sparsity: float = 0.001,
        fidelity: float = 10.0,
        n_neighbors: int = 20,
        scaling: Scaling = "rows",
        max_iter: int = 40,
        tol: float = 1e-4,
        as_released: bool = False,
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
    ) -> None:
        self.weight_power = weight_power
        self.smoothness = smoothness
        self.sparsity = sparsity
        self.fidelity = fidelity
        self.n_neighbors = n_neighbors
        self.scaling = scaling
        self.max_iter = max_iter
        self.tol = tol
        self.as_released = as_released
        self.random_state = random_state

    def _check_parameters(self, views: MultiView) -> None:
        check_number("weight_power", self.weight_power, above=0)
        if self.weight_power == 1:
            raise InputError("weight_power must not be 1: the weights would not be determined.")
        for name in ("smoothness", "fidelity"):
            check_number(name, getattr(self, name), above=0)
        for name in ("sparsity", "tol"):
            check_number(name, getattr(self, name), at_least=0)
        for name in ("n_neighbors", "max_iter"):
            check_whole_number(name, getattr(self, name), at_least=1)
        scaling_by_view(self.scaling, views)
        check_choice("as_released", self.as_released, (False, True))

    def _fit(self, views: MultiView, y_encoded: np.ndarray, context: FitContext) -> None:
        n_matrices = len(views.names) + 5  # M, what it is made of, and their difference to S_v
        check_links_fit(y_encoded, n_matrices, self.card.title)
        graphs = heat_graphs(
            views,
            scaling=self.scaling,
            n_neighbors=self.n_neighbors,
            seed=draw_seed(self.random_state),
        )
        known = one_hot(y_encoded, len(self.classes_))
        found = learn_labels(
            [view_regularizer(graph, y_encoded) for graph in graphs],
            known,
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
        self.objective_ = found.objective
        self.n_iter_ = len(found.objective)
        if self.max_iter > 1 and not changes_little(self.objective_, self.tol):
            warn(
                f"ERL-MVSC still changed after max_iter={self.max_iter} iterations; raise "
                "max_iter or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )
