"""HLR-M2VS: self-representations under a tensor norm, and label propagation over their graphs."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from manyview.baselines.amgl import auto_weighted_labels
from manyview.baselines.bases.baseline import FLAG, NON_NEGATIVE, POSITIVE, NeighborBaseline
from manyview.baselines.bases.cards import CARDS
from manyview.baselines.solvers.hlr import (
    SelfRepresentations,
    memory_needed,
    order_by_content,
    self_representations,
)
from manyview.callbacks.context import FitContext
from manyview.data.labels import class_frequencies
from manyview.data.scaling import fit_scalers, scale_views
from manyview.data.views import MultiView, View
from manyview.graphs.cached_neighbors import content_key
from manyview.graphs.normalization import normalized_laplacian
from manyview.graphs.weighted_neighbors import probabilistic_neighbors
from manyview.numerics import normalize_rows
from manyview.system.cached_arrays import read_arrays, warn_unreadable, write_arrays
from manyview.system.config import get_config
from manyview.system.memory import check_memory
from manyview.system.progress import epoch_progress
from manyview.validation import Constraint

# Of the alternation between labels and view weights, as in the program of the authors' group.
LABEL_MAX_ITER, LABEL_TOLERANCE = 20, 1e-6


def affinity_graphs(
    features: Sequence[np.ndarray],
    *,
    n_neighbors: int,
    on_iteration: Callable[[int, float], None] | None = None,
    **settings: Any,
) -> tuple[list[sparse.csr_array], SelfRepresentations]:
    """Link samples with similar self-representations: the part of the fit without labels.

    The points are the columns of (|Z_v| + |Z_v^T|) / 2 (see `self_representations`), linked as in
    `probabilistic_neighbors`. `settings` are those of `self_representations`. The returned
    self-representations are without their affinities, which would be large to cache.
    """
    found = self_representations(features, on_iteration=on_iteration, **settings)
    graphs = [probabilistic_neighbors(one, n_neighbors=n_neighbors) for one in found.affinities]
    return graphs, found._replace(affinities=np.empty(0))


def cached_affinity_graphs(
    features: Sequence[np.ndarray],
    *,
    version: int,
    on_iteration: Callable[[int, float], None] | None = None,
    **settings: Any,
) -> tuple[list[sparse.csr_array], SelfRepresentations]:
    """Compute `affinity_graphs`, or read them from the cache folder of `config_context`.

        CACHE/affinities-KEY.npz     graphs, objective and residuals; plain arrays

    KEY is a checksum of the features and the settings; `version` keeps results of older code
    apart. A damaged file gives a warning and is replaced.
    """
    cache_dir = get_config().cache_dir
    if cache_dir is None:
        return affinity_graphs(features, on_iteration=on_iteration, **settings)
    described = [[content_key(view, {}) for view in features], version, settings]
    key = hashlib.sha256(json.dumps(described, sort_keys=True, default=str).encode()).hexdigest()
    path = Path(cache_dir).expanduser() / f"affinities-{key}.npz"
    arrays = read_arrays(path, "affinities")
    if arrays is not None:
        try:
            return _from_arrays(arrays, len(features), len(features[0]))
        except (KeyError, ValueError, TypeError) as error:
            warn_unreadable(path, "affinities", error)
    graphs, found = affinity_graphs(features, on_iteration=on_iteration, **settings)
    write_arrays(path, _as_arrays(graphs, found), "affinities")
    return graphs, found


GRAPH_PARTS = ("data", "indices", "indptr")


def _as_arrays(
    graphs: Sequence[sparse.csr_array], found: SelfRepresentations
) -> dict[str, np.ndarray]:
    parts = {
        f"{part}-{number}": getattr(graph, part)
        for number, graph in enumerate(graphs)
        for part in GRAPH_PARTS
    }
    return parts | {
        "objective": np.array(found.objective),
        "residuals": np.array(found.residuals).reshape(-1, 2),
    }


def _from_arrays(
    arrays: Mapping[str, np.ndarray], n_views: int, n_samples: int
) -> tuple[list[sparse.csr_array], SelfRepresentations]:
    graphs = []
    for number in range(n_views):
        data, indices, indptr = (arrays[f"{part}-{number}"] for part in GRAPH_PARTS)
        if not np.isfinite(data).all():
            raise ValueError("its weights are not finite")
        graph = sparse.csr_array((data, indices, indptr), shape=(n_samples, n_samples))
        graph.check_format(full_check=True)  # indices out of range would end the process
        graphs.append(graph)
    residuals = [(first, second) for first, second in arrays["residuals"].tolist()]
    return graphs, SelfRepresentations(np.empty(0), arrays["objective"].tolist(), residuals)


@dataclass(kw_only=True, eq=False, repr=False)
class HLRM2VSClassifier(NeighborBaseline):
    """Represent each sample by the others in all views at once, and propagate labels over that.

    Hyper-Laplacian regularized multilinear multi-view self-representation (HLR-M2VS):

        minimize  ||Z||_* + noise_weight ||E||_{2,1} + smoothness sum_v tr(Z_v L_v Z_v^T)
        subject to  X_v = X_v Z_v + E_v   in every view v

    (see `self_representations`), solved without labels. Labels are then propagated as in
    `AMGLClassifier` over one graph per view, of the columns of |Z_v| + |Z_v^T|.

    The method is dense: it holds more than five m x m arrays per view during the fit, and
    refuses data that does not fit in memory (see `config_context`). It labels only the samples
    of the fit. Only the magnitude of the coefficients counts, so a sample x and its mirror image
    -x are alike. With a `cache_dir` in `config_context`, fits on the same views with the same
    parameters read the self-representations from there. See `Baseline` for `scaling`; the method
    draws nothing.

    The tensor norm depends on the order of the samples, because it takes a Fourier transform
    along them. Samples sorted by class, as in most files, would leak the classes, so samples are
    first put in an order that depends on their features alone; the program of the authors' group
    shuffles them.

    Parameters
    ----------
    noise_weight
        Weight of the part of a sample that the others do not explain, lambda_1 of the paper.
    smoothness
        Weight of the hypergraphs, lambda_2 of the paper.
    n_neighbors
        Neighbors in the graph of each view's self-representation.
    max_iter
        Maximum number of iterations; penalties start at 1e-4 and double in each.
    tol
        Iterations stop when the residual row sums of all constraints are below this.
    verbose
        Whether to show progress on the error stream.

    Attributes
    ----------
    label_distributions_ : [sample, class], the propagated labels with rows normalized
    view_weights_ : [view], weight of each view's graph; sums to 1
    view_graphs_ : list of CSR, the graph of each view's self-representation
    objective_ : [iteration]; it rises while the constraints tighten
    residuals_ : [iteration, 2], residuals of X = X Z + E and Z = G
    n_iter_ : int, number of iterations

    Examples
    --------
    >>> from manyview import hide_labels, make_multiview_classification
    >>> views, truth = make_multiview_classification(60, 2, class_sep=3, random_state=0)
    >>> model = HLRM2VSClassifier().fit(views, hide_labels(truth, 0.1, random_state=0))
    >>> len(model.view_graphs_), float(np.mean(model.transduction_ == truth)) > 0.9
    (2, True)
    """

    noise_weight: float = 0.2
    smoothness: float = 0.4
    n_neighbors: int = 9
    max_iter: int = 22
    tol: float = 1e-5
    verbose: bool = False

    card = CARDS["hlr-m2vs"]
    takes_graphs = False
    _parameter_constraints: ClassVar[dict[str, Constraint]] = {
        "noise_weight": POSITIVE,
        "smoothness": NON_NEGATIVE,
        **NeighborBaseline._parameter_constraints,
        "verbose": FLAG,
    }

    def _check_parameters(self, views: MultiView) -> None:
        super()._check_parameters(views)
        check_memory(
            memory_needed(len(views), [view.shape[1] for view in views]),
            f"{self.card.title} on {len(views):,} samples in {views.n_views} views",
            "Use another method",
            free_fraction=0.5,
        )

    def _fit(self, views: MultiView, y_encoded: np.ndarray, context: FitContext) -> None:
        order = order_by_content(list(views))
        scaled = scale_views(views, fit_scalers(views, self.scaling))
        progress = epoch_progress(self.max_iter) if self.verbose else nullcontext()
        with progress as on_iteration:
            graphs, found = cached_affinity_graphs(
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
        self.view_graphs_ = [sparse.csr_array(graph[place][:, place]) for graph in graphs]
        self.objective_, self.n_iter_ = found.objective, len(found.objective)
        self.residuals_ = np.array(found.residuals)
        propagated = auto_weighted_labels(
            [normalized_laplacian(graph) for graph in self.view_graphs_],
            y_encoded,
            len(self.classes_),
            max_iter=LABEL_MAX_ITER,
            tol=LABEL_TOLERANCE,
        )
        self.view_weights_ = propagated.weights / propagated.weights.sum()
        self.label_distributions_ = normalize_rows(propagated.labels, class_frequencies(y_encoded))


def _dense(view: View) -> np.ndarray:
    return view.toarray() if isinstance(view, sparse.csr_array) else view
