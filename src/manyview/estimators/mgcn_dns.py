"""MGCNDNSClassifier: the paper's method, by scikit-learn's rules."""

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
import torch
from torch import nn

from manyview.base.method_card import MethodCard
from manyview.base.parameters import Group, group_of
from manyview.callbacks.context import FitContext
from manyview.data.scaling import Scaling
from manyview.data.views import MultiView
from manyview.estimators.calibration import calibrate_or_warn
from manyview.estimators.network_classifier import NetworkClassifier
from manyview.estimators.parameters import (
    CalibrationConfig,
    GraphLearningConfig,
    NeighborGraph,
    NodeSelectionConfig,
    TrainingConfig,
)
from manyview.estimators.warm_start import TARGET_LOSS, LearnedWeights
from manyview.network.fixed_graph import FixedGraphNetwork
from manyview.network.mgcn_dns import MGCNDNS, build_network
from manyview.network.prepared import PreparedInputs
from manyview.network.shared_training import NetworkPart, divide_network
from manyview.network.training import TrainingCurve, train_network
from manyview.self_training.loop import Stage
from manyview.self_training.pseudo_labels import PseudoLabeler
from manyview.validation import Constraint, Number, WholeNumber

# While the graph is fixed: factor of `tol`, because predictions settle long before the loss does.
LOOSER = 10.0
# When it is learned in few epochs: factor of the learning rate of gates, threshold, view weights.
GRAPH_RATE = 5.0
# What the paper prints, and the plainest choice where it prints nothing; see `as_printed`.
AS_PRINTED: dict[str, Any] = {
    "graph_learning": "full",
    "learning_rate": 0.1,
    "max_epochs": 200,
    "training__center_input": False,
    "training__dropout": 0.0,
    "training__tol": None,
    "training__averaged_epochs": 1,
}


@dataclass(kw_only=True, eq=False, repr=False)
class MGCNDNSClassifier(NetworkClassifier):
    """Label all samples of a multi-view data set from a few known labels: MGCN-DNS.

    Multi-view graph convolutional network with differentiable node selection, as in the paper:
    one network, trained on the labels alone. `ManyviewClassifier` trains several in stages and is
    more accurate where labels are few.

    Parameters
    ----------
    graph_learning
        "edge" learns one gate per edge, "low-rank" two thin factors, "full" the paper's m x m
        factors, None no gates; or a `GraphLearningConfig`.
    node_selection
        "differentiable", "top-k", None for no selection, or a `NodeSelectionConfig`.
    hidden
        Width of the hidden layers.
    n_layers
        Number of graph convolutions.
    learning_rate
        Of Adam.
    max_epochs
        Training stops here at the latest.
    training
        Input, regularization and stopping; None takes the defaults of `TrainingConfig`.
    graph, scaling, missing, class_weight, calibration, warm_start, device, verbose, random_state
        As in `ManyviewClassifier`.

    Attributes
    ----------
    classes_ : [class]
    transduction_ : [sample], a label for every fitted sample
    label_distributions_ : [sample, class], their probabilities
    view_importance_ : [view], weight of each view; sums to 1
    mixing_weights_ : [view, view], weight of each view (column) in each mixture (row)
    view_graphs_ : list of CSR, each view's renormalized graph
    fused_graph_, refined_graph_, selected_graph_ : CSR, the graph after each module
    edge_gates_ : CSR, learned gate of each edge, None without graph learning
    node_confidence_ : [sample], None without differentiable selection
    threshold_ : float, None without differentiable selection
    training_curve_ : loss and accuracy on the labeled samples by epoch
    temperature_ : float, what logits are divided by; 1 without calibration
    calibration_ : the held-out labels and their logits, None without calibration
    y_ : [sample], class number of the label it came with, -1 without one
    n_neighbors_ : int, the k that was used
    scaling_ : dict of view -> the scaling that was used
    neighbor_recall_ : dict of view -> fraction of true neighbors found; 1 if searched exactly
    learned_weights_ : what a warm start continues from, None without `warm_start`
    is_labeled_ : [sample], whether its label was given
    embedding_ : [sample, hidden], the input of the last convolution
    view_names_, n_features_in_, n_features_by_view_

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> truth = np.repeat(["cat", "dog"], 20)
    >>> centers = np.where(truth == "cat", 1.0, -1.0)[:, None]
    >>> views = {"sound": centers + rng.normal(size=(40, 3)),
    ...          "shape": centers * [1, -1] + rng.normal(size=(40, 2))}
    >>> labels = np.where(np.arange(40) % 10 == 0, truth, None)
    >>> model = MGCNDNSClassifier(random_state=0).fit(views, labels)
    >>> float((model.transduction_ == truth).mean()) > 0.8
    True
    """

    scaling: Scaling = "unit"
    graph_learning: str | GraphLearningConfig | None = "edge"
    node_selection: str | NodeSelectionConfig | None = "differentiable"
    hidden: int = 64
    n_layers: int = 2
    learning_rate: float = 0.01
    max_epochs: int = 200
    training: TrainingConfig | None = None
    calibration: str | CalibrationConfig | None = None

    card = MethodCard(
        name="mgcn-dns",
        title="MGCN-DNS",
        paper="Chen, Fu, Xiao, Wang, Plant, Guo: Multi-view graph convolutional networks with "
        "differentiable node selection. TKDD",
        year=2023,
        cost="edges x hidden per epoch; m log m for the ranking",
        version=2,  # 1 was manyview's default of today under this name
    )
    _parameter_groups: ClassVar[dict[str, Group]] = {
        "graph": group_of(NeighborGraph),
        "graph_learning": group_of(GraphLearningConfig, takes_words=True),
        "node_selection": group_of(NodeSelectionConfig, takes_words=True),
        "training": group_of(TrainingConfig),
        "calibration": group_of(CalibrationConfig, takes_words=True),
    }
    _parameter_constraints: ClassVar[dict[str, Constraint]] = {
        **NetworkClassifier._parameter_constraints,
        "hidden": WholeNumber(at_least=1),
        "n_layers": WholeNumber(at_least=1),
        "max_epochs": WholeNumber(at_least=1),
        "learning_rate": Number(above=0),
    }

    @classmethod
    def as_printed(cls, **changes: Any) -> Self:
        """Return the method with everything the paper prints, and nothing of ours.

        Printed: Adam with a learning rate of 0.1, two layers, m x m factors from a random start
        (Eq. 8), a learned threshold (Eq. 15), cross-entropy on the labels alone, at most 200
        epochs. Nothing is said of dropout, weight decay or averaged weights, so there is none.

        The paper leaves these choices open; each is the plainest, or that of the defaults:

        - H in Eq. (18): the scaled views side by side, not centered; rows of length 1
        - when to stop: after 200 epochs, with the last weights
        - P in Eq. (12): its rows are ranks, as in Eq. (9), whose text contradicts it
        - S1 and S2: normal entries with standard deviation (2m)^-1/4
        - threshold: starts at 0.007; view weights: start equal
        - gamma and tau 1, 64 hidden units, k by the rule of the defaults

        Parameters
        ----------
        changes
            Parameters that differ, by path: `graph_learning="edge"`, `graph__n_neighbors=15`.

        Examples
        --------
        >>> MGCNDNSClassifier.as_printed(max_epochs=100).learning_rate
        0.1
        """
        return cls().set_params(**AS_PRINTED).set_params(**changes)

    def _check_parameters(self, views: MultiView) -> None:
        super()._check_parameters(views)
        self.check_network()
        self.parameter_group("calibration").check("calibration")

    def check_network(self) -> None:
        """Refuse parameters of the network and its training that break a rule."""
        for name in ("graph_learning", "node_selection", "training"):
            self.parameter_group(name).check(name)

    def _network_estimator(self) -> Self:
        return self

    def _self_training(self, is_fold: bool = False) -> dict[str, Any]:
        return {
            "max_iter": 0,
            "initial_teacher": "network",
            "pseudo_labeler": PseudoLabeler(),
        }

    def _calibrate(
        self, prepared: PreparedInputs, y_encoded: np.ndarray, generator: torch.Generator
    ) -> None:
        """Fit the temperature by fits on the same graphs that do not see all labels."""
        self.calibration_ = None
        config = self.parameter_group("calibration")
        if config.form is None:
            return
        assert self.training_curve_ is not None
        found = calibrate_or_warn(
            y_encoded,
            config.n_folds,
            np.random.default_rng(generator.initial_seed()),
            partial(self._held_out_logits, prepared, generator),
            was_interrupted=self.training_curve_.stopped == "interrupted",
        )
        if found is not None:
            self.calibration_ = found
            self.temperature_ *= found.temperature

    def train_stage(
        self,
        stage: Stage,
        *,
        y_encoded: np.ndarray,
        classes: np.ndarray,
        class_weight: np.ndarray | None,
        n_neighbors: int,
        graph_epochs: int | None,
        context: FitContext,
        verbose: bool,
        earlier: LearnedWeights | None,
    ) -> tuple[NetworkPart, TrainingCurve]:
        """Train the network of a stage, over all processes that share the fit; set nothing.

        Weights are drawn from the generator's seed, dropout from the generator. Training
        continues from `earlier` weights where given; otherwise a network that only makes
        pseudo-labels continues from the one before.

        On pseudo-labels the graph is fixed until the weights have converged; the final network
        then learns both for `graph_epochs`, at most half of all. None learns both in all epochs,
        as on labels alone.
        """
        network = self._build(stage, len(classes), n_neighbors)
        if earlier is not None:
            earlier.start(network, network.layers()[-1].weight, classes)
        elif stage.previous is not None and not stage.is_final:
            network.convolutions.load_state_dict(stage.previous.convolutions.state_dict())
        labels, config = stage.pseudo_labels, self.parameter_group("training")
        part = divide_network(network, stage.own_inputs)
        soft_targets = None
        if labels is not None:
            soft_targets = part.rows(labels.targets), part.rows(labels.weights)
        settings: dict[str, Any] = {
            "generator": stage.generator,
            "context": context,
            "target_loss": None if earlier is None else TARGET_LOSS,
            "learning_rate": self.learning_rate,
            "weight_decay": config.weight_decay,
            "max_epochs": self.max_epochs,
            "tol": config.tol,
            "averaged_epochs": config.averaged_epochs,
            "class_weight": class_weight,
            "soft_targets": soft_targets,
            "keeps_previous": stage.previous is not None,
            "verbose": verbose,
            "shared": part.shared,
        }
        y_own = part.rows(y_encoded)
        if labels is None or earlier is not None or graph_epochs is None:
            curve = train_network(part.network, part.inputs, y_own, **settings)
            part.join()
            return part, curve
        n_learned = min(graph_epochs, self.max_epochs // 2) if stage.is_final else 0
        looser = None if config.tol is None else LOOSER * config.tol
        first = {"max_epochs": self.max_epochs - n_learned, "tol": looser}
        fixed = FixedGraphNetwork(part.network, part.inputs)
        curve = train_network(fixed, (), y_own, **settings | first)
        fixed.unscale()
        part.network.eval()
        del fixed  # it holds a copy of the features
        if n_learned > 0 and not curve.was_cut_short:
            settings |= {"max_epochs": n_learned, "rate_factors": _graph_rates(part.network)}
            curve = curve.then(train_network(part.network, part.inputs, y_own, **settings))
        part.join()
        return part, curve

    def _build(self, stage: Stage, n_classes: int, n_neighbors: int) -> MGCNDNS:
        """Make the network; one that only makes pseudo-labels has neither of the modules."""
        learning, selection = (
            self.parameter_group(name) for name in ("graph_learning", "node_selection")
        )
        n_graphs = stage.inputs.view_weights.shape[1]
        labels = stage.pseudo_labels
        return build_network(
            stage.inputs,
            n_classes=n_classes,
            graph_learning=learning.form if stage.is_final else None,
            rank=learning.rank,
            gamma=learning.gamma,
            node_selection=selection.form if stage.is_final else None,
            n_selected=selection.n_selected or n_neighbors,
            tau=selection.tau,
            initial_threshold=selection.initial_threshold,
            rank_axis=selection.rank_axis,
            ranking=selection.ranking,
            hidden=self.hidden,
            n_layers=self.n_layers,
            dropout=self.parameter_group("training").dropout,
            seed=stage.generator.initial_seed(),
            graph_weights=None if labels is None else labels.weights_of(n_graphs),
        ).to(stage.generator.device)

    def network_settings(self) -> dict[str, Any]:
        """Return the settings that decide the shapes of the weights."""
        learning = self.parameter_group("graph_learning")
        return {
            "graph_learning": learning.form,
            "rank": learning.rank,
            "node_selection": self._node_selection().form,
            "hidden": self.hidden,
            "n_layers": self.n_layers,
        }


def _graph_rates(network: MGCNDNS) -> dict[nn.Parameter, float]:
    """Return the factor of the learning rate of all parameters but the layers' weights."""
    weights = set(network.convolutions.parameters())
    return {one: GRAPH_RATE for one in network.parameters() if one not in weights}
