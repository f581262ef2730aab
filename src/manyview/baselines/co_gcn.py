"""Co-GCN: one graph convolutional network a view, each on learned mixtures of all views' graphs."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from manyview.base.classifier import MethodCard
from manyview.baselines._cogcn import (
    CoGCN,
    MixedGCN,
    NetInputs,
    ViewGraph,
    released_update,
    summed_negative_log_likelihood,
)
from manyview.baselines._gcn_base import (
    GraphNetworkClassifier,
    RandomState,
    check_network,
    input_scaling,
    seeded,
)
from manyview.callbacks.context import FitContext
from manyview.data.scaling import Scaling
from manyview.data.views import MultiView
from manyview.graphs.prepare import PreparedViews
from manyview.network.prepared import network_inputs
from manyview.network.training import train_network
from manyview.numerics import softmax
from manyview.validation import check_choice


class CoGCNClassifier(GraphNetworkClassifier):
    """Train a graph convolutional network a view on mixtures of all graphs, and let them vote.

    Co-training graph convolutional network (Co-GCN): in the net of view v, layer k computes

        H' = relu((sum_u pi_u A_u) H W),   pi = pi^(v,k) >= 0, sum_u pi_u = 1

    from the features of view v alone, with its own mixture of the renormalized graphs of all
    views. The label of a sample is the class of the largest sum of the nets' log-probabilities.

    The paper alternates between W and pi. Here pi is a softmax of logits that start at 0 and are
    learned with W, since the released program's own update (`official_weights`) holds pi near
    1/V. The layers have no biases, so that with one view this is GCN fusion; graphs, features
    and training loop are those of MGCN-DNS, and no validation samples pick the epoch. A view
    given as a graph has no net but is in all mixtures.

    Parameters
    ----------
    variant
        "per-view", or "single": one net on all features side by side, with one mixture for both
        layers. That is GCN fusion with learned weights of the views.
    official_weights
        Learn pi as the released program does: after each step of Adam a step of gradient
        descent, with a softmax of pi after every view's.
    n_neighbors
        Neighbors k in each view's graph; "auto" as in MGCN-DNS (see `choose_n_neighbors`).
    metric
        "cosine" or "euclidean".
    scaling
        Of the views (see `fit_scaler`): one word for all, or a list or a dict by name.
    symmetry
        "union" keeps an edge when either end chose the other, "mutual" when both did.
    hidden
        Width of the hidden layers.
    dropout
        Share of the hidden features dropped while training.
    learning_rate, weight_decay
        Of Adam; only the first layers' W decays, as in GCN fusion.
    max_epochs
        Training stops here at the latest.
    tol
        Training stops when ten epochs lower the loss, as a mean over the nets, by less than this.
    class_weight
        None, "balanced", or a dict of class -> weight.
    device
        "auto" takes a GPU where there is one.
    verbose
        Whether to show progress on the error stream.
    random_state
        Seed; the same seed gives the same result.

    Attributes
    ----------
    classes_ : [class]
    transduction_ : [sample], a label for every fitted sample
    label_distributions_ : [sample, class], their probabilities
    mixing_weights_ : [net, layer, view], share of each view's graph; sums to 1 over views.
        "single" has one net and one mixture, [1, 1, view]
    view_importance_ : [view], the mean of these shares; sums to 1
    training_curve_ : loss, summed over the nets, and accuracy on the labeled samples by epoch
    n_neighbors_ : int, the k that was used

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = np.repeat(["cat", "dog"], 20)
    >>> centers = np.where(truth == "cat", 1.0, -1.0)[:, None]
    >>> views = [centers + rng.normal(size=(40, 3)), centers * [1, -1] + rng.normal(size=(40, 2))]
    >>> labels = np.where(np.arange(40) % 10 == 0, truth, None)
    >>> model = CoGCNClassifier(random_state=0).fit(views, labels)
    >>> float((model.transduction_ == truth).mean()) > 0.8
    True
    """

    card = MethodCard(
        name="co-gcn",
        title="Co-GCN",
        paper="Li, Li, Wang: Co-GCN for multi-view semi-supervised learning. AAAI",
        year=2020,
        cost="V x edges x hidden an epoch",
    )

    def __init__(
        self,
        *,
        variant: str = "per-view",
        official_weights: bool = False,
        n_neighbors: int | str = "auto",
        metric: str = "cosine",
        scaling: Scaling = "unit",
        symmetry: str = "union",
        hidden: int = 64,
        dropout: float = 0.5,
        learning_rate: float = 0.01,
        weight_decay: float = 5e-4,
        max_epochs: int = 500,
        tol: float = 2e-3,
        class_weight: str | Mapping[Any, float] | None = None,
        device: str = "auto",
        verbose: bool = False,
        random_state: RandomState = None,
    ) -> None:
        self.variant = variant
        self.official_weights = official_weights
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.scaling = scaling
        self.symmetry = symmetry
        self.hidden = hidden
        self.dropout = dropout
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
        check_choice("variant", self.variant, ("per-view", "single"))
        check_choice("official_weights", self.official_weights, (True, False))
        check_network(self.hidden, self.dropout)

    def _fit(self, views: MultiView, y_encoded: np.ndarray, context: FitContext) -> None:
        generator = self._generator()
        inputs = self._inputs_by_net(self._prepare(views, y_encoded), generator.device)
        with seeded(generator.initial_seed()):
            nets = [self._build(own) for own in inputs]
        network = CoGCN(nets).to(generator.device)
        settings = self._training_settings(y_encoded)
        self.training_curve_ = train_network(
            network,
            inputs,
            y_encoded,
            generator=generator,
            context=context,
            not_decayed=[own for net in nets for own in (net.mixing, net.second.weight)],
            loss_of=summed_negative_log_likelihood,
            after_step=self._released_step(nets) if self.official_weights else None,
            **settings | {"tol": self.tol * len(nets)},
        )
        with torch.no_grad():
            self.label_distributions_ = softmax(network(*inputs).cpu().numpy())
            shares = torch.stack([net.mixing_weights() for net in nets])
        self.mixing_weights_ = shares.cpu().numpy()
        self.view_importance_ = self.mixing_weights_.mean(axis=(0, 1))

    def _inputs_by_net(
        self, prepared: PreparedViews, device: torch.device
    ) -> tuple[NetInputs, ...]:
        """One input for each feature view, or one of all of them side by side."""
        graphs = prepared.renormalized()
        alone = [network_inputs([graph], [], None, device) for graph in graphs]
        view_graphs = [ViewGraph(one.support, one.view_weights[:, 0]) for one in alone]
        features = list(prepared.features.values())
        groups = [[view] for view in features] if self.variant == "per-view" else [features]
        found = [
            network_inputs(graphs[:1], group, input_scaling(group), device)
            for group in groups or [[]]
        ]
        return tuple(NetInputs(view_graphs, one.features, one.center) for one in found)

    def _build(self, inputs: NetInputs) -> MixedGCN:
        return MixedGCN(
            inputs.features.shape[1],
            self.hidden,
            len(self.classes_),
            self.dropout,
            n_views=len(inputs.graphs),
            n_mixtures=2 if self.variant == "per-view" else 1,
            official_weights=self.official_weights,
        )

    def _released_step(self, nets: Sequence[MixedGCN]) -> Callable[[Callable[[], Tensor]], None]:
        """Make the step that learns pi between the steps of Adam."""
        weights = [net.mixing for net in nets]

        def step(fresh_loss: Callable[[], Tensor]) -> None:
            for pi in weights:
                pi.requires_grad_(True)
            gradients = torch.autograd.grad(fresh_loss(), weights)
            for pi, gradient in zip(weights, gradients, strict=True):
                pi.requires_grad_(False)
                pi.copy_(released_update(pi, gradient, self.learning_rate))

        return step
