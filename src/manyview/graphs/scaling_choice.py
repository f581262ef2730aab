"""Scaling chosen for each view without a label: the one whose neighbors other views confirm.

How a view is scaled decides who its neighbors are, and no scaling is best for all: columns of
different units want "standard", documents lose by it. But samples that belong together are
neighbors in several views, so the scaling that suits a view makes more of its edges agree with
the other views' graphs.

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

AUTO, USUAL = "auto", "unit"
CANDIDATES = (USUAL, "standard")
CLEARLY = 1.05  # times as many shared edges for another scaling than the usual
MOST_JUDGED = 1_000  # samples that are compared; more would tell the same


def choose_scalings(
    views: MultiView,
    kinds: Mapping[str, str],
    *,
    n_neighbors: int,
    metric: str,
    seed: int = 0,
) -> dict[str, str]:
    """Name a scaling for every feature view whose kind is "auto"; the others keep theirs.

    "standard" is taken where more than 1.05 times as many of the view's edges are edges in the
    other views too, given graphs among them; otherwise, and where there is no other view, "unit".
    Views of mostly zeros are "unit" as well: were all columns to count alike, rare ones would
    drown the others. Of more than 1,000 samples 1,000 are compared, drawn with `seed`.
    """
    kinds = {
        name: USUAL if kind == AUTO and is_mostly_zeros(views[name]) else kind
        for name, kind in kinds.items()
    }
    undecided = [name for name, kind in kinds.items() if kind == AUTO]
    chosen = {name: USUAL if kind == AUTO else kind for name, kind in kinds.items()}
    if not undecided or views.n_views == 1:
        return chosen
    rows = _judged_rows(len(views), seed)
    graphs: dict[str, dict[str, sparse.csr_array]] = {
        name: {"given": precomputed_graph(views, name)[rows][:, rows]} for name in views.graph_names
    }
    for kind in CANDIDATES:
        tried = {name: kind if own == AUTO else own for name, own in kinds.items()}
        found = _graphs_of(views, tried, rows, n_neighbors, metric)
        for name, graph in found.items():
            graphs.setdefault(name, {})[tried[name]] = graph
    for name in undecided:
        others = [graph for other, own in graphs.items() if other != name for graph in own.values()]
        shared = {kind: edge_overlap(graph, others) for kind, graph in graphs[name].items()}
        best = max(CANDIDATES, key=lambda kind: shared[kind])
        if shared[best] > CLEARLY * shared[USUAL]:
            chosen[name] = best
    return chosen


def _judged_rows(n_samples: int, seed: int) -> np.ndarray:
    if n_samples <= MOST_JUDGED:
        return np.arange(n_samples)
    drawn = np.random.default_rng(seed).choice(n_samples, size=MOST_JUDGED, replace=False)
    return np.sort(drawn)


def _graphs_of(
    views: MultiView, kinds: Mapping[str, str], rows: np.ndarray, n_neighbors: int, metric: str
) -> dict[str, sparse.csr_array]:
    """Graph of each feature view among some samples, exact; none for those who lack the view."""
    judged = views[rows]
    scaled = scale_views(judged, fit_scalers(views, kinds))
    graphs = {}
    for name, features in scaled.items():
        own = judged.rows_with(name)
        found = nearest_neighbors(
            features if own is None else features[own],
            n_neighbors=min(n_neighbors, len(rows) - 1),
            metric=metric,
        )
        graphs[name] = neighbor_graph(found if own is None else found.among(own, len(rows)))
    return graphs
