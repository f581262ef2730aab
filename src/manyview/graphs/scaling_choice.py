"""Choose the scaling of each view without labels, by edge overlap with the other views.

The scaling of a view determines its neighbors, and no scaling is best for all views: "standard"
helps columns of different units and hurts documents. Samples of the same class tend to be
neighbors in several views, so the better scaling of a view gives more edges that are also in the
other views' graphs.

views -> candidate graphs -> edge_overlap -> choose_scalings
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from manyview.data.scaling import fit_scalers, is_mostly_zeros, scale_views
from manyview.data.views import MultiView
from manyview.distributed.world import ALONE, World
from manyview.graphs.edge_overlap import edge_overlap
from manyview.graphs.knn_graph import neighbor_graph
from manyview.graphs.neighbors import Neighbors, nearest_neighbors
from manyview.graphs.precomputed import precomputed_graph

AUTO, DEFAULT = "auto", "unit"
CANDIDATES = (DEFAULT, "standard")
MIN_GAIN = 1.05  # overlap of another scaling relative to that of the default
MAX_COMPARED = 1_000  # samples; more lead to the same choice


@dataclass(frozen=True)
class ChosenScalings:
    """The scaling of each feature view, and the searches that the choice took."""

    kinds: dict[str, str]
    # (view, scaling) -> exact neighbors among the samples with the view, if all were compared
    neighbors: dict[tuple[str, str], Neighbors] = field(default_factory=dict)


def choose_scalings(
    views: MultiView,
    kinds: Mapping[str, str],
    *,
    n_neighbors: int,
    metric: str,
    seed: int = 0,
    world: World = ALONE,
) -> ChosenScalings:
    """Choose a scaling for every feature view whose kind is "auto"; the others keep theirs.

    "standard" is chosen if it gives more than 1.05 times as many edges that are also in the other
    views, including precomputed graphs; otherwise, and for a single view, "unit". Views of mostly
    zeros, and tables encoded column by column, get "unit", because equal column variances would
    let rare columns dominate. At most 1,000 samples are compared, drawn with `seed`.
    """
    kinds = {
        name: DEFAULT if kind == AUTO and _has_rare_columns(views, name) else kind
        for name, kind in kinds.items()
    }
    undecided = [name for name, kind in kinds.items() if kind == AUTO]
    chosen = {name: DEFAULT if kind == AUTO else kind for name, kind in kinds.items()}
    if not undecided or views.n_views == 1:
        return ChosenScalings(chosen)
    rows = _compared_rows(len(views), seed)
    graphs: dict[str, dict[str, sparse.csr_array]] = {
        name: {"precomputed": precomputed_graph(views, name)[rows][:, rows]}
        for name in views.graph_names
    }
    searched: dict[tuple[str, str], Neighbors] = {}
    for kind in CANDIDATES:
        tried = {name: kind if own == AUTO else own for name, own in kinds.items()}
        new = [name for name, own in tried.items() if (name, own) not in searched]
        found = _neighbors_of(views, tried, new, rows, n_neighbors, metric, world)
        searched |= {(name, tried[name]): one for name, one in found.items()}
    compared = views[rows]
    for (name, kind), one in searched.items():
        own_rows = compared.rows_with(name)
        everywhere = one if own_rows is None else one.among(own_rows, len(rows))
        graphs.setdefault(name, {})[kind] = neighbor_graph(everywhere)
    for name in undecided:
        others = [graph for other, own in graphs.items() if other != name for graph in own.values()]
        overlap = {kind: edge_overlap(graph, others) for kind, graph in graphs[name].items()}
        best = max(CANDIDATES, key=lambda kind: overlap[kind])
        if overlap[best] > MIN_GAIN * overlap[DEFAULT]:
            chosen[name] = best
    return ChosenScalings(chosen, searched if len(rows) == len(views) else {})


def _has_rare_columns(views: MultiView, name: str) -> bool:
    return name in views.encoded_names or is_mostly_zeros(views[name])


def _compared_rows(n_samples: int, seed: int) -> np.ndarray:
    if n_samples <= MAX_COMPARED:
        return np.arange(n_samples)
    drawn = np.random.default_rng(seed).choice(n_samples, size=MAX_COMPARED, replace=False)
    return np.sort(drawn)


def _neighbors_of(
    views: MultiView,
    kinds: Mapping[str, str],
    names: Sequence[str],
    rows: np.ndarray,
    n_neighbors: int,
    metric: str,
    world: World,
) -> dict[str, Neighbors]:
    """Search the named views among those of the given samples that have the view."""
    compared = views[rows]
    scalers = fit_scalers(views, kinds)
    found = {}
    for name, features in scale_views(compared, {name: scalers[name] for name in names}).items():
        own = compared.rows_with(name)
        found[name] = nearest_neighbors(
            features if own is None else features[own],
            n_neighbors=min(n_neighbors, len(rows) - 1),
            metric=metric,
            world=world,
        )
    return found
