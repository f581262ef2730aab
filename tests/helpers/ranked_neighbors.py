"""Nearest neighbors by ranking all distances: the oracle of the bounded search."""

import numpy as np
from scipy import sparse


def ranked_neighbors(queries, points, n_neighbors, metric, among_themselves):
    """Return columns and float32 distances of the nearest, with ties by column; -1 and inf."""
    with np.errstate(invalid="ignore", over="ignore"):
        distances = _distances(queries, points, metric)
    if among_themselves:
        np.fill_diagonal(distances, np.inf)
    order = np.argsort(distances, axis=1, kind="stable")[:, :n_neighbors]
    reach = np.take_along_axis(distances, order, axis=1)
    missing = ((0, 0), (0, n_neighbors - order.shape[1]))
    reach = np.pad(reach, missing, constant_values=np.inf)
    order = np.pad(order, missing)
    return np.where(np.isinf(reach), -1, order), reach


def _distances(queries, points, metric):
    rounding = (points.shape[1] + 8) * np.finfo(np.float64).eps
    if metric == "cosine":
        product = _product(_unit(queries), _unit(points))
        distance = 1.0 - product
        distance[distance < rounding] = 0.0
        distance[np.abs(product) < rounding] = np.inf
        return distance.astype(np.float32)
    queries, points = queries.astype(np.float64), points.astype(np.float64)
    if not sparse.issparse(points):
        origin = points.sum(axis=0) / len(points)
        queries, points = queries - origin, points - origin
    scale = _norms(queries)[:, None] + _norms(points)
    distance = scale - 2.0 * _product(queries, points)
    distance[distance < rounding * scale] = 0.0
    return distance.astype(np.float32)


def _unit(features):
    features = features.astype(np.float64)
    norms = np.sqrt(_norms(features))
    inverse = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    if sparse.issparse(features):
        return sparse.csr_array(sparse.diags_array(inverse) @ features)
    return features * inverse[:, None]


def _norms(features):
    if sparse.issparse(features):
        return np.asarray(features.multiply(features).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", features, features)


def _product(queries, points):
    if sparse.issparse(points):
        return (queries @ points.T).toarray()
    return queries @ points.T
