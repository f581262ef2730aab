"""MGCN-DNS on one screen, Eq. (18): fuse, refine, select, convolve."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from scipy import sparse
from torch import Tensor, nn

from manyview.data.network_input import InputScaling
from manyview.data.views import View
from manyview.graphs.support import GraphSupport
from manyview.layers.activation import activate
from manyview.layers.fusion import GraphFusion
from manyview.layers.graph_convolution import Center, GraphConvolution, RowCenters
from manyview.layers.graph_learning import EdgeGraphLearning, FactorGraphLearning
from manyview.layers.node_selection import NodeSelection, TopKSelection
from manyview.layers.sparse_product import by_place, by_sample, csr_tensor, propagate


class NetworkInputs(NamedTuple):
    """What the network is called with."""

    support: GraphSupport
    view_weights: Tensor  # [pair, view]
    features: Tensor  # [node, feature], dense or sparse CSR
    center: Center | None  # subtracted from the features without making them dense


class Graphs(NamedTuple):
    """The three graphs of one pass, each one weight a pair."""

    fused: Tensor  # A_f
    refined: Tensor  # A_hat
    selected: Tensor  # A_select; one weight an edge after a top-k selection


class MGCNDNS(nn.Module):
    """Multi-view graph convolution with learned fusion, gates and node selection.

        Z = softmax(A_select relu(A_select H W1) W2)        Eq. (18), for two layers

    Parameters
    ----------
    fusion
        Fuses the view graphs.
    graph_learning
        Shrinks edges; None leaves the fused graph as it is.
    node_selection
        Removes edges; None keeps all.
    convolutions
        One or more layers; relu and dropout stand between them.
    dropout
        Share of the hidden features that is set to 0 while training.

    Shapes
    ------
    view_weights : [pair, view]
    features : [node, feature], dense or sparse CSR
    center : subtracted from the features without making them dense (see `GraphConvolution`)
    returns : [node, class], logits
    """

    def __init__(
        self,
        fusion: GraphFusion,
        graph_learning: EdgeGraphLearning | FactorGraphLearning | None,
        node_selection: NodeSelection | TopKSelection | None,
        convolutions: list[GraphConvolution],
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        self.fusion = fusion
        self.graph_learning = graph_learning
        self.node_selection = node_selection
        self.convolutions = nn.ModuleList(convolutions)
        self.dropout = dropout

    def graphs(self, support: GraphSupport, view_weights: Tensor) -> Graphs:
        """Compute the fused, refined and selected graph."""
        fused = self.fusion(view_weights, support.view_masks)
        refined = fused if self.graph_learning is None else self.graph_learning(support, fused)
        if self.node_selection is None:
            return Graphs(fused, refined, refined)
        return Graphs(fused, refined, self.node_selection(support, refined))

    def layers(self) -> list[GraphConvolution]:
        """Return the convolutions, first to last."""
        return [layer for layer in self.convolutions if isinstance(layer, GraphConvolution)]

    def convolve(
        self,
        support: GraphSupport,
        graph: Tensor,
        features: Tensor,
        center: Center | None = None,
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """Run the layers; return the logits."""
        last = self._placed_outputs(support, graph, features, center, generator)[-1]
        return by_sample(support, last)

    def outputs(
        self,
        support: GraphSupport,
        graph: Tensor,
        features: Tensor,
        center: Center | None = None,
    ) -> list[Tensor]:
        """Run the layers; return what each gives, the logits last."""
        placed = self._placed_outputs(support, graph, features, center, None)
        return [by_sample(support, output) for output in placed]

    def _placed_outputs(
        self,
        support: GraphSupport,
        graph: Tensor,
        features: Tensor,
        center: Center | None,
        generator: torch.Generator | None,
    ) -> list[Tensor]:
        """Run the layers in the order of places, so that samples are brought there only once."""
        edge_weights = support.on_edges(graph.detach())  # once for all layers
        first, *later = self.layers()
        messages = by_place(support, first.messages(features, center))
        support = support.placed
        found = [propagate(support, graph, messages, edge_weights)]
        for layer in later:
            hidden = activate(found[-1], self.dropout if self.training else 0.0, generator)
            found.append(layer(support, graph, hidden, edge_weights=edge_weights))
        return found

    def forward(
        self,
        support: GraphSupport,
        view_weights: Tensor,
        features: Tensor,
        center: Center | None = None,
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """Return the logits of every node; `generator` draws the dropout."""
        graph = self.graphs(support, view_weights).selected
        return self.convolve(support, graph, features, center, generator)


def align_graphs(graphs: Sequence[sparse.csr_array]) -> tuple[GraphSupport, Tensor]:
    """Lay renormalized graphs on one support; the second is [pair, graph]."""
    # Whoever has a view has a self-loop in its graph.
    in_graphs = np.column_stack([graph.diagonal() > 0 for graph in graphs])
    support = GraphSupport.from_graphs(graphs).with_present(in_graphs)
    weights = torch.empty(support.n_pairs, len(graphs))
    for number, graph in enumerate(graphs):
        weights[:, number] = support.weights_of(graph)
    return support, weights


def network_inputs(
    graphs: Sequence[sparse.csr_array],
    features_by_view: Sequence[View],
    input_scaling: InputScaling | None,
    device: torch.device,
    present: np.ndarray | None = None,
) -> NetworkInputs:
    """Lay the renormalized view graphs on one support and bring the features to the device.

    Samples that come with graphs alone, without an input scaling, get their own number as
    feature: the identity matrix. `present` says who has which of the feature views, [sample,
    view]; None where all have all.
    """
    support, weights = align_graphs(graphs)
    center: Center | None = None
    if input_scaling is None:
        features = _as_tensor(sparse.csr_array(sparse.eye_array(support.n_samples)))
    else:
        features = _as_tensor(input_scaling(features_by_view, present))
        center = torch.from_numpy(input_scaling.center).to(device)
        if present is not None:
            factors = input_scaling.row_centers(features_by_view, present)
            center = RowCenters(*(torch.from_numpy(factor).to(device) for factor in factors))
    return NetworkInputs(support.to(device), weights.to(device), features.to(device), center)


def build_network(
    inputs: NetworkInputs,
    *,
    n_classes: int,
    graph_learning: str | None,
    rank: int,
    gamma: float,
    node_selection: str | None,
    n_selected: int,
    tau: float,
    initial_threshold: float,
    rank_axis: str,
    ranking: str,
    hidden: int,
    n_layers: int,
    dropout: float,
    seed: int,
    graph_weights: np.ndarray | None = None,
) -> MGCNDNS:
    """Make the network that the classifier's parameters of the same names describe.

    `graph_weights` are the initial weights of the fusion; None weighs all graphs the same.
    """
    support = inputs.support
    learning: EdgeGraphLearning | FactorGraphLearning | None = None
    selection: NodeSelection | TopKSelection | None = None
    widths = [inputs.features.shape[1], *[hidden] * (n_layers - 1), n_classes]
    with torch.random.fork_rng(devices=[]):  # torch's initializers know no other way
        torch.manual_seed(seed)
        if graph_learning == "edge":
            learning = EdgeGraphLearning(support.n_undirected, gamma)
        elif graph_learning is not None:
            n_samples = support.n_samples
            n_columns = n_samples if graph_learning == "full" else min(rank, n_samples)
            learning = FactorGraphLearning(n_samples, n_columns, gamma)
        if node_selection == "differentiable":
            selection = NodeSelection(tau, initial_threshold, rank_axis, ranking)
        elif node_selection == "top-k":
            selection = TopKSelection(n_selected)
        layers = [GraphConvolution(n_inputs, n_outputs) for n_inputs, n_outputs in pairwise(widths)]
    start = None if graph_weights is None else torch.from_numpy(graph_weights).float()
    fusion = GraphFusion(inputs.view_weights.shape[1], start)
    return MGCNDNS(fusion, learning, selection, layers, dropout)


def _as_tensor(features: View) -> Tensor:
    if not isinstance(features, sparse.csr_array):
        return torch.from_numpy(np.ascontiguousarray(features, dtype=np.float32))
    starts, columns = (
        torch.from_numpy(part.astype(np.int64)) for part in (features.indptr, features.indices)
    )
    values = torch.from_numpy(features.data.astype(np.float32))
    return csr_tensor(starts, columns, values, features.shape)
