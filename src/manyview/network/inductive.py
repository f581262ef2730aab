"""Inductive inference: logits of new samples from a trained network and its graphs.

New samples get edges to the fitted ones: to their nearest neighbors in feature views, and those of
precomputed graphs. These edges are fused, gated and selected like those of the fit. A new sample
then receives the messages of its fitted neighbors in each convolution; fitted samples receive
nothing from new ones, so their messages are constants, and new samples do not see each other.

freeze(network) -> InductiveState; InductiveState.logits(new views)
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from manyview.data.network_input import InputScaling
from manyview.data.scaling import ViewScaler, scale_views
from manyview.data.views import MultiView, View
from manyview.graphs.neighbors import NO_NEIGHBOR, nearest_neighbors
from manyview.graphs.prepare import PreparedViews
from manyview.graphs.support import GraphSupport
from manyview.layers.fusion import fusion_coefficients, mixing_weights
from manyview.layers.node_selection import NodeSelection, TopKSelection, mean_edge_weight
from manyview.network.mgcn_dns import MGCNDNS, NetworkInputs


@dataclass(frozen=True)
class NeighborIndex:
    """The fitted samples of a feature view, in which new samples find their neighbors."""

    scaler: ViewScaler
    features: View  # scaled, of the fitted samples
    degrees: np.ndarray  # in this view's graph, self-loops included; 0 without the view
    n_neighbors: int
    metric: str

    def __post_init__(self) -> None:
        n_samples, n_degrees = self.features.shape[0], len(self.degrees)
        if n_samples != n_degrees:  # in a model file that was changed
            raise ValueError(f"there are {n_degrees} degrees for the features of {n_samples}")

    def edges(self, view: View) -> sparse.csr_array:
        """Link new samples to their nearest fitted samples: [new, fitted], 0/1."""
        points, is_present = self.features, self.degrees > 0
        if not is_present.all():
            points = points[is_present]
        found = nearest_neighbors(
            self.scaler(view), points, n_neighbors=self.n_neighbors, metric=self.metric
        ).indices
        is_edge = found.ravel() != NO_NEIGHBOR
        rows = np.repeat(np.arange(len(found)), found.shape[1])[is_edge]
        columns = np.flatnonzero(is_present)[found.ravel()[is_edge]]
        return sparse.csr_array(
            (np.ones(len(rows)), (rows, columns)), shape=(len(found), len(self.degrees))
        )


@dataclass(frozen=True)
class GraphIndex:
    """The fitted samples of a precomputed graph."""

    positions: np.ndarray  # column of each fitted sample in the rows of new samples
    degrees: np.ndarray  # as in `NeighborIndex`

    def edges(self, view: View) -> sparse.csr_array:
        """Select the edges of new samples to fitted ones that have the view: [new, fitted]."""
        edges = sparse.csr_array(sparse.csr_array(view)[:, self.positions])
        return sparse.csr_array(edges @ sparse.diags_array((self.degrees > 0).astype(np.float64)))


@dataclass(frozen=True)
class SelectionRule:
    """Learned node selection, as a rule for new edges."""

    # mean edge weight of the fitted samples in ascending order, and their confidence
    scores: np.ndarray
    confidence: np.ndarray
    node_confidence: np.ndarray  # [fitted] the same confidence in the order of the samples
    threshold: float
    largest: float  # largest surplus over the threshold among the fitted edges

    def factor(self, confidence: np.ndarray) -> np.ndarray:
        """Return the factor of edges with this confidence, Eq. (15)-(16)."""
        if self.largest <= 0:
            return np.asarray(confidence >= self.node_confidence.max(), dtype=np.float64)
        return np.asarray(np.maximum(confidence - self.threshold, 0.0) / self.largest)


class NewSampleEdges(NamedTuple):
    """Edges between new and fitted samples.

    Attributes
    ----------
    edges, loops
        [new, fitted] and [new] the selected graph, which the convolutions use.
    messages
        [new, output] message of new samples to themselves in each convolution.
    view_edges
        [new, fitted] renormalized edges in each view, by name.
    view_degrees
        [new] degrees in each view, including the self-loop; infinite for samples without it.
    """

    edges: sparse.csr_array
    loops: np.ndarray
    messages: list[np.ndarray]
    view_edges: dict[str, sparse.csr_array]
    view_degrees: dict[str, np.ndarray]


@dataclass(frozen=True)
class InductiveState:
    """Everything of a fitted model that new samples need, as plain arrays."""

    indexes: dict[str, NeighborIndex | GraphIndex]  # one per view, by name
    # [view] coefficient of each view graph in the fused graph, Eq. (3)-(7).
    coefficients: np.ndarray
    # mean learned gate of edges and of self-loops; 1 without graph learning
    mean_gate: float
    loop_gate: float
    selection: SelectionRule | int | None  # a rule, a number of edges to keep (top-k), or None
    # how scaled views become the network's input; None if all views are graphs
    input_scaling: InputScaling | None
    weights: list[np.ndarray]  # weight matrix of each convolution
    # [fitted, output] messages of the fitted samples in each convolution: H W
    messages: list[np.ndarray]

    @property
    def neighbor_indexes(self) -> dict[str, NeighborIndex]:
        """The indexes of the feature views, by name."""
        return {
            name: index for name, index in self.indexes.items() if isinstance(index, NeighborIndex)
        }

    def logits(self, views: MultiView) -> np.ndarray:
        """Return the logits of new samples: [new, class]."""
        return self.outputs(views)[-1]

    def outputs(self, views: MultiView) -> list[np.ndarray]:
        """Return the output of each convolution for new samples, [new, output]; logits last."""
        new = self.connect(views)
        return [
            np.asarray(new.edges @ messages + new.loops[:, None] * own)
            for messages, own in zip(self.messages, new.messages, strict=True)
        ]

    def connect(self, views: MultiView) -> NewSampleEdges:
        """Link new samples to the fitted ones, and compute their messages."""
        view_edges, view_degrees = {}, {}
        for name, index in self.indexes.items():
            view_edges[name], view_degrees[name] = _renormalized_edges(index, views, name)
        edges, loops = self._fuse(view_edges, view_degrees, views)
        edges, loops = edges * self.mean_gate, loops * self.loop_gate
        edges, loops = self._select(edges, loops)
        own = [self.first_messages(views)]
        for messages, weight in zip(self.messages[:-1], self.weights[1:], strict=True):
            hidden = edges @ messages + loops[:, None] * own[-1]
            own.append(np.maximum(hidden, 0.0) @ weight)
        return NewSampleEdges(edges, loops, own, view_edges, view_degrees)

    def first_messages(self, views: MultiView) -> np.ndarray:
        """Return the messages of new samples to themselves in the first convolution: H W."""
        weight = self.weights[0]
        if self.input_scaling is None:  # the features of fitted samples were one-hot row numbers
            return np.zeros((len(views), weight.shape[1]))
        scalers = {name: index.scaler for name, index in self.neighbor_indexes.items()}
        scaled = list(scale_views(views, scalers).values())
        present = _present(views, scalers)
        if present.all():
            centers = self.input_scaling.center @ weight
            return np.asarray(self.input_scaling(scaled) @ weight - centers)
        coefficients, means = self.input_scaling.row_centers(scaled, present)
        joined = self.input_scaling(scaled, present)
        return np.asarray(joined @ weight - coefficients @ (means @ weight))

    def _fuse(
        self,
        view_edges: dict[str, sparse.csr_array],
        view_degrees: dict[str, np.ndarray],
        views: MultiView,
    ) -> tuple[sparse.csr_array, np.ndarray]:
        """Fuse the views' edges and self-loops, Eq. (3)-(7).

        Each weight is divided by the sum of the coefficients of the views that both ends have.
        """
        fused = sparse.csr_array((len(views), self.messages[0].shape[0]))
        loops = np.zeros(len(views))
        for name, coefficient in zip(self.indexes, self.coefficients, strict=True):
            fused = sparse.csr_array(fused + coefficient * view_edges[name])
            loops += coefficient / view_degrees[name]
        new = _present(views, self.indexes)
        fitted = np.column_stack([index.degrees > 0 for index in self.indexes.values()])
        if new.all() and fitted.all():
            return fused, loops
        rows = np.repeat(np.arange(len(loops)), np.diff(fused.indptr))
        tiny = np.finfo(np.float32).tiny
        fused = fused.copy()
        totals = (new[rows] & fitted[fused.indices]) @ self.coefficients
        fused.data /= np.maximum(totals, tiny)
        return fused, loops / np.maximum(new @ self.coefficients, tiny)

    def _select(
        self, edges: sparse.csr_array, loops: np.ndarray
    ) -> tuple[sparse.csr_array, np.ndarray]:
        """Select edges and self-loops, Eq. (9)-(16).

        The confidence of a new sample is interpolated from fitted samples of similar score.
        """
        if self.selection is None:
            return edges, loops
        if isinstance(self.selection, int):
            return _keep_largest(edges, loops, self.selection)
        rule = self.selection
        scores = (np.asarray(edges.sum(axis=1)).ravel() + loops) / (np.diff(edges.indptr) + 1)
        confidence = np.interp(scores, rule.scores, rule.confidence)
        selected = edges.copy()
        rows = np.repeat(np.arange(len(loops)), np.diff(edges.indptr))
        selected.data *= rule.factor((confidence[rows] + rule.node_confidence[edges.indices]) / 2)
        return selected, loops * rule.factor(confidence)


@torch.no_grad()
def freeze(
    prepared: PreparedViews,
    positions: np.ndarray,
    network: MGCNDNS,
    inputs: NetworkInputs,
    *,
    input_scaling: InputScaling | None,
    n_neighbors: int,
    metric: str,
) -> InductiveState:
    """Freeze a trained network and its graphs for new samples."""
    support, view_weights, features, center = inputs
    graphs = network.graphs(support, view_weights)
    outputs = network.outputs(support, graphs.selected, features, center)
    first, *later = network.layers()
    messages = [first.messages(features, center)]
    messages += [
        layer.messages(output.relu()) for layer, output in zip(later, outputs[:-1], strict=True)
    ]
    indexes: dict[str, NeighborIndex | GraphIndex] = {}
    for name, degrees in prepared.degrees.items():
        if name in prepared.features:
            indexes[name] = NeighborIndex(
                prepared.scalers[name], prepared.features[name], degrees, n_neighbors, metric
            )
        else:
            indexes[name] = GraphIndex(positions, degrees)
    mean_gate = loop_gate = 1.0
    if network.graph_learning is not None:
        gates = network.graph_learning.gates(support)
        between, loops = gates[: support.n_undirected], gates[support.n_undirected :]
        loop_gate = loops.mean().item()
        mean_gate = between.mean().item() if len(between) else loop_gate
    return InductiveState(
        indexes=indexes,
        coefficients=_array(fusion_coefficients(mixing_weights(network.fusion.logits))),
        mean_gate=mean_gate,
        loop_gate=loop_gate,
        selection=_selection_rule(network.node_selection, support, graphs.refined),
        input_scaling=input_scaling,
        weights=[_array(layer.weight) for layer in network.layers()],
        messages=[_array(message) for message in messages],
    )


def _selection_rule(
    selection: NodeSelection | TopKSelection | None, support: GraphSupport, refined: Tensor
) -> SelectionRule | int | None:
    if selection is None:
        return None
    if isinstance(selection, TopKSelection):
        return selection.n_kept
    scores = mean_edge_weight(support, refined)
    confidence = selection.confidence(support, refined)
    order = torch.argsort(scores)
    surplus = confidence - selection.threshold
    return SelectionRule(
        scores=_array(scores[order]),
        confidence=_array(confidence[order]),
        node_confidence=_array(confidence),
        threshold=selection.threshold.item(),
        largest=max(surplus.max().item(), 0.0),
    )


def _renormalized_edges(
    index: NeighborIndex | GraphIndex, views: MultiView, name: str
) -> tuple[sparse.csr_array, np.ndarray]:
    """Renormalize the edges of new samples in one view, Eq. (2): [new, fitted], and degrees [new].

    A degree includes the self-loop; it is infinite for samples without the view.
    """
    edges = _edges(index, views, name)
    degrees = np.asarray(edges.sum(axis=1)).ravel() + 1.0
    scaled = (
        sparse.diags_array(degrees**-0.5)
        @ edges
        @ sparse.diags_array(np.where(index.degrees > 0, index.degrees, np.inf) ** -0.5)
    )
    return sparse.csr_array(scaled), np.where(_present(views, [name])[:, 0], degrees, np.inf)


def _edges(index: NeighborIndex | GraphIndex, views: MultiView, name: str) -> sparse.csr_array:
    """Edges of new samples in one view: [new, fitted]; none for samples without the view."""
    rows = views.rows_with(name)
    if rows is None:
        return index.edges(views[name])
    shape = (len(views), len(index.degrees))
    if not len(rows):
        return sparse.csr_array(shape)
    own = sparse.coo_array(index.edges(views[name][rows]))
    return sparse.csr_array((own.data, (rows[own.row], own.col)), shape=shape)


def _keep_largest(
    edges: sparse.csr_array, loops: np.ndarray, n_kept: int
) -> tuple[sparse.csr_array, np.ndarray]:
    """Keep the largest entries of each new row, including its self-loop."""
    edges, loops = edges.copy(), loops.copy()
    for row in range(len(loops)):
        of_row = slice(edges.indptr[row], edges.indptr[row + 1])
        entries = np.append(edges.data[of_row], loops[row])
        entries[np.argsort(-entries, kind="stable")[n_kept:]] = 0.0
        edges.data[of_row], loops[row] = entries[:-1], entries[-1]
    return edges, loops


def _present(views: MultiView, names: Iterable[str]) -> np.ndarray:
    """Return which samples have these views: [sample, view] booleans."""
    return np.asarray(views.present[:, [views.names.index(name) for name in names]])


def _array(tensor: Tensor) -> np.ndarray:
    return np.asarray(tensor.detach().cpu().numpy())
