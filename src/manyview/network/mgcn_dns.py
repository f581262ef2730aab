"""MGCN-DNS on one screen, Eq. (18): fuse, refine, select, convolve."""

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from manyview.graphs.support import GraphSupport
from manyview.layers.activation import activate
from manyview.layers.fusion import GraphFusion
from manyview.layers.graph_convolution import Center, GraphConvolution
from manyview.layers.graph_learning import EdgeGraphLearning, FactorGraphLearning
from manyview.layers.node_selection import NodeSelection, TopKSelection
from manyview.layers.sparse_product import by_place, by_sample, propagate


class NetworkInputs(NamedTuple):
    """Arguments of the network."""

    support: GraphSupport
    view_weights: Tensor  # [pair, view]
    features: Tensor  # [node, feature], dense or sparse CSR
    center: Center | None  # subtracted from the features without making them dense


class Graphs(NamedTuple):
    """The three graphs of a forward pass, each one weight per pair."""

    fused: Tensor  # A_f
    refined: Tensor  # A_hat
    selected: Tensor  # A_select; one weight per edge after a top-k selection


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
        One or more layers, with relu and dropout between them.
    dropout
        Fraction of the hidden features that is set to 0 during training.

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

    def forward(
        self,
        support: GraphSupport,
        view_weights: Tensor,
        features: Tensor,
        center: Center | None = None,
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """Return the logits of every node; `generator` is the dropout's source of randomness."""
        graph = self.graphs(support, view_weights).selected
        return self.convolve(support, graph, features, center, generator)

    def graphs(self, support: GraphSupport, view_weights: Tensor) -> Graphs:
        """Compute the fused, refined and selected graph."""
        fused = self.fusion(view_weights, support.view_masks)
        refined = fused if self.graph_learning is None else self.graph_learning(support, fused)
        if self.node_selection is None:
            return Graphs(fused, refined, refined)
        return Graphs(fused, refined, self.node_selection(support, refined))

    def convolve(
        self,
        support: GraphSupport,
        graph: Tensor,
        features: Tensor,
        center: Center | None = None,
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """Run the layers; return the logits."""
        return by_sample(support, self._run_layers(support, graph, features, center, generator))

    def outputs(
        self, support: GraphSupport, graph: Tensor, features: Tensor, center: Center | None = None
    ) -> list[Tensor]:
        """Run the layers; return the output of each, the logits last."""
        placed: list[Tensor] = []
        self._run_layers(support, graph, features, center, keep=placed.append)
        return [by_sample(support, output) for output in placed]

    def _run_layers(
        self,
        support: GraphSupport,
        graph: Tensor,
        features: Tensor,
        center: Center | None,
        generator: torch.Generator | None = None,
        keep: Callable[[Tensor], None] = lambda _: None,
    ) -> Tensor:
        """Run the layers in the order of places, so that samples are reordered only once.

        Returns the last output. Every output is given to `keep`, and otherwise freed where it is
        used.
        """
        edge_weights = support.on_edges(graph.detach())  # once for all layers
        first, *later = self.layers()
        messages = by_place(support, first.messages(features, center))
        support = support.placed
        output = propagate(support, graph, messages, edge_weights)
        del messages
        keep(output)
        for layer in later:
            dropped = self.dropout if self.training else 0.0
            output = activate(output, dropped, generator, support)
            output = layer(support, graph, output, edge_weights=edge_weights)
            keep(output)
        return output

    def layers(self) -> list[GraphConvolution]:
        """Return the convolutions, first to last."""
        return [layer for layer in self.convolutions if isinstance(layer, GraphConvolution)]


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
    """Build the network from the classifier's parameters of the same names.

    `graph_weights` are the initial weights of the fusion; None starts with equal weights.
    """
    support = inputs.support
    learning: EdgeGraphLearning | FactorGraphLearning | None = None
    selection: NodeSelection | TopKSelection | None = None
    widths = [inputs.features.shape[1], *[hidden] * (n_layers - 1), n_classes]
    with torch.random.fork_rng(devices=[]):  # torch's initializers take no generator
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
