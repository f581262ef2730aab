"""HLR-M2VS: self-representations of all views under one tensor norm, and labels on their graphs."""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import NamedTuple

import numpy as np
from joblib import Memory
from scipy import sparse

from manyview.base.classifier import MethodCard, MultiViewClassifier
from manyview.baselines._hlr import (
    memory_needed,
    order_by_content,
    self_representations,
)
from manyview.baselines.amgl import auto_weighted_labels
from manyview.callbacks.context import FitContext
from manyview.data.labels import class_frequencies
from manyview.data.scaling import Scaling, fit_scalers, scale_views, scaling_by_view
from manyview.data.views import MultiView, View
from manyview.graphs.normalization import normalized_laplacian
from manyview.graphs.prepare import check_n_neighbors
from manyview.graphs.weighted_neighbors import probabilistic_neighbors
from manyview.numerics import normalize_rows
from manyview.system.config import get_config
from manyview.system.memory import check_memory
from manyview.system.progress import epoch_progress
from manyview.validation import check_choice, check_number, check_whole_number

# The labels and the weights of the views take turns at most so often, as in the group's program.
LABEL_ROUNDS, LABEL_TOLERANCE = 20, 1e-6


class AffinityGraphs(NamedTuple):
    """One graph a view, and how the self-representations behind them settled."""

    graphs: list[sparse.csr_array]
    objective: list[float]
    residuals: list[tuple[float, float]]


def affinity_graphs(
    features: Sequence[np.ndarray],
    *,
    n_neighbors: int,
    noise_weight: float,
    smoothness: float,
    max_iter: int,
    tol: float,
    version: int,
    on_iteration: Callable[[int, float], None] | None = None,
) -> AffinityGraphs:
    """Link samples that mix the others alike: all that is learned without labels.

    Points are the columns of (|Z_v| + |Z_v^T|) / 2 (see `self_representations`), linked as in
    `probabilistic_neighbors`. `version` only tells results of older code apart in a cache.
    """
    found = self_representations(
        features,
        noise_weight=noise_weight,
        smoothness=smoothness,
        max_iter=max_iter,
        tol=tol,
        on_iteration=on_iteration,
    )
    graphs = [probabilistic_neighbors(one, n_neighbors=n_neighbors) for one in found.affinities]
    return AffinityGraphs(graphs, found.objective, found.residuals)


class HLRM2VSClassifier(MultiViewClassifier):
    """Represent each sample by the others, all views together, and spread labels over the result.

    Hyper-Laplacian regularized multilinear multi-view self-representation (HLR-M2VS):

        minimize  ||Z||_* + noise_weight ||E||_{2,1} + smoothness sum_v tr(Z_v L_v Z_v^T)
        subject to  X_v = X_v Z_v + E_v   in every view v

    (see `self_representations`), solved without labels. A graph of the columns of
    |Z_v| + |Z_v^T| for each view then takes the labels as in `AMGLClassifier`.

    Dense by nature: it holds more than five m x m arrays a view while it learns, and refuses
    what does not fit in memory (see `config_context`). It labels only the samples it was fitted
    with. Mixtures count by their size, so a sample x and its mirror image -x are alike to it.

    The tensor norm depends on the order of the samples, because it takes a Fourier transform
    along them. Samples in the order of their classes, as most files have them, would give the
    classes away, so they are first put in an order that follows from their features alone; the
    group's program shuffles them.

    Parameters
    ----------
    noise_weight
        Weight of what a sample's mixture leaves unexplained, lambda_1 of the paper.
    smoothness
        Weight of the hypergraphs, lambda_2 of the paper.
    n_neighbors
        Neighbors in the graph of each view's self-representation.
    max_iter
        Iterations at most; penalties double in each, from 1e-4.
    tol
        Iterations stop when every constraint is met to this row sum.
    scaling
        See `fit_scaler`; one word, or one for each view.
    verbose
        Whether to show progress on the error stream.
    random_state
        Unused; nothing is drawn. For one contract.

    Attributes
    ----------
    classes_ : [class]
    transduction_ : [sample], a label for every fitted sample
    label_distributions_ : [sample, class], the spread labels scaled to probabilities
    view_weights_ : [view], share of each view's graph; sums to 1
    view_graphs_ : list of CSR, the graph of each view's self-representation
    objective_ : [iteration], what is minimized; it rises while the constraints tighten
    residuals_ : [iteration, 2], how far X = X Z + E and Z = G are from being met
    n_iter_ : int, number of iterations

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = np.repeat(["cat", "dog"], 20)
    >>> is_cat = (truth == "cat")[:, None]
    >>> views = {"sound": np.where(is_cat, [3, 0, 0], [0, 3, 0]) + rng.normal(size=(40, 3)),
    ...          "shape": np.where(is_cat, [4, 1], [1, 4]) + rng.normal(size=(40, 2))}
    >>> labels = np.where(np.arange(40) % 10 == 0, truth, None)
    >>> model = HLRM2VSClassifier().fit(views, labels)
    >>> float((model.transduction_ == truth).mean()) > 0.9
    True
    """

    card = MethodCard(
        name="hlr-m2vs",
        title="HLR-M2VS",
        paper="Xie, Zhang, Qu, Dai, Tao: Hyper-Laplacian regularized multilinear multiview "
        "self-representations for clustering and semisupervised learning. IEEE Trans. Cybernetics",
        year=2020,
        cost="V m^3 an iteration, 22 of them; 5 V m^2 numbers of memory",
    )
    takes_graphs = False

    def __init__(
        self,
        *,
        noise_weight: float = 0.2,
        smoothness: float = 0.4,
        n_neighbors: int = 9,
        max_iter: int = 22,
        tol: float = 1e-5,
        scaling: Scaling = "unit",
        verbose: bool = False,
        random_state: int | None = None,
    ) -> None:
        self.noise_weight = noise_weight
        self.smoothness = smoothness
        self.n_neighbors = n_neighbors
        self.max_iter = max_iter
        self.tol = tol
        self.scaling = scaling
        self.verbose = verbose
        self.random_state = random_state

    def _check_parameters(self, views: MultiView) -> None:
        check_number("noise_weight", self.noise_weight, above=0)
        check_number("smoothness", self.smoothness, at_least=0)
        check_n_neighbors(self.n_neighbors, len(views), auto=False)
        check_whole_number("max_iter", self.max_iter, at_least=1)
        check_number("tol", self.tol, at_least=0)
        scaling_by_view(self.scaling, views)
        check_choice("verbose", self.verbose, (True, False))
        check_memory(
            memory_needed(len(views), [view.shape[1] for view in views]),
            f"{self.card.title} on {len(views):,} samples in {views.n_views} views",
            "Use another method",
            free_fraction=0.5,
        )

    def _fit(self, views: MultiView, y_encoded: np.ndarray, context: FitContext) -> None:
        order = order_by_content(list(views))
        scaled = scale_views(views, fit_scalers(views, self.scaling))
        shown = epoch_progress(self.max_iter) if self.verbose else nullcontext()
        with shown as on_iteration:
            found = Memory(get_config().cache_dir, verbose=0).cache(
                affinity_graphs, ignore=["on_iteration"]
            )(
                [_dense(view[order]) for view in scaled.values()],
                n_neighbors=self.n_neighbors,
                noise_weight=self.noise_weight,
                smoothness=self.smoothness,
                max_iter=self.max_iter,
                tol=self.tol,
                version=self.card.version,
                on_iteration=on_iteration,
            )
        place = np.argsort(order)
        self.view_graphs_ = [sparse.csr_array(graph[place][:, place]) for graph in found.graphs]
        self.objective_ = found.objective
        self.residuals_ = np.array(found.residuals)
        self.n_iter_ = len(found.objective)
        spread = auto_weighted_labels(
            [normalized_laplacian(graph) for graph in self.view_graphs_],
            y_encoded,
            len(self.classes_),
            max_iter=LABEL_ROUNDS,
            tol=LABEL_TOLERANCE,
        )
        self.view_weights_ = spread.weights / spread.weights.sum()
        self.label_distributions_ = normalize_rows(spread.labels, class_frequencies(y_encoded))


def _dense(view: View) -> np.ndarray:
    return view.toarray() if isinstance(view, sparse.csr_array) else view
