"""Feature propagation over up to K hops, as in SSGCN (simple spectral graph convolution)."""

from typing import Any

import torch
from torch import Tensor

from manyview.distributed.blocks import even_blocks
from manyview.distributed.world import ALONE, World
from manyview.graphs.support import GraphSupport
from manyview.layers.graph_convolution import Center, RowCenters
from manyview.layers.sparse_product import propagate

BLOCK_COLUMNS, BLOCK_VALUES = 512, 2**27  # propagated at a time, at most; bound the memory


def power_sum(support: GraphSupport, graph: Tensor, signal: Tensor, n_steps: int) -> Tensor:
    """Sum the signal propagated over 0 to K-1 hops: sum_{k=0..K-1} T^k X.

    Shapes
    ------
    graph : [edge]
    signal : [node, column]
    returns : [node, column]
    """
    propagated = total = signal
    for _ in range(n_steps - 1):
        propagated = propagate(support, graph, propagated)
        total = total + propagated
    return total


def diffuse(
    support: GraphSupport, graph: Tensor, signal: Tensor, *, n_steps: int, alpha: float
) -> Tensor:
    """Mix a signal with its mean over 1 to K hops: P X.

        P = alpha I + (1 - alpha)/K sum_{k=1..K} T^k

    Shapes
    ------
    graph : [edge]
    signal : [node, column]
    returns : [node, column]
    """
    propagated = propagate(support, graph, power_sum(support, graph, signal, n_steps))
    return alpha * signal + (1 - alpha) / n_steps * propagated


def diffuse_rows(
    support: GraphSupport,
    graph: Tensor,
    features: Tensor,
    center: Center | None,
    rows: Tensor,
    *,
    n_steps: int,
    alpha: float,
    world: World = ALONE,
) -> Tensor:
    """Diffuse the features and return some rows of the result: (P X)[rows].

    When there are fewer rows than features, P itself is computed on these rows, one column per
    row since P is symmetric; sparse features then stay sparse. Otherwise each process of `world`
    diffuses some of the features; it is then collective.

    Shapes
    ------
    graph : [edge], symmetric
    features : [node, feature], dense or sparse CSR
    center : subtracted from the features (see `GraphConvolution`)
    rows : [row], node numbers
    returns : [row, feature]
    """
    settings: dict[str, Any] = {"n_steps": n_steps, "alpha": alpha}
    if len(rows) >= features.shape[1]:
        dense = features if features.layout == torch.strided else features.to_dense()
        n_columns = min(BLOCK_COLUMNS, max(16, BLOCK_VALUES // len(dense)))
        offsets = center.dense() if isinstance(center, RowCenters) else center
        found = []
        blocks = even_blocks(dense.shape[1], world.size)
        own = blocks.slice_of(world.rank)
        for start in range(own.start, own.stop, n_columns):
            columns = slice(start, min(start + n_columns, own.stop))
            signal = dense[:, columns]
            if offsets is not None:
                signal = signal - offsets[..., columns]
            found.append(diffuse(support, graph, signal, **settings)[rows])
        if not world.is_shared:
            return torch.cat(found, dim=1)
        of_own = torch.cat([dense.new_empty(0, len(rows)), *(one.t() for one in found)])
        return world.gather_rows(of_own, blocks.counts).t().contiguous()
    found = []
    for block in rows.split(BLOCK_COLUMNS):
        indicator = torch.zeros(support.n_samples, len(block)).to(graph)
        indicator[block, torch.arange(len(block), device=block.device)] = 1.0
        operator = diffuse(support, graph, indicator, **settings)  # P: [node, row]
        mixed = (features.t() @ operator).t()
        if isinstance(center, RowCenters):
            mixed = mixed - (operator.t() @ center.coefficients) @ center.means
        elif center is not None:
            mixed = mixed - torch.outer(operator.sum(dim=0), center)
        found.append(mixed)
    return torch.cat(found)
