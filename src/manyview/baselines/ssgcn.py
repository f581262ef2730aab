"""SSGCN: features spread over the mean graph by many short walks, then a linear classifier."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from manyview.base.classifier import MethodCard
from manyview.baselines._gcn_base import (
    GraphNetworkClassifier,
    RandomState,
    input_scaling,
)
from manyview.baselines.gcn import mean_graph
from manyview.callbacks.context import FitContext
from manyview.data.network_input import InputScaling
from manyview.data.scaling import Scaling, ViewScaler
from manyview.data.views import MultiView
from manyview.layers.fusion import GraphFusion
from manyview.layers.propagation import power_sum
from manyview.network.inductive import GraphIndex, InductiveState, NeighborIndex, freeze
from manyview.network.mgcn_dns import MGCNDNS
from manyview.network.prepared import network_inputs
from manyview.network.spectral import SpectralRegression
from manyview.network.training import TrainingCurve
from manyview.numerics import softmax
from manyview.validation import check_number, check_whole_number


class SSGCNClassifier(GraphNetworkClassifier):
    """Spread the features over the mean graph, and label all samples by logistic regression.

    Simple spectral graph convolution (SSGC, S^2GC):

        Xbar = alpha X + (1 - alpha)/K sum_{k=1..K} T^k X,   Z = softmax(Xbar Theta + b)

    T is the mean of the views' renormalized graphs and X the input of MGCN-DNS, all views side
    by side; the paper has one graph, and scales the rows of X to a sum of 1, which features
    below 0 do not allow. Only Theta and b are learned, on the labeled samples, and nothing is
    drawn at random.

    A new sample is linked to its nearest fitted samples in every view, by the weights that the
    renormalized graphs would give it, and takes part in the walks without changing theirs: each
    step brings it what theirs have, and over its self-loop its own features.

    Parameters
    ----------
    n_steps
        Longest walk K.
    alpha
        Share of a sample's own features, 0 or more and below 1.
    n_neighbors
        Neighbors k in each view's graph; "auto" as in MGCN-DNS (see `choose_n_neighbors`).
    metric
        "cosine" or "euclidean".
    scaling
        Of the views (see `fit_scaler`): one word for all, or a list or a dict by name.
    symmetry
        "union" keeps an edge when either end chose the other, "mutual" when both did.
    learning_rate, weight_decay
        Of Adam.
    max_epochs
        Training stops here at the latest.
    tol
        Training stops when ten epochs lower the mean loss by less than this.
    class_weight
        None, "balanced", or a dict of class -> weight.
    device
        "auto" takes a GPU where there is one.
    verbose
        Whether to show progress on the error stream.
    random_state
        Unused, there is nothing to draw; for one contract.

    Attributes
    ----------
    classes_ : [class]
    transduction_ : [sample], a label for every fitted sample
    label_distributions_ : [sample, class], their probabilities
    fused_graph_ : CSR, the mean of the views' renormalized graphs
    coef_, intercept_ : [feature, class] and [class], Theta and b
    training_curve_ : loss and accuracy on the labeled samples by epoch
    n_neighbors_ : int, the k that was used

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = np.repeat(["cat", "dog"], 20)
    >>> centers = np.where(truth == "cat", 1.0, -1.0)[:, None]
    >>> views = [centers + rng.normal(size=(40, 3)), centers * [1, -1] + rng.normal(size=(40, 2))]
    >>> labels = np.where(np.arange(40) % 10 == 0, truth, None)
    >>> model = SSGCNClassifier().fit(views, labels)
    >>> float((model.transduction_ == truth).mean()) > 0.8
    True
    """

    card = MethodCard(
        name="ssgcn",
        title="SSGCN",
        paper="Zhu, Koniusz: Simple spectral graph convolution. ICLR",
        year=2021,
        cost="K x edges x min(l, d), once; l x d an epoch",
    )
    record_types = (
        InductiveState,
        NeighborIndex,
        GraphIndex,
        InputScaling,
        TrainingCurve,
        ViewScaler,
    )
    takes_missing_views = True

    def __init__(
        self,
        *,
        n_steps: int = 16,
        alpha: float = 0.05,
        n_neighbors: int | str = "auto",
        metric: str = "cosine",
        scaling: Scaling = "unit",
        symmetry: str = "union",
        learning_rate: float = 0.2,
        weight_decay: float = 1e-5,
        max_epochs: int = 100,
        tol: float = 2e-3,
        class_weight: str | Mapping[Any, float] | None = None,
        device: str = "auto",
        verbose: bool = False,
        random_state: RandomState = None,
    ) -> None:
        self.n_steps = n_steps
        self.alpha = alpha
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.scaling = scaling
        self.symmetry = symmetry
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.max_epochs = max_epochs
        self.tol = tol
        self.class_weight = class_weight
        self.device = device
        self.verbose = verbose
        self.random_state = random_state

    def _check_parameters(self, views: MultiView) -> None:
        super()._check_parameters(views)
        check_whole_number("n_steps", self.n_steps, at_least=1)
        check_number("alpha", self.alpha, at_least=0, below=1)

    def _fit(self, views: MultiView, y_encoded: np.ndarray, context: FitContext) -> None:
        generator = self._generator()
        prepared = self._prepare(views, y_encoded)
        scaled = list(prepared.features.values())
        present = prepared.present_features()
        scaling = input_scaling(scaled, present)
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
        # One convolution whose messages are the mean of what K steps send.
        self.inductive_state_ = replace(inductive_state, messages=[walked.cpu().numpy()])

    def _predict_proba(self, views: MultiView) -> np.ndarray:
        walked = self.inductive_state_.logits(views)
        own = self.inductive_state_.first_messages(views)  # X Theta
        return softmax(self.alpha * own + (1 - self.alpha) * walked + self.intercept_)
