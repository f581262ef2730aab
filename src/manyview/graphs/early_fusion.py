"""The early-fusion graph: nearest neighbors in all views together.

A view's graph links samples that are near in that view, and many of its edges are random. Samples
that are near in the concatenated views belong to the same class far more often.

scaled views -> early_fusion_features -> find_neighbors -> early_fusion_graph
"""

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from manyview.data.network_input import InputScaling
from manyview.data.views import View
from manyview.distributed.world import ALONE, World
from manyview.graphs.cached_neighbors import cached_neighbors
from manyview.graphs.knn_graph import neighbor_graph

MAX_CENTERED = 2**26  # values of sparse views converted to dense in order to center them


def early_fusion_features(
    features: Sequence[View], scaling: InputScaling, present: np.ndarray | None
) -> View:
    """Concatenate the views, each centered and of mean length 1: the network's input.

    Sparse views of more than 2^26 values in total stay sparse and are not centered.

    Shapes
    ------
    features : [sample, column] each, zeros for samples without the view
    present : [sample, view], None if all samples have all views
    returns : [sample, column of all views]
    """
    joined = scaling(features, present)
    if isinstance(joined, sparse.csr_array):
        if joined.shape[0] * joined.shape[1] > MAX_CENTERED:
            return joined
        joined = joined.toarray()
    if present is None:
        joined -= scaling.center
        return joined
    coefficients, means = scaling.row_centers(features, present)
    joined -= np.asarray(coefficients @ means, dtype=joined.dtype)
    return joined


def early_fusion_graph(
    features: Sequence[View],
    scaling: InputScaling,
    present: np.ndarray | None,
    view_weights: np.ndarray,
    *,
    n_neighbors: int,
    metric: str,
    symmetry: str = "union",
    min_common_neighbors: int = 0,
    search: str = "auto",
    seed: int = 0,
    world: World = ALONE,
) -> sparse.csr_array:
    """Link each sample to its nearest neighbors in all views: symmetric, 0/1, no self-loops.

    Similarities of the views are summed in proportion to `view_weights`, [view].
    """
    weighted = scaling.weighed(features, np.sqrt(view_weights / view_weights.max()))
    found = cached_neighbors(
        early_fusion_features(features, weighted, present),
        n_neighbors=n_neighbors,
        metric=metric,
        search=search,
        seed=seed,
        world=world,
    )
    return neighbor_graph(found, symmetry=symmetry, min_common_neighbors=min_common_neighbors)
