"""Products with sparse matrices, with the gradients that torch lacks or makes slow."""

import warnings
from functools import cache
from typing import Any

import torch
from torch import Tensor

from manyview.graphs.support import GraphSupport

BLOCK_VALUES = 2**22  # gathered numbers at a time; bounds the memory of wide features


def propagate(support: GraphSupport, edge_weights: Tensor, hidden: Tensor) -> Tensor:
    """Multiply a graph with node features: A H, with gradients for both.

    The gradient for an edge (i, j) is the dot product of row i of the incoming gradient
    with row j of the features; torch's own grows with the square of the samples.

    Shapes
    ------
    edge_weights : [edge]
    hidden : [node, feature]
    returns : [node, feature]
    """
    product: Tensor = _Propagate.apply(support, edge_weights, hidden)  # type: ignore[no-untyped-call]
    return product


def dot_on_edges(support: GraphSupport, left: Tensor, right: Tensor) -> Tensor:
    """Multiply row i of one matrix with row j of another for each edge (i, j): L R^T on edges.

    Its gradients are sparse products, so nothing of size edges x columns is kept.

    Shapes
    ------
    left, right : [node, column]
    returns : [edge]
    """
    dots: Tensor = _DotOnEdges.apply(support, left, right)  # type: ignore[no-untyped-call]
    return dots


def multiply_fixed(matrix: Tensor, weight: Tensor) -> Tensor:
    """Multiply a fixed matrix, dense or sparse CSR, with a learned one: H W."""
    if matrix.layout == torch.strided:
        return matrix @ weight
    product: Tensor = _MultiplyFixed.apply(matrix, weight)  # type: ignore[no-untyped-call]
    return product


def csr_tensor(row_starts: Tensor, columns: Tensor, values: Tensor, shape: Any) -> Tensor:
    """Make a torch CSR matrix without copies, checks or the notice that CSR is in beta."""
    _say_beta_notice_to_nobody()
    return torch.sparse_csr_tensor(row_starts, columns, values, shape, check_invariants=False)


@cache
def _say_beta_notice_to_nobody() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.sparse_csr_tensor([0, 1], [0], [1.0], (1, 1))


class _Propagate(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, support: GraphSupport, edge_weights: Tensor, hidden: Tensor) -> Tensor:
        ctx.support = support
        ctx.save_for_backward(edge_weights, hidden)
        return _graph_matrix(support, edge_weights) @ hidden

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor | None, Tensor | None]:
        (gradient,) = gradients
        support: GraphSupport = ctx.support
        edge_weights, hidden = ctx.saved_tensors
        for_weights = for_hidden = None
        if ctx.needs_input_grad[1]:
            for_weights = _dot_on_edges(support, gradient.contiguous(), hidden)
        if ctx.needs_input_grad[2]:
            for_hidden = _graph_matrix(support, edge_weights[support.reverse]) @ gradient
        return None, for_weights, for_hidden


class _DotOnEdges(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, support: GraphSupport, left: Tensor, right: Tensor) -> Tensor:
        ctx.support = support
        ctx.save_for_backward(left, right)
        return _dot_on_edges(support, left, right)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[None, Tensor, Tensor]:
        support: GraphSupport = ctx.support
        left, right = ctx.saved_tensors
        for_left = _graph_matrix(support, gradients[0]) @ right
        for_right = _graph_matrix(support, gradients[0][support.reverse]) @ left
        return None, for_left, for_right


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


def _dot_on_edges(support: GraphSupport, left: Tensor, right: Tensor) -> Tensor:
    dots = left.new_empty(support.n_edges)
    block = max(1, BLOCK_VALUES // left.shape[1])
    for start in range(0, support.n_edges, block):
        edges = slice(start, start + block)
        torch.linalg.vecdot(
            left[support.rows[edges]], right[support.columns[edges]], out=dots[edges]
        )
    return dots
