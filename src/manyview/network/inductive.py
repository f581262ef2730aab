"""Where new samples hang on to the fitted ones: their edges in one view.

A view of features links them to their nearest fitted samples; a given graph has their edges.
"""

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
from manyview.layers.node_selection import (
    NodeSelection,
    TopKSelection,
    mean_edge_weight,
)
from manyview.network.mgcn_dns import MGCNDNS, NetworkInputs


@dataclass(frozen=True)
class NeighborIndex:
    """One fitted feature view: where to look for the neighbors of new samples.

    Attributes
    ----------
    features
        Scaled features of the fitted samples.
    degrees
        Degree of each fitted sample in this view's graph, its self-loop counted; 0 for samples
        that lack the view.
    """

    scaler: ViewScaler
    features: View
    degrees: np.ndarray
    n_neighbors: int
    metric: str

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
    """One given graph: the columns of new rows that belong to fitted samples."""

    positions: np.ndarray
    degrees: np.ndarray

    def edges(self, view: View) -> sparse.csr_array:
        """Take the given edges of new samples to fitted ones that have the view: [new, fitted]."""
        edges = sparse.csr_array(sparse.csr_array(view)[:, self.positions])
        return sparse.csr_array(edges @ sparse.diags_array((self.degrees > 0).astype(np.float64)))


def renormalized_edges(
    anchor: NeighborIndex | GraphIndex, views: MultiView, name: str
) -> tuple[sparse.csr_array, np.ndarray]:
    """Renormalize the edges of new samples in one view, Eq. (2): [new, fitted], and degrees [new].

    A degree counts the self-loop; it is infinite for samples that lack the view.
    """
    edges = _edges_of(anchor, views, name)
    degree = np.asarray(edges.sum(axis=1)).ravel() + 1.0
    scaled = (
        sparse.diags_array(degree**-0.5)
        @ edges
        @ sparse.diags_array(np.where(anchor.degrees > 0, anchor.degrees, np.inf) ** -0.5)
    )
    is_present = views.present[:, views.names.index(name)]
    return sparse.csr_array(scaled), np.where(is_present, degree, np.inf)


def _edges_of(anchor: NeighborIndex | GraphIndex, views: MultiView, name: str) -> sparse.csr_array:
    """Edges of new samples in one view: [new, fitted]; none for samples that lack it."""
    rows = views.rows_with(name)
    if rows is None:
        return anchor.edges(views[name])
    shape = (len(views), len(anchor.degrees))
    if not len(rows):
        return sparse.csr_array(shape)
    own = sparse.coo_array(anchor.edges(views[name][rows]))
    return sparse.csr_array((own.data, (rows[own.row], own.col)), shape=shape)


@dataclass(frozen=True)
class SelectionRule:
    """What node selection learned, for edges it has not seen.

    Attributes
    ----------
    scores, confidence
        Mean edge weight of the fitted samples in ascending order, and their confidence.
    node_confidence
        [fitted] the same confidence in the order of the samples.
    largest
        Largest surplus over the threshold among the fitted edges.
    """

    scores: np.ndarray
    confidence: np.ndarray
    node_confidence: np.ndarray
    threshold: float
    largest: float

    def keep(self, confidence: np.ndarray) -> np.ndarray:
        """Factor of an edge of this confidence, Eq. (15)-(16)."""
        if self.largest <= 0:
            return np.asarray(confidence >= self.node_confidence.max(), dtype=np.float64)
        return np.asarray(np.maximum(confidence - self.threshold, 0.0) / self.largest)


class NewSampleEdges(NamedTuple):
    """How new samples hang on the fitted ones.

    Attributes
    ----------
    edges, loops
        [new, fitted] and [new] the selected graph, which the network convolves with.
    own
        [new, output] what new samples send to themselves in each convolution.
    view_edges
        [new, fitted] each view's renormalized edges, by name.
    view_degrees
        [new] degrees in each view, the self-loop counted; infinite for samples that lack it.
    """

    edges: sparse.csr_array
    loops: np.ndarray
    own: list[np.ndarray]
    view_edges: dict[str, sparse.csr_array]
    view_degrees: dict[str, np.ndarray]


@dataclass(frozen=True)
class InductiveState:
    """Everything of a fitted model that new samples need, as plain arrays.

    Attributes
    ----------
    anchors
        One for each view, by name.
    coefficients
        [view] coefficient of each view graph in the fused graph, Eq. (3)-(7).
    mean_gate, loop_gate
        Learned gate of an edge, on average, and of a self-loop; 1 without graph learning.
    selection
        A rule, a number of edges to keep (top-k), or None.
    input_scaling
        How scaled views become the network's input; None where there were only graphs.
    weights
        Weight matrix of each convolution.
    messages
        [fitted, output] what the fitted samples send in each convolution: H W.
    """

    anchors: dict[str, NeighborIndex | GraphIndex]
    coefficients: np.ndarray
    mean_gate: float
    loop_gate: float
    selection: SelectionRule | int | None
    input_scaling: InputScaling | None
    weights: list[np.ndarray]
    messages: list[np.ndarray]

    def logits(self, views: MultiView) -> np.ndarray:
        """Return the logits of new samples: [new, class]."""
        return self.outputs(views)[-1]

    def outputs(self, views: MultiView) -> list[np.ndarray]:
        """Return what each convolution gives for new samples: [new, output], the logits last."""
        links = self.link(views)
        return [
            np.asarray(links.edges @ messages + links.loops[:, None] * own)
            for messages, own in zip(self.messages, links.own, strict=True)
        ]

    def link(self, views: MultiView) -> NewSampleEdges:
        """Link new samples to the fitted ones, and convolve up to the last layer."""
        view_edges, view_degrees = {}, {}
        for name, anchor in self.indexes.items():
            view_edges[name], view_degrees[name] = renormalized_edges(anchor, views, name)
        edges, loops = self._fuse(view_edges, view_degrees, views)
        edges, loops = edges * self.mean_gate, loops * self.loop_gate
        edges, loops = self._select(edges, loops)
        own = [self.first_messages(views)]
        for messages, weight in zip(self.messages[:-1], self.weights[1:], strict=True):
            hidden = edges @ messages + loops[:, None] * own[-1]
            own.append(np.maximum(hidden, 0.0) @ weight)
        return NewSampleEdges(edges, loops, own, view_edges, view_degrees)

    def _fuse(
        self,
        view_edges: dict[str, sparse.csr_array],
        view_degrees: dict[str, np.ndarray],
        views: MultiView,
    ) -> tuple[sparse.csr_array, np.ndarray]:
        """Fused edges to fitted samples and self-loops, Eq. (3)-(7).

        Each is divided by the coefficients of the views that both of its ends have.
        """
        fused = sparse.csr_array((len(views), self.messages[0].shape[0]))
        loops = np.zeros(len(views))
        for name, coefficient in zip(self.indexes, self.coefficients, strict=True):
            fused = sparse.csr_array(fused + coefficient * view_edges[name])
            loops += coefficient / view_degrees[name]
        return self._shared_out(fused, loops, views)

    def _shared_out(
        self, fused: sparse.csr_array, loops: np.ndarray, views: MultiView
    ) -> tuple[sparse.csr_array, np.ndarray]:
        """Divide by the sum of the coefficients of the views that both ends of an edge have."""
        order = [views.names.index(name) for name in self.indexes]
        present = views.present[:, order]
        fitted = np.column_stack([anchor.degrees > 0 for anchor in self.indexes.values()])
        if present.all() and fitted.all():
            return fused, loops
        rows = np.repeat(np.arange(len(loops)), np.diff(fused.indptr))
        tiny = np.finfo(np.float32).tiny
        fused = fused.copy()
        shares = (present[rows] & fitted[fused.indices]) @ self.coefficients
        fused.data /= np.maximum(shares, tiny)
        return fused, loops / np.maximum(present @ self.coefficients, tiny)

    def _select(
        self, edges: sparse.csr_array, loops: np.ndarray
    ) -> tuple[sparse.csr_array, np.ndarray]:
        if self.selection is None:
            return edges, loops
        if isinstance(self.selection, int):
            return _keep_largest(edges, loops, self.selection)
        rule = self.selection
        scores = (np.asarray(edges.sum(axis=1)).ravel() + loops) / (np.diff(edges.indptr) + 1)
        own = np.interp(scores, rule.scores, rule.confidence)
        selected = edges.copy()
        rows = np.repeat(np.arange(len(loops)), np.diff(edges.indptr))
        selected.data *= rule.keep((own[rows] + rule.node_confidence[edges.indices]) / 2)
        return selected, loops * rule.keep(own)

    def first_messages(self, views: MultiView) -> np.ndarray:
        """Return what new samples send to themselves in the first convolution: H W."""
        weight = self.weights[0]
        if self.input_scaling is None:  # fitted samples had only their own number as feature
            return np.zeros((len(views), weight.shape[1]))
        anchors = {n: a for n, a in self.indexes.items() if isinstance(a, NeighborIndex)}
        scalers = {name: anchor.scaler for name, anchor in anchors.items()}
        scaled = list(scale_views(views, scalers).values())
        present = views.present[:, [views.names.index(name) for name in anchors]]
        if present.all():
            centers = self.input_scaling.center @ weight
            return np.asarray(self.input_scaling(scaled) @ weight - centers)
        shares, means = self.input_scaling.row_centers(scaled, present)
        joined = self.input_scaling(scaled, present)
        return np.asarray(joined @ weight - shares @ (means @ weight))


def _keep_largest(
    edges: sparse.csr_array, loops: np.ndarray, n_kept: int
) -> tuple[sparse.csr_array, np.ndarray]:
    """Keep the largest entries of each new row, its self-loop among them."""
    edges, loops = edges.copy(), loops.copy()
    for row in range(len(loops)):
        of_row = slice(edges.indptr[row], edges.indptr[row + 1])
        entries = np.append(edges.data[of_row], loops[row])
        entries[np.argsort(-entries, kind="stable")[n_kept:]] = 0.0
        edges.data[of_row], loops[row] = entries[:-1], entries[-1]
    return edges, loops


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
    anchors: dict[str, NeighborIndex | GraphIndex] = {}
    for (name, graph), present in zip(prepared.graphs.items(), prepared.present.T, strict=True):
        degrees = np.asarray(graph.sum(axis=1)).ravel() + present
        if name in prepared.features:
            anchors[name] = NeighborIndex(
                prepared.scalers[name], prepared.features[name], degrees, n_neighbors, metric
            )
        else:
            anchors[name] = GraphIndex(positions, degrees)
    mean_gate = loop_gate = 1.0
    if network.graph_learning is not None:
        gates = network.graph_learning.gates(support)
        between, loops = gates[: support.n_undirected], gates[support.n_undirected :]
        loop_gate = loops.mean().item()
        mean_gate = between.mean().item() if len(between) else loop_gate
    return InductiveState(
        anchors=anchors,
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


def _array(tensor: Tensor) -> np.ndarray:
    return np.asarray(tensor.detach().cpu().numpy())
