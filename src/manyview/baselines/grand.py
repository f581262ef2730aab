"""GRAND: random propagation over the mean graph, and agreement between the draws."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from manyview.baselines.bases.baseline import NON_NEGATIVE, POSITIVE, POSITIVE_INT
from manyview.baselines.bases.cards import CARDS
from manyview.baselines.bases.graph_network import (
    HIDDEN_LAYER,
    GraphNetworkClassifier,
    seeded,
)
from manyview.baselines.gcn import mean_graph
from manyview.callbacks.context import FitContext
from manyview.data.network_input import InputScaling
from manyview.data.scaling import ViewScaler
from manyview.data.views import MultiView
from manyview.graphs.support import GraphSupport
from manyview.layers.activation import activate
from manyview.layers.fusion import GraphFusion
from manyview.layers.graph_convolution import Center, GraphConvolution, RowCenters
from manyview.layers.propagation import power_sum
from manyview.layers.random_propagation import consistency_loss, drop_nodes, mixed_order
from manyview.network.inductive import GraphIndex, InductiveState, NeighborIndex, freeze
from manyview.network.mgcn_dns import MGCNDNS
from manyview.network.prepared import network_inputs
from manyview.numerics import softmax
from manyview.validation import Constraint, Number, OrChoice, WholeNumber


class GRAND(nn.Module):
    """A perceptron of two layers on randomly propagated features, in several draws.

        Xbar = 1/(K+1) sum_{k=0..K} A^k (e X),   Z = relu(Xbar W1 + b1) W2 + b2

    e drops nodes, independently in each draw. Without dropout of the input, A^k (e X) W1 is
    computed as A^k (e (X W1)), which is the same and needs one product with X for all draws.

    Parameters
    ----------
    n_inputs, hidden, n_classes
        Number of columns of X, of the hidden layer and of the result.
    n_steps, n_draws
        Number of hops K, and of draws S in training; without training there is one, which drops
        nothing.
    node_dropout, input_dropout, dropout
        Fractions of the nodes, of the propagated features and of the hidden features that are
        dropped in training.

    Shapes
    ------
    graph : [pair]
    features : [node, feature], dense or sparse CSR
    center : subtracted from the features (see `GraphConvolution`)
    returns : [draw x node, class], logits, all nodes of the first draw first
    """

    def __init__(
        self,
        n_inputs: int,
        hidden: int,
        n_classes: int,
        *,
        n_steps: int,
        n_draws: int,
        node_dropout: float,
        input_dropout: float,
        dropout: float,
    ) -> None:
        super().__init__()
        self.first = GraphConvolution(n_inputs, hidden)
        self.first_bias = nn.Parameter(torch.zeros(hidden))
        self.second = GraphConvolution(hidden, n_classes)
        self.second_bias = nn.Parameter(torch.zeros(n_classes))
        self.n_steps, self.n_draws = n_steps, n_draws
        self.node_dropout, self.input_dropout, self.dropout = node_dropout, input_dropout, dropout

    def forward(
        self,
        support: GraphSupport,
        graph: Tensor,
        features: Tensor,
        center: Center | None = None,
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """Return the logits of every node in every draw; `generator` draws what is dropped."""
        n_draws = self.n_draws if self.training else 1
        if self.training and self.input_dropout > 0:
            propagated = self._propagated_features(support, graph, features, center, generator)
        else:
            messages = self.first.messages(features, center)
            propagated = self._propagated(support, graph, messages, n_draws, generator)
        dropout = self.dropout if self.training else 0.0
        hidden = activate(propagated + self.first_bias, dropout, generator)
        logits: Tensor = hidden.flatten(0, 1) @ self.second.weight + self.second_bias
        return logits

    def _propagated(
        self,
        support: GraphSupport,
        graph: Tensor,
        signal: Tensor,
        n_draws: int,
        generator: torch.Generator | None,
    ) -> Tensor:
        """Drop nodes in each draw and propagate all draws at once: [draw, node, column]."""
        dropped = self.node_dropout if self.training else 0.0
        draws = [drop_nodes(signal, dropped, generator) for _ in range(n_draws)]
        mixed = mixed_order(support, graph, torch.cat(draws, dim=1), self.n_steps)
        draws_first: Tensor = mixed.unflatten(1, (n_draws, signal.shape[1])).transpose(0, 1)
        return draws_first

    def _propagated_features(
        self,
        support: GraphSupport,
        graph: Tensor,
        features: Tensor,
        center: Center | None,
        generator: torch.Generator | None,
    ) -> Tensor:
        """Drop entries of the propagated features, which the first product cannot precede."""
        dense = features if features.layout == torch.strided else features.to_dense()
        if center is not None:
            dense = dense - (center.dense() if isinstance(center, RowCenters) else center)
        products = []
        for _ in range(self.n_draws):
            (mixed,) = self._propagated(support, graph, dense, 1, generator)
            drawn = torch.rand(
                mixed.shape, generator=generator, dtype=mixed.dtype, device=mixed.device
            )
            scale = drawn.ge_(self.input_dropout).div_(1 - self.input_dropout)
            products.append((mixed * scale) @ self.first.weight)
        return torch.stack(products)


@dataclass(kw_only=True, eq=False, repr=False)
class GRANDClassifier(GraphNetworkClassifier):
    """Train a perceptron on random propagations of the features, and make them agree.

    Graph random neural network (GRAND) on the mean of the views' renormalized graphs: in every
    epoch S draws drop whole samples, average the features over 0 to K hops, and predict. The loss
    is

        mean over draws of the cross-entropy + consistency * mean_s mean_i |p_i^(s) - q_i|^2

    where q sharpens the mean prediction of the draws (see `consistency_loss`). Graphs, features
    and training loop are those of MGCN-DNS. The settings are the paper's for Cora, where 200
    epochs without progress on validation labels stop the training. There are no validation labels
    here, and dropped samples make the loss noisy: training has a fixed number of epochs, unless
    `tol` is set.

    A new sample is linked to its nearest fitted samples in every view, as in `SSGCNClassifier`;
    nothing is dropped. See `GraphNetworkClassifier` for the other parameters.

    Parameters
    ----------
    n_steps, n_draws
        Number of hops K and of draws S.
    node_dropout
        Probability that a sample is dropped in a draw.
    consistency, temperature
        Weight of the agreement between draws, and the temperature T that sharpens their mean.
    hidden, dropout
        Width of the hidden layer, and the fraction of its features dropped during training.
    input_dropout
        Fraction of the propagated features dropped during training. The paper has 0.5. Every
        draw then propagates all columns, which takes many times as long for wide views.
    tol
        Training stops when ten epochs lower the mean loss by less than this; None trains
        `max_epochs` epochs.

    Attributes
    ----------
    fused_graph_ : CSR, the mean of the views' renormalized graphs
    training_curve_ : loss, with the consistency, and accuracy on the labeled samples in all draws

    Examples
    --------
    >>> from manyview import make_multiview_classification
    >>> views, truth = make_multiview_classification(80, 2, class_sep=3, random_state=0)
    >>> labels = [*truth[:10], *[-1] * 50]
    >>> GRANDClassifier(random_state=0).fit(views[:60], labels).score(views[60:], truth[60:])
    1.0
    """

    n_steps: int = 8
    n_draws: int = 4
    node_dropout: float = 0.5
    consistency: float = 1.0
    temperature: float = 0.5
    hidden: int = 32
    dropout: float = 0.5
    input_dropout: float = 0.0
    max_epochs: int = 200
    tol: float | None = None

    card = CARDS["grand"]
    record_types = (
        *GraphNetworkClassifier.record_types,
        InductiveState,
        NeighborIndex,
        GraphIndex,
        InputScaling,
        ViewScaler,
    )
    takes_missing_views = True
    _parameter_constraints: ClassVar[dict[str, Constraint]] = {
        **GraphNetworkClassifier._parameter_constraints,
        **HIDDEN_LAYER,
        "n_steps": WholeNumber(at_least=0),
        "n_draws": POSITIVE_INT,
        "node_dropout": Number(at_least=0, below=1),
        "input_dropout": Number(at_least=0, below=1),
        "consistency": NON_NEGATIVE,
        "temperature": POSITIVE,
        "tol": OrChoice((None,), NON_NEGATIVE),
    }

    def _fit(self, views: MultiView, y_encoded: np.ndarray, context: FitContext) -> None:
        generator = self._generator()
        prepared = self._prepare(views, y_encoded)
        scaled, present = list(prepared.features.values()), prepared.present_features()
        scaling = self._input_scaling(scaled, present)
        inputs = network_inputs(prepared.renormalized(), scaled, scaling, generator.device, present)
        support, view_weights, features, center = inputs
        graph = mean_graph(view_weights, support.view_masks)
        network = self._build(features.shape[1], generator)
        self._train(
            network,
            (support, graph, features, center),
            np.tile(y_encoded, self.n_draws),
            generator,
            context,
            tol=self.tol,
            regularizer=self._disagreement,
        )
        self.fused_graph_ = support.matrix_of(graph)
        with torch.no_grad():
            messages = network.first.messages(features, center)
            walked = power_sum(support, graph, messages, self.n_steps) / max(self.n_steps, 1)
        self.first_bias_, self.second_weight_, self.second_bias_ = (
            part.detach().cpu().numpy()
            for part in (network.first_bias, network.second.weight, network.second_bias)
        )
        inductive_state = freeze(
            prepared,
            views.positions,
            MGCNDNS(GraphFusion(view_weights.shape[1]), None, None, [network.first]),
            inputs,
            input_scaling=scaling,
            n_neighbors=self.n_neighbors_,
            metric=self.metric,
        )
        # One convolution whose messages are the mean of those of K steps, as in SSGCN.
        self.inductive_state_ = replace(inductive_state, messages=[walked.cpu().numpy()])

    def _predict_proba(self, views: MultiView) -> np.ndarray:
        own = self.inductive_state_.first_messages(views)  # X W1
        walked = self.inductive_state_.logits(views)
        mixed = (own + self.n_steps * walked) / (self.n_steps + 1)
        hidden = np.maximum(mixed + self.first_bias_, 0.0)
        return softmax(hidden @ self.second_weight_ + self.second_bias_)

    def _disagreement(self, logits: Tensor) -> Tensor:
        """Return the weighted consistency loss of logits [draw x node, class]."""
        draws = logits.unflatten(0, (self.n_draws, -1))
        return self.consistency * consistency_loss(draws, self.temperature)

    def _build(self, n_inputs: int, generator: torch.Generator) -> GRAND:
        with seeded(generator.initial_seed()):
            network = GRAND(
                n_inputs,
                self.hidden,
                len(self.classes_),
                n_steps=self.n_steps,
                n_draws=self.n_draws,
                node_dropout=self.node_dropout,
                input_dropout=self.input_dropout,
                dropout=self.dropout,
            )
        return network.to(generator.device)
