"""One sparse support for every graph: the union of the views' edges and the diagonal."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property

import numpy as np
import torch
from scipy import sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee
from torch import Tensor

from manyview.distributed.shard import Shard
from manyview.graphs.view_masks import ViewMasks, find_view_masks
from manyview.system.scratch import on_disk

REORDERED_FROM = 20_000  # samples; the features of fewer fit the processor's cache


@dataclass(frozen=True)
class GraphSupport:
    """The edges of all graphs; a graph is then one weight per pair, in this order.

    A pair is an undirected edge between two samples, or a self-loop. Pairs of different samples
    come first, sorted by the lower sample, then the higher; the loops follow. A graph whose two
    directions differ has one weight per edge: edges are sorted by row, then column (CSR). The
    support is symmetric and includes the whole diagonal. Indices are 32-bit if they fit.

    Large supports are reordered so that neighbors have nearby places, and a product finds their
    features in the processor's cache. The attributes below number samples by place; layers take
    and return values in sample order, and weights of pairs and edges are in the order of places.

    Attributes
    ----------
    row_starts
        [sample + 1] position of each row's first edge.
    columns
        [edge] the sample each edge leads to.
    pairs
        [edge] pair the edge belongs to.
    upper_starts
        [sample + 1] first pair whose lower sample is this one.
    upper_rows, upper_columns
        [undirected edge] the lower and the higher sample of each pair.
    order
        [sample] the sample at each place; None without reordering.
    view_masks
        Views that both ends of each pair have; None if all samples have all views.
    shard
        Which part of a divided support this is (see `shard_support`); None for a whole one.
    """

    row_starts: Tensor
    columns: Tensor
    pairs: Tensor
    upper_starts: Tensor
    upper_rows: Tensor
    upper_columns: Tensor
    order: Tensor | None = None
    view_masks: ViewMasks | None = field(default=None, kw_only=True)
    shard: Shard | None = field(default=None, kw_only=True)

    @classmethod
    def from_graphs(
        cls, graphs: Sequence[sparse.csr_array], is_reordered: bool | None = None
    ) -> "GraphSupport":
        """Unite the edges of symmetric graphs and add the diagonal.

        `is_reordered` selects whether neighbors get nearby places; None decides by size.
        """
        n_samples = graphs[0].shape[0]
        pattern = sparse.csr_array(sparse.eye_array(n_samples, dtype=bool))
        for graph in graphs:
            pattern = pattern + graph.astype(bool)
        order = None
        if is_reordered or (is_reordered is None and n_samples >= REORDERED_FROM):
            order = reverse_cuthill_mckee(sparse.csr_matrix(pattern), symmetric_mode=True)
            pattern = pattern[order][:, order]
        pattern.sort_indices()
        n_edges, starts = pattern.nnz, pattern.indptr
        integer = np.int32 if n_edges <= np.iinfo(np.int32).max else np.int64
        # Arrays that are finished go to the scratch folder at once: edges are many.
        columns = on_disk(pattern.indices.astype(integer, copy=False))
        del pattern
        rows: np.ndarray = np.repeat(np.arange(n_samples, dtype=integer), np.diff(starts))
        is_upper, is_loop = rows < columns, rows == columns
        upper_rows, upper_columns = on_disk(rows[is_upper]), on_disk(columns[is_upper])
        del rows
        n_undirected = len(upper_rows)
        upper_starts = np.concatenate([[0], np.bincount(upper_rows, minlength=n_samples).cumsum()])
        numbers = np.arange(n_undirected, dtype=integer)
        pairs = np.empty(n_edges, dtype=integer)
        pairs[is_upper] = numbers
        pairs[is_loop] = n_undirected + np.arange(n_samples)
        # Sorted by column, then row, the k-th edge above the diagonal of a symmetric pattern is
        # the reverse of the k-th edge below it sorted by row, then column.
        upper = sparse.csr_array(
            (numbers, upper_columns, upper_starts), shape=(n_samples, n_samples)
        )
        pairs[~(is_upper | is_loop)] = upper.tocsc().data
        parts = (starts, columns, on_disk(pairs), upper_starts, upper_rows, upper_columns)
        support = cls(*(torch.from_numpy(part.astype(integer, copy=False)) for part in parts))
        if order is None:
            return support
        return replace(support, order=torch.from_numpy(order.astype(integer)))

    @cached_property
    def n_samples(self) -> int:
        """Number of samples m."""
        return len(self.row_starts) - 1

    @cached_property
    def n_edges(self) -> int:
        """Number of stored edges: both directions, and the diagonal."""
        return len(self.columns)

    @cached_property
    def n_undirected(self) -> int:
        """Number of undirected edges between different samples."""
        return len(self.upper_rows)

    @cached_property
    def n_pairs(self) -> int:
        """Number of undirected edges and loops."""
        return self.n_undirected + self.n_samples

    @cached_property
    def places(self) -> Tensor | None:
        """[sample] the place of each sample; None without reordering."""
        if self.order is None:
            return None
        places = torch.empty_like(self.order)
        places[self.order] = torch.arange(self.n_samples).to(self.order)
        return places

    @cached_property
    def placed(self) -> "GraphSupport":
        """The same support for samples that are already in the order of places."""
        return self if self.order is None else replace(self, order=None)

    def by_place(self, values: Tensor) -> Tensor:
        """Reorder rows from samples to places."""
        return values if self.order is None else values.index_select(0, self.order)

    def by_sample(self, values: Tensor) -> Tensor:
        """Reorder rows from places to samples."""
        return values if self.places is None else values.index_select(0, self.places)

    @property
    def rows(self) -> Tensor:
        """[edge] the sample each edge starts at; computed on each access."""
        samples = torch.arange(self.n_samples, device=self.columns.device).to(self.columns.dtype)
        return torch.repeat_interleave(samples, self.row_starts.diff(), output_size=self.n_edges)

    @cached_property
    def reverse(self) -> Tensor:
        """[edge] position of the same edge in the other direction."""
        positions = torch.arange(self.n_edges, device=self.columns.device).to(self.columns.dtype)
        is_upper = self.rows <= self.columns
        above, below = (torch.empty_like(positions[: self.n_pairs]) for _ in range(2))
        above[self.pairs[is_upper]] = positions[is_upper]
        below[self.pairs[is_upper]] = positions[is_upper]  # a loop is its own reverse
        below[self.pairs[~is_upper]] = positions[~is_upper]
        return torch.where(is_upper, below[self.pairs], above[self.pairs])

    def with_present(self, present: np.ndarray) -> "GraphSupport":
        """Add which samples have which view: [sample, view] booleans."""
        if self.order is not None:
            present = present[self.order.numpy()]
        loops = np.arange(self.n_samples)
        lower, higher = (
            np.concatenate([ends.numpy(), loops]) for ends in (self.upper_rows, self.upper_columns)
        )
        return replace(self, view_masks=find_view_masks(present, lower, higher))

    def to(self, device: torch.device | str) -> "GraphSupport":
        """Move to a device."""
        parts = {one.name: getattr(self, one.name) for one in fields(self)}
        moved = {name: part.to(device) for name, part in parts.items() if part is not None}
        return replace(self, **moved)

    def weights_of(self, graph: sparse.csr_array) -> Tensor:
        """Return a symmetric graph as one weight per pair, 0 for pairs that are not its edges.

        Weights keep the graph's dtype.
        """
        shape = graph.shape
        if self.order is not None:
            graph = graph[self.order.numpy()][:, self.order.numpy()]
        upper = sparse.csr_array(sparse.triu(graph, 1))
        upper.eliminate_zeros()
        upper.sort_indices()
        ends = (self.upper_columns.numpy(), self.upper_starts.numpy())
        numbers = np.arange(1, self.n_undirected + 1, dtype=ends[0].dtype)
        ones = np.ones(upper.nnz, dtype=ends[0].dtype)
        # One pass over both sorted patterns finds the pair of each edge of the graph.
        found = sparse.csr_array((numbers, *ends), shape=shape) * sparse.csr_array(
            (ones, upper.indices, upper.indptr), shape=shape
        )
        weights = np.zeros(self.n_pairs, dtype=graph.dtype)
        weights[found.data - 1] = upper.data
        weights[self.n_undirected :] = graph.diagonal()
        return torch.from_numpy(weights)

    def on_edges(self, weights: Tensor) -> Tensor:
        """Expand weights of pairs to both directions; weights of edges stay as they are."""
        if len(weights) == self.n_edges:
            return weights
        return weights.index_select(0, self.pairs)

    def matrix_of(self, weights: Tensor) -> sparse.csr_array:
        """Convert weights of pairs or edges to a scipy matrix without explicit zeros."""
        (matrix,) = self.matrices_of([weights])
        return matrix

    def matrices_of(self, graphs: Iterable[Tensor]) -> Iterator[sparse.csr_array]:
        """Convert several graphs as `matrix_of` does; their edges are sorted once."""
        shape = (self.n_samples, self.n_samples)
        columns, starts = self.columns.cpu().numpy(), self.row_starts.cpu().numpy()
        numbers = np.arange(self.n_edges, dtype=columns.dtype)
        pattern = sparse.csr_array((numbers, columns, starts), shape=shape)
        if self.places is not None:
            places = self.places.cpu().numpy()
            pattern = pattern[places][:, places]
            pattern.sort_indices()
        for weights in graphs:
            values = self.on_edges(weights.detach()).cpu().numpy()[pattern.data]
            parts = values, pattern.indices.copy(), pattern.indptr.copy()
            matrix = sparse.csr_array(parts, shape=shape)
            matrix.eliminate_zeros()
            yield matrix
