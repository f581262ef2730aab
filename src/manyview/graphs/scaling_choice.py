"""Choose the scaling of each view without labels, by edge overlap with the other views.

The scaling of a view determines its neighbors, and no scaling is best for all views: "standard"
helps columns of different units and hurts documents. Samples of the same class tend to be
neighbors in several views, so the better scaling of a view gives more edges that are also in the
other views' graphs.

views -> candidate graphs -> edge_overlap -> choose_scalings
"""

from collections.abc import Mapping

import numpy as np
from scipy import sparse

from manyview.data.scaling import fit_scalers, is_mostly_zeros, scale_views
from manyview.data.views import MultiView
from manyview.graphs.edge_overlap import edge_overlap
from manyview.graphs.knn_graph import neighbor_graph
from manyview.graphs.neighbors import nearest_neighbors
from manyview.graphs.precomputed import precomputed_graph

AUTO, DEFAULT = "auto", "unit"
CANDIDATES = (DEFAULT, "standard")
MIN_GAIN = 1.05  # overlap of another scaling relative to that of the default
MAX_COMPARED = 1_000  # samples; more lead to the same choice


def choose_scalings(
    views: MultiView, kinds: Mapping[str, str], *, n_neighbors: int, metric: str, seed: int = 0
) -> dict[str, str]:
    """Choose a scaling for every feature view whose kind is "auto"; the others keep theirs.

    "standard" is chosen if it gives more than 1.05 times as many edges that are also in the other
    views, including precomputed graphs; otherwise, and for a single view, "unit". Views of mostly
    zeros get "unit", because equal column variances would let rare columns dominate. At most
    1,000 samples are compared, drawn with `seed`.
    """
    kinds = {
        name: DEFAULT if kind == AUTO and is_mostly_zeros(views[name]) else kind
        for name, kind in kinds.items()
    }
    undecided = [name for name, kind in kinds.items() if kind == AUTO]
    chosen = {name: DEFAULT if kind == AUTO else kind for name, kind in kinds.items()}
    if not undecided or views.n_views == 1:
        return chosen
    rows = _compared_rows(len(views), seed)
    graphs: dict[str, dict[str, sparse.csr_array]] = {
        name: {"precomputed": precomputed_graph(views, name)[rows][:, rows]}
        for name in views.graph_names
    }
    for kind in CANDIDATES:
        tried = {name: kind if own == AUTO else own for name, own in kinds.items()}
        found = _graphs_of(views, tried, rows, n_neighbors, metric)
        for name, graph in found.items():
            graphs.setdefault(name, {})[tried[name]] = graph
    for name in undecided:
        others = [graph for other, own in graphs.items() if other != name for graph in own.values()]
        overlap = {kind: edge_overlap(graph, others) for kind, graph in graphs[name].items()}
        best = max(CANDIDATES, key=lambda kind: overlap[kind])
        if overlap[best] > MIN_GAIN * overlap[DEFAULT]:
            chosen[name] = best
    return chosen


def _compared_rows(n_samples: int, seed: int) -> np.ndarray:
    if n_samples <= MAX_COMPARED:
        return np.arange(n_samples)
    drawn = np.random.default_rng(seed).choice(n_samples, size=MAX_COMPARED, replace=False)
    return np.sort(drawn)


def _graphs_of(
    views: MultiView, kinds: Mapping[str, str], rows: np.ndarray, n_neighbors: int, metric: str
) -> dict[str, sparse.csr_array]:
    """Build each feature view's exact graph of some samples; no edges without the view."""
    compared = views[rows]
    scaled = scale_views(compared, fit_scalers(views, kinds))
    graphs = {}
    for name, features in scaled.items():
        own = compared.rows_with(name)
        found = nearest_neighbors(
            features if own is None else features[own],
            n_neighbors=min(n_neighbors, len(rows) - 1),
            metric=metric,
        )
        graphs[name] = neighbor_graph(found if own is None else found.among(own, len(rows)))
    return graphs
