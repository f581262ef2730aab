"""Products with sparse matrices, with gradients that torch lacks or computes slowly."""

import warnings
from functools import cache
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from manyview.graphs.support import GraphSupport
from manyview.layers.sharded import with_neighbors

# Of dot products on pairs: rows, and values of both sides, at a time; they bound the memory.
BLOCK_ROWS, BLOCK_VALUES = 2**18, 2**28


def propagate(
    support: GraphSupport, graph: Tensor, hidden: Tensor, edge_weights: Tensor | None = None
) -> Tensor:
    """Multiply a graph by node features: A H, with gradients for both.

    The gradient of an edge (i, j) is the dot product of row i of the incoming gradient and row j
    of the features; that of a pair is the sum over its two directions. Torch's own gradient takes
    memory quadratic in the samples.

    Shapes
    ------
    graph : [pair], or [edge] where the two directions differ
    hidden : [own node, feature]
    edge_weights : [edge], the same graph on edges if already computed
    returns : [own node, feature]
    """
    hidden = with_neighbors(support, hidden)
    if edge_weights is None:
        edge_weights = support.on_edges(graph.detach())
    product: Tensor = _Propagate.apply(support, graph, edge_weights, hidden)  # type: ignore[no-untyped-call]
    return product


def skew_products(support: GraphSupport, left: Tensor, right: Tensor) -> Tensor:
    """Compute L R^T - R L^T above the diagonal, on edges, without the m x m matrix.

    Its gradients are sparse products, so nothing of size edges x columns is stored.

    Shapes
    ------
    left, right : [node, column]
    returns : [undirected edge]
    """
    products: Tensor = _SkewProducts.apply(support, left, right)  # type: ignore[no-untyped-call]
    return products


def sum_at_nodes(support: GraphSupport, graph: Tensor) -> Tensor:
    """Sum the weights of each node's edges, its loop once: A 1.

    Shapes
    ------
    graph : [pair]
    returns : [node]
    """
    totals: Tensor = _SumAtNodes.apply(support, graph)  # type: ignore[no-untyped-call]
    return totals


def sum_of_ends(support: GraphSupport, values: Tensor) -> Tensor:
    """Sum the values at the two ends of each pair: x_i + x_j; a loop counts its node twice.

    Shapes
    ------
    values : [node]
    returns : [pair]
    """
    values, sums = support.by_place(values), values.new_empty(support.n_pairs)
    between = sums[: support.n_undirected]
    torch.index_select(values, 0, support.upper_rows, out=between)
    between.add_(values.index_select(0, support.upper_columns))
    torch.add(values, values, out=sums[support.n_undirected :])
    return sums


def by_place(support: GraphSupport, values: Tensor) -> Tensor:
    """Reorder rows from samples to places, with its gradient.

    Each row has one place, so the gradient is a reordering, too; torch's own accumulates.
    """
    if support.order is None:
        return values
    placed: Tensor = _Reorder.apply(values, support.order, support.places)  # type: ignore[no-untyped-call]
    return placed


def by_sample(support: GraphSupport, values: Tensor) -> Tensor:
    """Reorder rows from places to samples, with its gradient."""
    if support.order is None:
        return values
    rows: Tensor = _Reorder.apply(values, support.places, support.order)  # type: ignore[no-untyped-call]
    return rows


def multiply_fixed(matrix: Tensor, weight: Tensor) -> Tensor:
    """Multiply a fixed matrix, dense or sparse CSR, by a learned one: H W."""
    if matrix.layout == torch.strided:
        return matrix @ weight
    product: Tensor = _MultiplyFixed.apply(matrix, weight)  # type: ignore[no-untyped-call]
    return product


def csr_tensor(row_starts: Tensor, columns: Tensor, values: Tensor, shape: Any) -> Tensor:
    """Make a torch CSR matrix without copies, checks or torch's warning that CSR is in beta."""
    _silence_beta_warning()
    return torch.sparse_csr_tensor(row_starts, columns, values, shape, check_invariants=False)


def multiply_rows(graph: sparse.csr_array, values: np.ndarray) -> np.ndarray:
    """Compute `graph @ values` of scipy and numpy on torch's threads, up to rounding.

    Examples
    --------
    >>> multiply_rows(sparse.csr_array(np.array([[0.0, 2.0], [1.0, 0.0]])), np.eye(2))
    array([[0., 2.],
           [1., 0.]])
    """
    starts, columns, data = (
        torch.from_numpy(part) for part in (graph.indptr, graph.indices, graph.data)
    )
    product = csr_tensor(starts, columns, data, graph.shape) @ torch.from_numpy(values)
    return np.asarray(product.numpy())


@cache
def _silence_beta_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.sparse_csr_tensor([0, 1], [0], [1.0], (1, 1))


class _Propagate(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, support: GraphSupport, graph: Tensor, edge_weights: Tensor, hidden: Tensor
    ) -> Tensor:
        ctx.support, ctx.is_symmetric = support, len(graph) == support.n_pairs
        hidden = support.by_place(hidden)
        ctx.save_for_backward(edge_weights, hidden)
        return support.by_sample(_multiply(_own_rows(support, edge_weights), hidden))

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor | None, None, Tensor | None]:
        support: GraphSupport = ctx.support
        gradient = support.by_place(gradients[0]).contiguous()
        if support.shard is not None:
            gradient = support.shard.pad(gradient)
        edge_weights, hidden = ctx.saved_tensors
        for_graph = for_hidden = None
        if ctx.needs_input_grad[1]:
            dots = _dots_on_pairs if ctx.is_symmetric else _dots_on_edges
            for_graph = dots(support, gradient, hidden)
        if ctx.needs_input_grad[3]:
            if not ctx.is_symmetric:
                edge_weights = edge_weights.index_select(0, support.reverse)
            for_hidden = support.by_sample(
                _multiply(_graph_matrix(support, edge_weights), gradient)
            )
        return None, for_graph, None, for_hidden


class _Reorder(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, values: Tensor, order: Tensor, inverse: Tensor) -> Tensor:
        ctx.inverse = inverse
        return values.index_select(0, order)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        return gradients[0].index_select(0, ctx.inverse), None, None


class _SkewProducts(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, support: GraphSupport, left: Tensor, right: Tensor) -> Tensor:
        ctx.support = support
        left, right = support.by_place(left), support.by_place(right)
        ctx.save_for_backward(left, right)
        return _dots_above_diagonal(support, left, right).sub_(
            _dots_above_diagonal(support, right, left)
        )

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor, Tensor]:
        support: GraphSupport = ctx.support
        left, right = ctx.saved_tensors
        on_pairs = torch.cat([gradients[0], gradients[0].new_zeros(support.n_samples)])
        on_edges = support.on_edges(on_pairs) * torch.sign(support.columns - support.rows)
        skew = _graph_matrix(support, on_edges)
        return None, support.by_sample(skew @ right), support.by_sample(-(skew @ left))


class _SumAtNodes(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, support: GraphSupport, graph: Tensor) -> Tensor:
        ctx.support = support
        between, loops = graph[: support.n_undirected], graph[support.n_undirected :]
        shape = (support.n_samples, support.n_samples)
        upper = csr_tensor(support.upper_starts, support.upper_columns, between, shape)
        totals = upper @ graph.new_ones(support.n_samples)
        totals.add_(loops).index_add_(0, support.upper_columns, between)
        return support.by_sample(totals)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor]:
        (gradient,) = gradients
        for_graph = sum_of_ends(ctx.support, gradient)
        for_graph[ctx.support.n_undirected :].mul_(0.5)  # a loop counts once
        return None, for_graph


class _MultiplyFixed(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, matrix: Tensor, weight: Tensor) -> Tensor:
        ctx.matrix = matrix
        return matrix @ weight

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor]:
        return None, ctx.matrix.t() @ gradients[0]


def _graph_matrix(support: GraphSupport, edge_weights: Tensor) -> Tensor:
    shape = (support.n_samples, support.n_samples)
    return csr_tensor(support.row_starts, support.columns, edge_weights, shape)


def _own_rows(support: GraphSupport, edge_weights: Tensor) -> Tensor:
    """Return the rows of the own nodes as a matrix, all rows of a whole support."""
    if support.shard is None:
        return _graph_matrix(support, edge_weights)
    own = support.shard.own
    starts = support.row_starts[own.start : own.stop + 1]
    edges = slice(int(starts[0]), int(starts[-1]))
    shape = (len(starts) - 1, support.n_samples)
    return csr_tensor(starts - edges.start, support.columns[edges], edge_weights[edges], shape)


def _multiply(matrix: Tensor, hidden: Tensor) -> Tensor:
    """Compute `matrix @ hidden`; torch's own operator first fills two results with zeros."""
    return torch.addmm(hidden.new_zeros(1, hidden.shape[1]), matrix, hidden, beta=0)


def _dots_on_pairs(support: GraphSupport, left: Tensor, right: Tensor) -> Tensor:
    """Compute L_i . R_j + L_j . R_i for each pair of nodes, L_i . R_i for each loop: [pair]."""
    lowest, highest = left.aminmax(dim=1)  # a tenth of the time of any()
    rows = ((lowest != 0) | (highest != 0)).nonzero().squeeze(1)
    if 2 * len(rows) < len(left):
        return _dots_of_rows(support, left, right, rows)
    dots = left.new_zeros(support.n_pairs)
    n_columns = max(1, BLOCK_VALUES // max(1, 2 * len(left)))
    for one, other in zip(left.split(n_columns, 1), right.split(n_columns, 1), strict=True):
        _add_dots_of_ends(support, one, other, dots)
    torch.linalg.vecdot(left, right, out=dots[support.n_undirected :])
    return dots


def _add_dots_of_ends(support: GraphSupport, left: Tensor, right: Tensor, dots: Tensor) -> None:
    """Add L_i . R_j + L_j . R_i for each undirected edge."""
    swapped = torch.cat([right, left], dim=1)
    for start in range(0, len(left), BLOCK_ROWS):
        own = slice(start, start + BLOCK_ROWS)
        starts = support.upper_starts[start : start + BLOCK_ROWS + 1]
        edges = slice(int(starts[0]), int(starts[-1]))
        _sample_into(
            dots[edges],
            starts - edges.start,
            support.upper_columns[edges],
            torch.cat([left[own], right[own]], dim=1),
            swapped,
        )


def _dots_of_rows(support: GraphSupport, left: Tensor, right: Tensor, rows: Tensor) -> Tensor:
    """Compute `_dots_on_pairs` when only the given rows of L are nonzero."""
    starts = support.row_starts.index_select(0, rows)
    lengths = support.row_starts.index_select(0, rows + 1) - starts
    own_starts = torch.cat([lengths.new_zeros(1), lengths.cumsum(0, dtype=lengths.dtype)])
    n_edges = int(own_starts[-1])
    edges = torch.repeat_interleave(starts - own_starts[:-1], lengths, output_size=n_edges)
    edges += torch.arange(n_edges, dtype=edges.dtype, device=edges.device)
    dots = _sampled(
        own_starts, support.columns.index_select(0, edges), left.index_select(0, rows), right
    )
    pairs = support.pairs.index_select(0, edges)
    return left.new_zeros(support.n_pairs).index_add_(0, pairs, dots)


def _dots_on_edges(support: GraphSupport, left: Tensor, right: Tensor) -> Tensor:
    """Compute L_i . R_j for each edge (i, j): [edge]."""
    return _sampled(support.row_starts, support.columns, left, right)


def _dots_above_diagonal(support: GraphSupport, left: Tensor, right: Tensor) -> Tensor:
    """Compute L_i . R_j for each edge i < j: [undirected edge]."""
    return _sampled(support.upper_starts, support.upper_columns, left, right)


def _sampled(row_starts: Tensor, columns: Tensor, left: Tensor, right: Tensor) -> Tensor:
    """Compute the entries of L R^T that a CSR pattern lists, and no others."""
    return _sample_into(left.new_zeros(len(columns)), row_starts, columns, left, right)


def _sample_into(
    values: Tensor, row_starts: Tensor, columns: Tensor, left: Tensor, right: Tensor
) -> Tensor:
    """Add the entries of L R^T that a CSR pattern lists to `values`."""
    pattern = csr_tensor(row_starts, columns, values, (len(left), len(right)))
    torch.sparse.sampled_addmm(pattern, left.contiguous(), right.contiguous().t(), out=pattern)
    return values
