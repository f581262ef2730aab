"""SSGCN: features propagated over the mean graph, then a linear classifier."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import torch

from manyview.baselines.bases.baseline import POSITIVE_INT
from manyview.baselines.bases.cards import CARDS
from manyview.baselines.bases.graph_network import GraphNetworkClassifier
from manyview.baselines.gcn import mean_graph
from manyview.callbacks.context import FitContext
from manyview.data.network_input import InputScaling
from manyview.data.scaling import ViewScaler
from manyview.data.views import MultiView
from manyview.layers.fusion import GraphFusion
from manyview.layers.propagation import power_sum
from manyview.network.inductive import GraphIndex, InductiveState, NeighborIndex, freeze
from manyview.network.mgcn_dns import MGCNDNS
from manyview.network.prepared import network_inputs
from manyview.network.spectral import SpectralRegression
from manyview.numerics import softmax
from manyview.validation import Constraint, Number


@dataclass(kw_only=True, eq=False, repr=False)
class SSGCNClassifier(GraphNetworkClassifier):
    """Propagate the features over the mean graph, and classify them by logistic regression.

    Simple spectral graph convolution (SSGC, S^2GC):

        Xbar = alpha X + (1 - alpha)/K sum_{k=1..K} T^k X,   Z = softmax(Xbar Theta + b)

    T is the mean of the views' renormalized graphs and X the input of MGCN-DNS, the concatenated
    views. The paper has one graph, and scales the rows of X to a sum of 1, which is impossible
    with negative features. Only Theta and b are learned, on the labeled samples, and nothing is
    drawn at random.

    A new sample is linked to its nearest fitted samples in every view, with the weights that the
    renormalized graphs would give it. Each step adds the propagated features of these samples
    and, through its self-loop, its own; the fitted samples do not change. See
    `GraphNetworkClassifier` for the other parameters.

    Parameters
    ----------
    n_steps
        Number of propagation steps K.
    alpha
        Weight of a sample's own features, at least 0 and below 1.
    random_state
        Unused: nothing is drawn.

    Attributes
    ----------
    fused_graph_ : CSR, the mean of the views' renormalized graphs
    coef_, intercept_ : [feature, class] and [class], Theta and b

    Examples
    --------
    >>> from manyview import make_multiview_classification
    >>> views, truth = make_multiview_classification(80, 2, class_sep=3, random_state=0)
    >>> labels = [*truth[:10], *[-1] * 50]
    >>> SSGCNClassifier().fit(views[:60], labels).score(views[60:], truth[60:])
    1.0
    """

    n_steps: int = 16
    alpha: float = 0.05
    learning_rate: float = 0.2
    weight_decay: float = 1e-5
    max_epochs: int = 100

    card = CARDS["ssgcn"]
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
        "n_steps": POSITIVE_INT,
        "alpha": Number(at_least=0, below=1),
    }

    def _fit(self, views: MultiView, y_encoded: np.ndarray, context: FitContext) -> None:
        generator = self._generator()
        prepared = self._prepare(views, y_encoded)
        scaled = list(prepared.features.values())
        present = prepared.present_features()
        scaling = self._input_scaling(scaled, present)
        inputs = network_inputs(prepared.renormalized(), scaled, scaling, generator.device, present)
        support, view_weights, features, center = inputs
        graph = mean_graph(view_weights, support.view_masks)
        walks = SpectralRegression(
            support, graph, features, center, n_steps=self.n_steps, alpha=self.alpha
        )
        head, self.training_curve_ = walks.fit(
            y_encoded,
            len(self.classes_),
            generator,
            context=context,
            **self._training_settings(y_encoded),
        )
        self.label_distributions_ = softmax(walks.logits(head).cpu().numpy())
        convolution = walks.convolution(head)
        with torch.no_grad():
            messages = convolution.messages(features, center)
            walked = power_sum(support, graph, messages, self.n_steps) / self.n_steps
        self.fused_graph_ = support.matrix_of(graph)
        self.coef_, self.intercept_ = (part.detach().cpu().numpy() for part in head.parameters())
        inductive_state = freeze(
            prepared,
            views.positions,
            MGCNDNS(GraphFusion(view_weights.shape[1]), None, None, [convolution]),
            inputs,
            input_scaling=scaling,
            n_neighbors=self.n_neighbors_,
            metric=self.metric,
        )
        # One convolution whose messages are the mean of those of K steps.
        self.inductive_state_ = replace(inductive_state, messages=[walked.cpu().numpy()])

    def _predict_proba(self, views: MultiView) -> np.ndarray:
        walked = self.inductive_state_.logits(views)
        own = self.inductive_state_.first_messages(views)  # X Theta
        return softmax(self.alpha * own + (1 - self.alpha) * walked + self.intercept_)
