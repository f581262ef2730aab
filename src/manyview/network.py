"""MGCN-DNS on one screen, Eq. (18): fuse, refine, select, convolve."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from manyview.graphs.support import GraphSupport
from manyview.layers.fusion import GraphFusion
from manyview.layers.graph_convolution import GraphConvolution
from manyview.layers.graph_learning import EdgeGraphLearning, FactorGraphLearning
from manyview.layers.node_selection import NodeSelection, TopKSelection


class Graphs(NamedTuple):
    """The three graphs of one pass, each one weight an edge."""

    fused: Tensor  # A_f
    refined: Tensor  # A_hat
    selected: Tensor  # A_select


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
    view_weights : [edge, view]
    features : [node, feature], dense or sparse CSR
    center : [feature], subtracted from every row of the features without making them dense
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
        fused = self.fusion(view_weights)
        refined = fused if self.graph_learning is None else self.graph_learning(support, fused)
        if self.node_selection is None:
            return Graphs(fused, refined, refined)
        return Graphs(fused, refined, self.node_selection(support, refined))

    def convolve(
        self,
        support: GraphSupport,
        graph: Tensor,
        features: Tensor,
        center: Tensor | None = None,
        generator: torch.Generator | None = None,
    ) -> list[Tensor]:
        """Run the layers; return what each gives, the logits last."""
        outputs = [self.convolutions[0](support, graph, features, center)]
        for layer in list(self.convolutions)[1:]:
            hidden = torch.relu(outputs[-1])
            if self.training:
                hidden = drop(hidden, self.dropout, generator)
            outputs.append(layer(support, graph, hidden))
        return outputs

    def forward(
        self,
        support: GraphSupport,
        view_weights: Tensor,
        features: Tensor,
        center: Tensor | None = None,
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """Return the logits of every node; `generator` draws the dropout."""
        graph = self.graphs(support, view_weights).selected
        return self.convolve(support, graph, features, center, generator)[-1]


def drop(hidden: Tensor, share: float, generator: torch.Generator | None = None) -> Tensor:
    """Set a random share of the entries to 0 and scale the rest up to keep the mean."""
    if share == 0:
        return hidden
    is_kept = torch.rand(hidden.shape, generator=generator, device=hidden.device) >= share
    return hidden * is_kept / (1 - share)
