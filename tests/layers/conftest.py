"""A tiny graph on its support, in float64, for all layers."""

from dataclasses import dataclass

import pytest
import torch
from scipy import sparse
from torch import Tensor

from manyview.graphs.support import GraphSupport

N_NODES = 9


@dataclass(frozen=True)
class TinyGraph:
    """9 nodes, the last isolated; `matrix` is symmetric and positive on edges."""

    matrix: Tensor  # [node, node]
    support: GraphSupport

    @property
    def weights(self) -> Tensor:
        return self.on_pairs(self.matrix)

    def on_pairs(self, matrix: Tensor) -> Tensor:
        """Entries of a symmetric dense matrix on the pairs: above the diagonal, then loops."""
        upper = matrix[self.support.upper_rows, self.support.upper_columns]
        return torch.cat([upper, matrix.diagonal()])

    def on_edges(self, matrix: Tensor) -> Tensor:
        """Entries of a dense matrix on the support."""
        return matrix[self.support.rows, self.support.columns]

    def dense(self, weights: Tensor) -> Tensor:
        """Dense matrix of one weight a pair, or an edge."""
        matrix, edge_weights = weights.new_zeros(N_NODES, N_NODES), self.support.on_edges(weights)
        return matrix.index_put((self.support.rows, self.support.columns), edge_weights)

    def renumbered(self, order: Tensor) -> "TinyGraph":
        """Let node i be the node that was order[i]."""
        return tiny_graph_of(self.matrix[order][:, order])


def tiny_graph_of(matrix: Tensor) -> TinyGraph:
    return TinyGraph(matrix, GraphSupport.from_graphs([sparse.csr_array(matrix.numpy())]))


@pytest.fixture
def generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)


@pytest.fixture
def tiny_graph(generator: torch.Generator) -> TinyGraph:
    shape = (N_NODES, N_NODES)
    weight = torch.rand(shape, generator=generator, dtype=torch.float64) + 0.1
    is_edge = torch.rand(shape, generator=generator) < 0.4
    upper = torch.triu(weight * is_edge, diagonal=1)
    upper[:, -1] = 0
    return tiny_graph_of(upper + upper.T + torch.diag(weight.diagonal()))


@pytest.fixture
def order(generator: torch.Generator) -> Tensor:
    """How nodes are renumbered."""
    return torch.randperm(N_NODES, generator=generator)
