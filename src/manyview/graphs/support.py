"""One sparse support for every graph: the union of the views' edges and the diagonal."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
import torch
from scipy import sparse
from torch import Tensor


@dataclass(frozen=True)
class GraphSupport:
    """Where the edges are; every graph is then one weight an edge, in this order.

    Edges are sorted by row, then column (CSR). The support is symmetric and holds the
    whole diagonal.

    Attributes
    ----------
    row_starts
        [sample + 1] position of each row's first edge.
    rows, columns
        [edge] the two ends of each edge.
    reverse
        [edge] position of the same edge seen from its other end.
    undirected
        [edge] number of the undirected edge, both directions alike; the diagonal, which
        has no partner, gets `n_undirected`.
    """

    row_starts: Tensor
    rows: Tensor
    columns: Tensor
    reverse: Tensor
    undirected: Tensor

    @classmethod
    def from_graphs(cls, graphs: Sequence[sparse.csr_array]) -> "GraphSupport":
        """Unite the edges of symmetric graphs and add the diagonal."""
        n_samples = graphs[0].shape[0]
        pattern = sparse.csr_array(sparse.eye_array(n_samples))
        for graph in graphs:
            pattern = pattern + abs(graph)
        pattern = sparse.csr_array(pattern)
        pattern.sort_indices()
        columns = pattern.indices.astype(np.int64)
        rows = np.repeat(np.arange(n_samples), np.diff(pattern.indptr))
        # Sorted by column, then row, the k-th edge of a symmetric pattern is the reverse of
        # the k-th edge sorted by row, then column.
        pattern.data = np.arange(pattern.nnz, dtype=np.float64)
        reverse = pattern.tocsc().data.astype(np.int64)
        is_upper = rows < columns
        undirected = np.full(pattern.nnz, is_upper.sum())
        undirected[is_upper] = np.arange(is_upper.sum())
        undirected[reverse[is_upper]] = np.arange(is_upper.sum())
        parts = (pattern.indptr.astype(np.int64), rows, columns, reverse, undirected)
        return cls(*(torch.from_numpy(np.ascontiguousarray(part)) for part in parts))

    @property
    def n_samples(self) -> int:
        """Number of samples m."""
        return len(self.row_starts) - 1

    @property
    def n_edges(self) -> int:
        """Number of stored edges: both directions, and the diagonal."""
        return len(self.columns)

    @property
    def n_undirected(self) -> int:
        """Number of undirected edges between different samples."""
        return (self.n_edges - self.n_samples) // 2

    def to(self, device: torch.device | str) -> "GraphSupport":
        """Move to a device."""
        return GraphSupport(*(getattr(self, field.name).to(device) for field in fields(self)))

    def weights_of(self, graph: sparse.csr_array) -> Tensor:
        """Lay a graph on the support: one weight an edge, 0 where the graph has none."""
        graph = sparse.csr_array(graph)
        graph.sort_indices()
        n_samples = self.n_samples
        keys = self.rows.numpy() * n_samples + self.columns.numpy()
        own_rows = np.repeat(np.arange(n_samples), np.diff(graph.indptr))
        weights = np.zeros(self.n_edges)
        weights[np.searchsorted(keys, own_rows * n_samples + graph.indices)] = graph.data
        return torch.from_numpy(weights)

    def matrix_of(self, edge_weights: Tensor) -> sparse.csr_array:
        """Turn one weight an edge back into a scipy matrix; edges of weight 0 are left out."""
        matrix = sparse.csr_array(
            (
                edge_weights.detach().cpu().numpy().copy(),
                self.columns.cpu().numpy().copy(),
                self.row_starts.cpu().numpy().copy(),
            ),
            shape=(self.n_samples, self.n_samples),
        )
        matrix.eliminate_zeros()
        return matrix
