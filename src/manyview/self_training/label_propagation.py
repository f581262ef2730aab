"""Predictions and the graphs: how well neighbors agree on the class, and propagation over edges.

Where several processes share a fit, each has a block of the graphs' rows. The functions are then
collective.
"""

from collections.abc import Sequence

import numpy as np
import torch
from scipy import sparse

from manyview.distributed.blocks import even_blocks
from manyview.distributed.world import ALONE, World
from manyview.layers.sparse_product import multiply_rows
from manyview.numerics import normalize_rows

ROUNDING = 1e-9


def own_rows(n_samples: int, world: World) -> slice:
    """Return the rows of this process: its block of all samples."""
    return even_blocks(n_samples, world.size).slice_of(world.rank)


def without_loops(graph: sparse.csr_array, rows: slice | None = None) -> sparse.csr_array:
    """Return the graph, or some of its rows, without its self-loops: [row, sample]."""
    loops = sparse.csr_array(sparse.diags_array(graph.diagonal()))
    if rows is not None and rows != slice(0, graph.shape[0]):
        graph, loops = graph[rows], loops[rows]
    off = sparse.csr_array(graph - loops)
    off.eliminate_zeros()
    return off


def assortativity(
    graph: sparse.csr_array, probabilities: np.ndarray, world: World = ALONE
) -> float:
    """Measure how often neighbors have one class: 1 always, 0 as often as by chance.

        (e - a) / (1 - a)
        e = sum_ij A_ij p_i . p_j / sum_ij A_ij,   a = |sum_i d_i p_i / sum_i d_i|^2

    Newman's assortativity coefficient (Mixing patterns in networks, 2003), of probabilities. A
    noise view links samples regardless of their class and has about 0, whatever the labels. A
    graph without edges has 0.

    Shapes
    ------
    graph : [own row, sample], no self-loops
    probabilities : [sample, class]

    Examples
    --------
    >>> pairs = sparse.csr_array(np.kron(np.eye(2), [[0.0, 1.0], [1.0, 0.0]]))
    >>> assortativity(pairs, np.repeat(np.eye(2), 2, axis=0))
    1.0
    """
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    own = probabilities[own_rows(len(probabilities), world)]
    sums = [degrees.sum(), np.sum(own * multiply_rows(graph, probabilities)), *(degrees @ own)]
    total, agreeing, *by_class = world.sum(torch.tensor(np.array(sums))).tolist()
    if total <= 0:
        return 0.0
    observed = float(agreeing / total)
    chance = float(np.sum((np.array(by_class) / total) ** 2))
    if chance >= 1 - ROUNDING:  # there is one class only
        return 0.0
    return max((observed - chance) / (1 - chance), 0.0)


def mean_assortativity(
    graphs: Sequence[sparse.csr_array], probabilities: np.ndarray, world: World = ALONE
) -> float:
    """Average the assortativity of the likeliest classes over the graphs.

    Shapes
    ------
    graphs : [own row, sample] each, no self-loops
    probabilities : [sample, class]
    """
    predictions = np.eye(probabilities.shape[1])[probabilities.argmax(axis=1)]
    return float(np.mean([assortativity(graph, predictions, world) for graph in graphs]))


def propagate(
    probabilities: np.ndarray,
    y_encoded: np.ndarray,
    graphs: Sequence[sparse.csr_array],
    graph_weights: np.ndarray,
    *,
    smoothing: float = 0.5,
    n_steps: int = 10,
    world: World = ALONE,
) -> np.ndarray:
    """Propagate predictions over the weighted sum of the graphs; known labels stay certain.

        F <- s D^-1 A F + (1 - s) P,   A = sum_v w_v A_v

    Shapes
    ------
    probabilities : [sample, class]
    y_encoded : [sample], class numbers, -1 where unknown
    graphs : [own row, sample] each, no self-loops
    graph_weights : [graph]
    returns : [sample, class], rows sum to 1
    """
    start = probabilities.astype(np.float64)
    labeled = np.flatnonzero(y_encoded >= 0)
    start[labeled] = np.eye(start.shape[1])[y_encoded[labeled]]
    own = start[own_rows(len(start), world)]
    n_rows = even_blocks(len(start), world.size).counts
    weighted = list(zip(graphs, graph_weights.tolist(), strict=True))
    degrees = sum(weight * np.asarray(graph.sum(axis=1)).ravel() for graph, weight in weighted)
    is_isolated = np.asarray(degrees) <= 0
    inverse = 1.0 / np.where(is_isolated, 1.0, degrees)
    propagated = start
    for _ in range(n_steps):
        received = np.zeros_like(own)
        for graph, weight in weighted:
            received += weight * multiply_rows(graph, propagated)
        received *= inverse[:, None]
        received[is_isolated] = own[is_isolated]
        mixed = torch.from_numpy(smoothing * received + (1 - smoothing) * own)
        propagated = world.gather_rows(mixed, n_rows).numpy()
    return normalize_rows(propagated)
