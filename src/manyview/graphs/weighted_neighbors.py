"""Graphs whose edge weights decrease with the distance of the two samples.

features -> nearest_neighbors -> distances_on_pairs -> probabilistic_neighbors, heat_kernel_graph
"""

import numpy as np
from scipy import sparse

from manyview.data.views import View
from manyview.graphs.neighbors import (
    NO_NEIGHBOR,
    distances_on_pairs,
    mean_distance,
    nearest_neighbors,
)

MAX_DRAWN = 3000  # samples that estimate the mean distance
ROUNDING = 1e-12  # relative difference below which distances are equal


def adaptive_weights(distances: np.ndarray) -> np.ndarray:
    """Compute the weights of each row's k nearest neighbors; rows sum to 1.

        w_j = (d_{k+1} - d_j) / (k d_{k+1} - sum_{h<=k} d_h)

    This is the closed form of adaptive neighbors (Nie et al., 2014). When all k + 1 distances are
    equal it is 0 / 0, and each of the k gets 1/k.

    Parameters
    ----------
    distances
        [row, rank] squared distances of k + 1 neighbors, ascending.

    Examples
    --------
    >>> import numpy as np
    >>> adaptive_weights(np.array([[1.0, 2.0, 4.0], [3.0, 3.0, 3.0]]))
    array([[0.6, 0.4],
           [0.5, 0.5]])
    """
    farthest = distances[:, -1:]
    gaps = farthest - distances[:, :-1]
    total = gaps.sum(axis=1, keepdims=True)
    even = np.full_like(gaps, 1.0 / gaps.shape[1])
    return np.asarray(np.divide(gaps, total, out=even, where=total > ROUNDING * farthest))


def probabilistic_neighbors(features: View, *, n_neighbors: int) -> sparse.csr_array:
    """Link each sample to its nearest with adaptive weights: (W + W^T) / 2, no self-loops.

    Rows of W sum to 1 (see `adaptive_weights`). With fewer than `n_neighbors` + 2 samples, the
    neighbors are all others but the farthest, which sets the scale.

    Examples
    --------
    >>> import numpy as np
    >>> probabilistic_neighbors(np.array([[0.0], [1.0], [3.0]]), n_neighbors=1).toarray()
    array([[0. , 1. , 0. ],
           [1. , 0. , 0.5],
           [0. , 0.5, 0. ]])
    """
    n_samples = features.shape[0]
    if n_samples <= 2:  # none is left to set the scale
        return sparse.csr_array(np.ones((n_samples, n_samples)) - np.eye(n_samples))
    n_weighted = min(n_neighbors, n_samples - 2)
    found = nearest_neighbors(features, n_neighbors=n_weighted + 1, metric="euclidean").indices
    rows = np.repeat(np.arange(n_samples), n_weighted + 1)
    distances = distances_on_pairs(features, rows, found.ravel()).reshape(found.shape)
    # The search compares in float32, so ties there may be out of order here.
    order = np.argsort(distances, axis=1, kind="stable")
    weights = adaptive_weights(np.take_along_axis(distances, order, axis=1))
    columns = np.take_along_axis(found, order, axis=1)[:, :-1]
    rows = np.repeat(np.arange(n_samples), n_weighted)
    directed = _directed(weights.ravel(), rows, columns.ravel(), n_samples)
    return _tidy(sparse.csr_array((directed + directed.T) / 2))


def heat_kernel_graph(features: View, *, n_neighbors: int, seed: int) -> sparse.csr_array:
    """Link each sample to its nearest with weights exp(-d^2 / (2 t^2)) in (0, 1].

    t is the mean Euclidean distance of all pairs, including each sample with itself; for more
    than 3,000 samples it is estimated on 3,000 drawn with `seed`. An edge exists if either end is
    a neighbor of the other. If all samples are equal, every weight is 1.

    Examples
    --------
    >>> import numpy as np
    >>> points = np.array([[0.0], [1.0], [3.0]])  # t = 12 / 9
    >>> heat_kernel_graph(points, n_neighbors=1, seed=0).toarray().round(3)
    array([[0.   , 0.755, 0.   ],
           [0.755, 0.   , 0.325],
           [0.   , 0.325, 0.   ]])
    """
    n_samples = features.shape[0]
    found = nearest_neighbors(features, n_neighbors=n_neighbors, metric="euclidean").indices
    is_edge = found.ravel() != NO_NEIGHBOR
    rows = np.repeat(np.arange(n_samples), n_neighbors)[is_edge]
    columns = found.ravel()[is_edge]
    scale = mean_distance(_drawn(features, seed)) or 1.0
    distances = np.sqrt(distances_on_pairs(features, rows, columns))
    directed = _directed(np.exp(-((distances / scale) ** 2) / 2), rows, columns, n_samples)
    return _tidy(sparse.csr_array(directed.maximum(directed.T)))


def _drawn(features: View, seed: int) -> View:
    n_samples = features.shape[0]
    if n_samples <= MAX_DRAWN:
        return features
    rng = np.random.default_rng(seed)
    return features[np.sort(rng.choice(n_samples, size=MAX_DRAWN, replace=False))]


def _directed(
    weights: np.ndarray, rows: np.ndarray, columns: np.ndarray, n_samples: int
) -> sparse.csr_array:
    return sparse.csr_array((weights, (rows, columns)), shape=(n_samples, n_samples))


def _tidy(graph: sparse.csr_array) -> sparse.csr_array:
    graph.eliminate_zeros()
    graph.sort_indices()
    return graph
