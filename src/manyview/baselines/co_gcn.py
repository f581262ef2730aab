"""Co-GCN: one graph convolutional network per view, on learned mixtures of all graphs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from manyview.baselines.bases.baseline import FLAG
from manyview.baselines.bases.cards import CARDS
from manyview.baselines.bases.graph_network import (
    HIDDEN_LAYER,
    GraphNetworkClassifier,
    seeded,
)
from manyview.baselines.solvers.cogcn import (
    CoGCN,
    MixtureGCN,
    NetInputs,
    ViewGraph,
    released_update,
    summed_negative_log_likelihood,
)
from manyview.callbacks.context import FitContext
from manyview.data.views import MultiView
from manyview.graphs.prepare import PreparedViews
from manyview.network.prepared import network_inputs
from manyview.validation import Choice, Constraint


@dataclass(kw_only=True, eq=False, repr=False)
class CoGCNClassifier(GraphNetworkClassifier):
    """Train one graph convolutional network per view on mixtures of all graphs, and let them vote.

    Co-training graph convolutional network (Co-GCN): in the net of view v, layer k computes

        H' = relu((sum_u pi_u A_u) H W),   pi = pi^(v,k) >= 0, sum_u pi_u = 1

    from the features of view v alone, with its own mixture of the renormalized graphs of all
    views. The label of a sample is the class with the largest sum of the nets' log-probabilities.

    The paper alternates between W and pi. Here pi is a softmax of logits that start at 0 and are
    learned with W, because the released program's own update (`official_weights`) keeps pi near
    1/V. The layers have no biases, so that with one view this is GCN fusion. Graphs, features
    and training loop are those of MGCN-DNS, and no validation samples select the epoch. A view
    given as a graph has no net but is part of all mixtures. See `GraphNetworkClassifier` for
    the other parameters.

    Parameters
    ----------
    variant
        "per-view", or "single": one net on the concatenated features, with one mixture for both
        layers. That is GCN fusion with learned view weights.
    official_weights
        Learn pi as the released program does: after each step of Adam, one step of gradient
        descent with a softmax of pi after the update of each view.
    hidden, dropout
        As in `GCNFusionClassifier`, for each net.
    weight_decay
        Of Adam; only W of the first layers decays, as in GCN fusion.
    tol
        Training stops when ten epochs lower the loss, as a mean over the nets, by less than this.

    Attributes
    ----------
    mixing_weights_ : [net, layer, view], weight of each view's graph; sums to 1 over views.
        "single" has one net and one mixture, [1, 1, view]
    view_importance_ : [view], the mean of these weights; sums to 1
    training_curve_ : loss, summed over the nets, and accuracy on the labeled samples, by epoch

    Examples
    --------
    >>> from manyview import hide_labels, make_multiview_classification
    >>> views, truth = make_multiview_classification(
    ...     60, 3, class_sep=3, n_noise_views=1, random_state=0
    ... )
    >>> model = CoGCNClassifier(random_state=0).fit(views, hide_labels(truth, 0.1, random_state=0))
    >>> model.mixing_weights_.shape, int(model.view_importance_.argmin())
    ((3, 2, 3), 2)
    """

    variant: str = "per-view"
    official_weights: bool = False
    hidden: int = 64
    dropout: float = 0.5

    card = CARDS["co-gcn"]
    _parameter_constraints: ClassVar[dict[str, Constraint]] = {
        **GraphNetworkClassifier._parameter_constraints,
        "variant": Choice(("per-view", "single")),
        "official_weights": FLAG,
        **HIDDEN_LAYER,
    }

    def _fit(self, views: MultiView, y_encoded: np.ndarray, context: FitContext) -> None:
        generator = self._generator()
        inputs = self._inputs_by_net(self._prepare(views, y_encoded), generator.device)
        with seeded(generator.initial_seed()):
            nets = [self._build(one) for one in inputs]
        network = CoGCN(nets).to(generator.device)
        self._train(
            network,
            inputs,
            y_encoded,
            generator,
            context,
            tol=None if self.tol is None else self.tol * len(nets),
            not_decayed=[weight for net in nets for weight in (net.mixing, net.second.weight)],
            loss_of=summed_negative_log_likelihood,
            after_step=self._released_step(nets) if self.official_weights else None,
        )
        with torch.no_grad():
            mixing_weights = torch.stack([net.mixing_weights() for net in nets])
        self.mixing_weights_ = mixing_weights.cpu().numpy()
        self.view_importance_ = self.mixing_weights_.mean(axis=(0, 1))

    def _inputs_by_net(
        self, prepared: PreparedViews, device: torch.device
    ) -> tuple[NetInputs, ...]:
        """Return one input per feature view, or one of the concatenated views."""
        graphs = prepared.renormalized()
        separate = [network_inputs([graph], [], None, device) for graph in graphs]
        view_graphs = [ViewGraph(one.support, one.view_weights[:, 0]) for one in separate]
        features = list(prepared.features.values())
        groups = [[view] for view in features] if self.variant == "per-view" else [features]
        found = [
            network_inputs(graphs[:1], group, self._input_scaling(group), device)
            for group in groups or [[]]
        ]
        return tuple(NetInputs(view_graphs, one.features, one.center) for one in found)

    def _build(self, inputs: NetInputs) -> MixtureGCN:
        return MixtureGCN(
            inputs.features.shape[1],
            self.hidden,
            len(self.classes_),
            self.dropout,
            n_views=len(inputs.graphs),
            n_mixtures=2 if self.variant == "per-view" else 1,
            official_weights=self.official_weights,
        )

    def _released_step(self, nets: Sequence[MixtureGCN]) -> Callable[[Callable[[], Tensor]], None]:
        """Return the update of pi that follows each step of Adam."""
        weights = [net.mixing for net in nets]

        def step(fresh_loss: Callable[[], Tensor]) -> None:
            for pi in weights:
                pi.requires_grad_(True)
            gradients = torch.autograd.grad(fresh_loss(), weights)
            for pi, gradient in zip(weights, gradients, strict=True):
                pi.requires_grad_(False)
                pi.copy_(released_update(pi, gradient, self.learning_rate))

        return step
