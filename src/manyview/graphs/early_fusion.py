"""Neighbors in all views together: one graph more, for the networks that teach.

Each view's graph holds those who are near in that view, and many of its edges are chance. Two
samples that are near in the sum of all views are far more often of one class.

scaled views -> early_fusion_features -> find_neighbors -> early_fusion_graph
"""

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from manyview.data.network_input import InputScaling
from manyview.data.views import View
from manyview.graphs.cached_neighbors import cached_neighbors
from manyview.graphs.knn_graph import neighbor_graph

MOST_CENTERED = 2**26  # values of sparse views that are made dense to subtract their mean


def early_fusion_features(
    features: Sequence[View], scaling: InputScaling, present: np.ndarray | None
) -> View:
    """Put all views side by side, each of mean length 1 and centered: the network's input.

    Sparse views of more than 2^26 values together are left sparse and thus not centered.

    Shapes
    ------
    features : [sample, column] each, zeros where a sample lacks the view
    present : [sample, view], None where all have all
    returns : [sample, column of all views]
    """
    joined = scaling(features, present)
    if isinstance(joined, sparse.csr_array):
        if joined.shape[0] * joined.shape[1] > MOST_CENTERED:
            return joined
        joined = joined.toarray()
    if present is None:
        joined -= scaling.center
        return joined
    shares, means = scaling.row_centers(features, present)
    joined -= np.asarray(shares @ means, dtype=joined.dtype)
    return joined


def early_fusion_graph(
    features: Sequence[View],
    scaling: InputScaling,
    present: np.ndarray | None,
    view_shares: np.ndarray,
    *,
    n_neighbors: int,
    metric: str,
    symmetry: str = "union",
    min_common_neighbors: int = 0,
    search: str = "auto",
    seed: int = 0,
) -> sparse.csr_array:
    """Link each sample to its nearest in all views together: symmetric, 0/1, no self-loops.

    Views of larger shares, [view], count more: similarities are summed in proportion to them.
    """
    weighed = scaling.weighed(features, np.sqrt(view_shares / view_shares.max()))
    found = cached_neighbors(
        early_fusion_features(features, weighed, present),
        n_neighbors=n_neighbors,
        metric=metric,
        search=search,
        seed=seed,
    )
    return neighbor_graph(found, symmetry=symmetry, min_common_neighbors=min_common_neighbors)
