"""The fit that manyview's classifier and the paper's share: graphs, stages, calibration."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar
from warnings import catch_warnings, simplefilter

import numpy as np
import torch
from sklearn.exceptions import ConvergenceWarning
from torch import Tensor

from manyview.base.parameters import NestedParameters
from manyview.base.summary import StageRecord
from manyview.callbacks.context import FitContext
from manyview.data.checksums import views_checksum
from manyview.data.cross_validation import TransductiveViews
from manyview.data.labels import class_weights
from manyview.data.network_input import InputScaling
from manyview.data.scaling import SCALINGS, ViewScaler, scaling_by_view
from manyview.data.views import MultiView
from manyview.distributed.world import world
from manyview.estimators.calibration import Calibration, InterruptedFitError
from manyview.estimators.fit_memory import check_fit_memory
from manyview.estimators.mixins import NetworkOutputsMixin
from manyview.estimators.parameters import (
    CalibrationConfig,
    GraphLearningConfig,
    NeighborGraph,
    NodeSelectionConfig,
    TrainingConfig,
)
from manyview.estimators.shared_fit import (
    check_shared_fit,
    fit_identity,
    pick_shared_device,
    shared_seed,
)
from manyview.estimators.warm_start import LearnedWeights, weights_of
from manyview.graphs.knn_graph import is_approximate
from manyview.graphs.prepare import pick_n_neighbors
from manyview.graphs.scaling_choice import AUTO
from manyview.layers.fusion import mixing_weights, view_importance
from manyview.layers.node_selection import NodeSelection
from manyview.network.inductive import (
    GraphIndex,
    InductiveState,
    NeighborIndex,
    SelectionRule,
    freeze,
)
from manyview.network.mgcn_dns import MGCNDNS, NetworkInputs
from manyview.network.prepared import PreparedInputs, cached_inputs, show_recalls
from manyview.network.resume import fit_progress
from manyview.network.training import TrainingCurve, pick_device
from manyview.numerics import softmax
from manyview.self_training.loop import SelfTrainingResult, self_train
from manyview.self_training.pseudo_labels import PseudoLabeler
from manyview.system.scratch import on_disk
from manyview.system.threads import threads_for
from manyview.validation import Choice, Constraint, RandomState, draw_seed

if TYPE_CHECKING:
    from manyview.estimators.mgcn_dns import MGCNDNSClassifier


@dataclass(kw_only=True, eq=False, repr=False)
class NetworkClassifier(NestedParameters, NetworkOutputsMixin):
    """Base of the classifiers that train the MGCN-DNS network.

    A child defines `_network_estimator`, whose network is trained, and `_self_training`, in how
    many stages.
    """

    record_types: ClassVar[tuple[type, ...]] = (
        Calibration,
        CalibrationConfig,
        GraphIndex,
        GraphLearningConfig,
        InductiveState,
        InputScaling,
        LearnedWeights,
        NeighborGraph,
        NeighborIndex,
        NodeSelectionConfig,
        PseudoLabeler,
        SelectionRule,
        StageRecord,
        TrainingConfig,
        TrainingCurve,
        ViewScaler,
    )
    takes_missing_views = True
    _parameter_constraints: ClassVar[dict[str, Constraint]] = {
        "warm_start": Choice((True, False)),
        "verbose": Choice((True, False)),
    }

    graph: NeighborGraph | None = None
    missing: str = "error"
    class_weight: str | Mapping[Any, float] | None = None
    warm_start: bool = False
    device: str = "auto"
    verbose: bool = False
    random_state: RandomState = None

    def _network_estimator(self) -> "MGCNDNSClassifier":
        """Return the estimator whose network is trained."""
        raise NotImplementedError

    def _self_training(self, is_fold: bool = False) -> dict[str, Any]:
        """Return `max_iter`, `initial_teacher` and `pseudo_labeler` of `self_train`."""
        raise NotImplementedError

    def _has_early_fusion(self) -> bool:
        """Whether a graph of all views together is built."""
        return False

    def _graph_epochs(self, is_fold: bool) -> int | None:
        """Epochs in which a network trained on pseudo-labels learns its graph; None for all."""
        return None

    def _node_selection(self) -> NodeSelectionConfig:
        selection: NodeSelectionConfig = self._network_estimator().parameter_group("node_selection")
        return selection

    def _centers_input(self) -> bool:
        training: TrainingConfig = self._network_estimator().parameter_group("training")
        return training.center_input

    def _shows_progress(self) -> bool:
        """Whether this process shows progress; of several that share a fit, the first does."""
        return self.verbose and world().rank == 0

    def _check_parameters(self, views: MultiView) -> None:
        self.parameter_group("graph").check_for(views)
        scaling_by_view(self.scaling, views, (AUTO, *SCALINGS))
        super()._check_parameters(views)

    def _fit(self, views: MultiView, y_encoded: np.ndarray, context: FitContext) -> None:
        check_shared_fit(self, views, y_encoded, context)
        device = pick_shared_device(self.device)
        generator = torch.Generator(device=device).manual_seed(shared_seed(self.random_state))
        earlier, checksum = self._earlier(views)
        n_neighbors = self.parameter_group("graph").n_neighbors
        self.n_neighbors_ = (
            pick_n_neighbors(n_neighbors, y_encoded, len(self.classes_))
            if earlier is None
            else earlier.n_neighbors
        )
        settings = self._network_estimator().network_settings()
        check_fit_memory(
            views,
            self.card.title,
            verbose=self._shows_progress(),
            n_neighbors=self.n_neighbors_,
            n_classes=len(self.classes_),
            hidden=settings["hidden"],
            n_layers=settings["n_layers"],
            graph_learning=settings["graph_learning"],
            early_fusion=self._has_early_fusion(),
        )
        prepared = self._prepare(views, generator, context)
        identity = None
        # Callbacks would miss the epochs before a break, and earlier weights decide a warm start.
        if context.callbacks is None and context.observer is None and earlier is None:
            identity = partial(fit_identity, self, views, y_encoded, generator)
        with threads_for(len(views)), fit_progress(identity):
            y_used, labeled_features = self._audit(prepared, y_encoded)
            network, is_complete = self._learn(
                prepared, y_used, generator, context, earlier, labeled_features
            )
            self._cross_fit(views, prepared, y_used, generator, is_complete=is_complete)
            self.inductive_state_ = freeze(
                prepared.views,
                views.positions,
                network,
                prepared.inputs,
                input_scaling=prepared.input_scaling,
                n_neighbors=self.n_neighbors_,
                metric=self.parameter_group("graph").metric,
            )
        self.learned_weights_ = None
        if self.warm_start and is_complete:
            self.learned_weights_ = LearnedWeights(
                checksum,
                self._fixed_settings(),
                self.n_neighbors_,
                self.classes_,
                weights_of(network),
            )

    def prepare_graphs(self, samples: TransductiveViews, n_neighbors: int) -> PreparedInputs:
        """Scale the views and build the graphs before any label is known.

        A fit on `samples` with the same number of neighbors takes them over. Of processes that
        share fits, all call this.
        """
        device = pick_device(self.device)
        generator = torch.Generator(device=device).manual_seed(draw_seed(self.random_state))
        views = self._check_fit_views(samples.views)
        self._check_parameters(views)
        self.n_neighbors_ = n_neighbors
        return self._prepare(views, generator, FitContext(cache=samples.shared))

    def _audit(
        self, prepared: PreparedInputs, y_encoded: np.ndarray
    ) -> tuple[np.ndarray, Tensor | None]:
        """Return the class numbers to learn from; a child may leave doubtful labels out.

        With them comes what it computed for this: the labeled samples' propagated features.
        """
        return y_encoded, None

    def _cross_fit(
        self,
        views: MultiView,
        prepared: PreparedInputs,
        y_encoded: np.ndarray,
        generator: torch.Generator,
        *,
        is_complete: bool,
    ) -> None:
        """Predict labels without them, for a child that learns from such predictions."""

    def _learn(
        self,
        prepared: PreparedInputs,
        y_encoded: np.ndarray,
        generator: torch.Generator,
        context: FitContext,
        earlier: LearnedWeights | None,
        labeled_features: Tensor | None,
    ) -> tuple[MGCNDNS, bool]:
        """Train, calibrate and set what was learned; return the network, whether it is final."""
        result = self._train(prepared, y_encoded, generator, context, earlier, labeled_features)
        network, self.training_curve_ = result.network, result.curve
        if not result.is_complete:  # it may have learned on the early-fusion graph, too
            network.fusion = network.fusion.of_first(len(prepared.view_graphs))
        self.stages_ = result.stages
        self.temperature_ = self._temperature_of(result)
        self._calibrate(prepared, y_encoded, generator)
        self._set_learned(network, prepared.inputs)
        return network, result.is_complete

    def _train(
        self,
        prepared: PreparedInputs,
        y_encoded: np.ndarray,
        generator: torch.Generator,
        context: FitContext,
        earlier: LearnedWeights | None = None,
        labeled_features: Tensor | None = None,
        *,
        is_fold: bool = False,
    ) -> SelfTrainingResult:
        """Train on class numbers, -1 where unknown, from `earlier` weights where given.

        A fold, a fit without some labels whose predictions serve to judge others, may be shorter.
        """
        class_weight = class_weights(self.class_weight, self.classes_, y_encoded)
        train = partial(
            self._network_estimator().train_stage,
            y_encoded=y_encoded,
            classes=self.classes_,
            class_weight=class_weight,
            n_neighbors=self.n_neighbors_,
            graph_epochs=self._graph_epochs(is_fold),
            context=context,
            verbose=self._shows_progress(),
            earlier=earlier,
        )
        return self_train(
            train,
            prepared,
            y_encoded,
            len(self.classes_),
            class_weight=class_weight,
            generator=generator,
            is_warm=earlier is not None,
            labeled_features=labeled_features,
            **self._self_training(is_fold),
        )

    def _prepare(
        self, views: MultiView, generator: torch.Generator, context: FitContext
    ) -> PreparedInputs:
        """Scale the views and build the graphs, or take them from an earlier fit."""
        graph = self.parameter_group("graph")
        settings = {
            **graph.settings(self.n_neighbors_),
            "scaling": self.scaling,
            "early_fusion": self._has_early_fusion(),
            "center_input": self._centers_input(),
            "world": world(),
        }
        if is_approximate(graph.search, len(views)):
            settings["seed"] = generator.initial_seed()
        cache = self._input_cache if context.cache is None else context.cache
        prepared = cached_inputs(cache, views, generator.device, **settings)
        self.view_graphs_, self.neighbor_recall_ = prepared.view_graphs, prepared.views.recalls
        self.scaling_ = prepared.views.scalings
        if self._shows_progress():
            show_recalls(prepared.views.recalls)
        return prepared

    def _earlier(self, views: MultiView) -> tuple[LearnedWeights | None, str]:
        """Return the weights a warm start continues from, None for none, and the checksum."""
        if not self.warm_start:
            self._input_cache = self.learned_weights_ = None
            return None, ""
        checksum = self.transductive_checksum_ or views_checksum(views)
        earlier = self.learned_weights_
        if earlier is not None:
            earlier.check(checksum, self._fixed_settings())
        if earlier is None or self._input_cache is None:
            self._input_cache = {}
        return earlier, checksum

    def _fixed_settings(self) -> dict[str, Any]:
        """Return the settings that decide the graphs and the shapes of the weights."""
        graph = self.parameter_group("graph").get_params(deep=False)
        names = ("n_neighbors", "metric", "symmetry", "min_common_neighbors")
        return {
            **{name: graph[name] for name in names},
            "scaling": self.scaling,
            "center_input": self._centers_input(),
            **self._network_estimator().network_settings(),
        }

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop("_input_cache", None)
        return state

    def _temperature_of(self, result: SelfTrainingResult) -> float:
        """Return what the logits are divided by before any calibration."""
        labeler: PseudoLabeler = self._self_training()["pseudo_labeler"]
        return labeler.temperature if result.stages else 1.0

    def _calibrate(
        self, prepared: PreparedInputs, y_encoded: np.ndarray, generator: torch.Generator
    ) -> None:
        """Fit the temperature, for a child that calibrates the network alone."""

    def _held_out_logits(
        self,
        prepared: PreparedInputs,
        generator: torch.Generator,
        y_shown: np.ndarray,
        fold: int,
    ) -> np.ndarray:
        """Fit to part of the labels on the same graphs; return the logits of all samples.

        Raises `InterruptedFitError` where the fit is interrupted.
        """
        seed = generator.initial_seed() + 1 + fold
        own = torch.Generator(device=generator.device).manual_seed(seed)
        with catch_warnings():
            simplefilter("ignore", ConvergenceWarning)  # one warning is enough
            result = self._train(prepared, y_shown, own, FitContext(), is_fold=True)
        if result.curve.stopped == "interrupted":
            raise InterruptedFitError
        return result.logits / self._temperature_of(result)

    def _predict_proba(self, views: MultiView) -> np.ndarray:
        return softmax(self.inductive_state_.logits(views) / self.temperature_)

    @torch.no_grad()
    def _set_learned(self, network: MGCNDNS, inputs: NetworkInputs) -> None:
        """Set the learned attributes from one pass without dropout."""
        support, view_weights, features, center = inputs
        graphs = network.graphs(support, view_weights)
        logits = network.convolve(support, graphs.selected, features, center)
        self.label_distributions_ = softmax(logits.cpu().numpy() / self.temperature_)
        mixing = mixing_weights(network.fusion.logits)
        self.mixing_weights_ = mixing.cpu().numpy()
        self.view_importance_ = view_importance(mixing).cpu().numpy()
        learned = [*graphs]
        if network.graph_learning is not None:
            learned.append(network.graph_learning.gates(support))
        matrices = [on_disk(matrix) for matrix in support.matrices_of(learned)]
        self.fused_graph_, self.refined_graph_, self.selected_graph_, *gates = matrices
        self.edge_gates_ = gates[0] if gates else None
        self.node_confidence_ = self.threshold_ = None
        if isinstance(network.node_selection, NodeSelection):
            confidence = network.node_selection.confidence(support, graphs.refined)
            self.node_confidence_ = confidence.cpu().numpy()
            self.threshold_ = network.node_selection.threshold.item()
