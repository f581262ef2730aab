"""Signals spread over a graph by walks of up to K steps, as SSGCN does."""

from typing import Any

import torch
from torch import Tensor

from manyview.graphs.support import GraphSupport
from manyview.layers.graph_convolution import Center, RowCenters
from manyview.layers.sparse_product import propagate

BLOCK_COLUMNS = 512  # spread at a time; bounds the memory


def walk_sum(support: GraphSupport, graph: Tensor, signal: Tensor, n_steps: int) -> Tensor:
    """Add what walks of 0 to K-1 steps bring: sum_{k=0..K-1} T^k X.

    Shapes
    ------
    graph : [edge]
    signal : [node, column]
    returns : [node, column]
    """
    walked = total = signal
    for _ in range(n_steps - 1):
        walked = propagate(support, graph, walked)
        total = total + walked
    return total


def spread(
    support: GraphSupport, graph: Tensor, signal: Tensor, *, n_steps: int, alpha: float
) -> Tensor:
    """Mix a signal with the mean of what 1 to K steps bring: P X.

        P = alpha I + (1 - alpha)/K sum_{k=1..K} T^k

    Shapes
    ------
    graph : [edge]
    signal : [node, column]
    returns : [node, column]
    """
    walked = propagate(support, graph, walk_sum(support, graph, signal, n_steps))
    return alpha * signal + (1 - alpha) / n_steps * walked


def spread_rows(
    support: GraphSupport,
    graph: Tensor,
    features: Tensor,
    center: Center | None,
    rows: Tensor,
    *,
    n_steps: int,
    alpha: float,
) -> Tensor:
    """Spread the features, and return some rows of the result: (P X) on `rows`.

    Where the rows are fewer than the features it is P that is computed on them, one column a
    row since P is symmetric; sparse features then never become dense.

    Shapes
    ------
    graph : [edge], symmetric
    features : [node, feature], dense or sparse CSR
    center : subtracted from the features (see `GraphConvolution`)
    rows : [row], numbers of nodes
    returns : [row, feature]
    """
    walk: dict[str, Any] = {"n_steps": n_steps, "alpha": alpha}
    if len(rows) >= features.shape[1]:
        dense = features if features.layout == torch.strided else features.to_dense()
        if center is not None:
            dense = dense - (center.dense() if isinstance(center, RowCenters) else center)
        signals = dense.split(BLOCK_COLUMNS, dim=1)
        return torch.cat([spread(support, graph, one, **walk)[rows] for one in signals], dim=1)
    found = []
    for block in rows.split(BLOCK_COLUMNS):
        indicator = torch.zeros(support.n_samples, len(block)).to(graph)
        indicator[block, torch.arange(len(block), device=block.device)] = 1.0
        shares = spread(support, graph, indicator, **walk)  # [node, row]
        mixed = (features.t() @ shares).t()
        if isinstance(center, RowCenters):
            mixed = mixed - (shares.t() @ center.shares) @ center.means
        elif center is not None:
            mixed = mixed - torch.outer(shares.sum(dim=0), center)
        found.append(mixed)
    return torch.cat(found)
