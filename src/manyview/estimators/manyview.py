"""ManyviewClassifier: several views and a few labels in, a label for every sample out."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from manyview.base.method_card import MethodCard
from manyview.base.parameters import Group, group_of
from manyview.data.labels import UNKNOWN
from manyview.data.scaling import Scaling
from manyview.data.views import MultiView
from manyview.distributed.world import world
from manyview.errors import CalibrationWarning, InputError, warn_user
from manyview.estimators.calibration import InterruptedFitError
from manyview.estimators.cross_fit import (
    NETWORK,
    RECORD_TYPES,
    CrossFit,
    TableLearner,
    cross_fit,
)
from manyview.estimators.mgcn_dns import MGCNDNSClassifier
from manyview.estimators.network_classifier import NetworkClassifier
from manyview.estimators.parameters import NeighborGraph
from manyview.label_audit.audit import LabelIssues, audit_labels
from manyview.network.prepared import PreparedInputs
from manyview.network.spectral import propagated_features
from manyview.numerics import softmax
from manyview.self_training.pseudo_labels import PseudoLabeler
from manyview.validation import Choice, Constraint, OrChoice, WholeNumber, check_constraints

N_UNLABELED = 200  # samples that the label audit compares the labeled ones with
# Parameters of the inner estimator that those of this classifier replace.
NOT_USED = ("graph", "scaling", "missing", "class_weight", "calibration", "warm_start", "device")


@dataclass(kw_only=True, eq=False, repr=False)
class ManyviewClassifier(NetworkClassifier):
    """Label all samples of a multi-view data set from a few known labels.

    Scales the views, builds a neighbor graph for each and one for all together, and self-trains
    an inner estimator: a linear classifier makes the first pseudo-labels, a plain graph
    convolutional network learns from them and makes the next, and the inner estimator's network
    learns from those. Pseudo-labels are cleaned by class sizes, by the views' agreement and by
    propagation over the graphs (see `PseudoLabeler`). Labels that are probably wrong are left out,
    and predictions are mixed with those of two classifiers of the columns, by weights that hidden
    labels choose.

    Parameters
    ----------
    estimator
        Whose network is trained; None takes `MGCNDNSClassifier()`, the paper's.
        `MGCNDNSClassifier(graph_learning=None, node_selection=None)` self-trains a plain GCN.
        Of the inner estimator only the network and its training count (`hidden`, `max_epochs`
        and so on); graphs, scaling, class weights, device and seed are those given here.
    max_iter
        Networks trained on pseudo-labels, one after the other; fewer where predictions have
        settled. 0 trains one network on the labels alone.
    initial_teacher
        "linear" makes the first pseudo-labels by a linear classifier of features propagated over
        the graphs, "network" by a plain network.
    pseudo_labeler
        How predictions become pseudo-labels; None takes the defaults of `PseudoLabeler`.
    early_fusion
        Whether all networks but the last have one more graph: each sample's nearest neighbors in
        all views together.
    graph_epochs
        Epochs in which the last network learns its graph (view weights, gates, node selection)
        together with its weights, at most half of `max_epochs`. Until the weights have converged
        the graph is fixed, which makes an epoch several times faster. None learns both in all
        epochs of all networks.
    label_audit
        "leave-out" predicts each label from all others first and trains without those that are
        more probably wrong than right (`label_issues_`); where wrong labels cannot be
        distinguished from wrong predictions, it uses all. "report" uses all labels in any case.
        None skips the audit.
    cross_fit
        Whether labels are hidden in turn and predicted without them, by the network and by two
        classifiers of the columns alone, logistic regression and a random forest. What they get
        right decides how much each counts in the predictions, how sure the probabilities are, and
        how good the predictions are by estimate (`performance_`). False takes the network alone.
    graph
        How the neighbor graph of each view is built; None takes the defaults of `NeighborGraph`.
    scaling
        "auto" takes "standard" for views whose neighbors the other views then confirm more often,
        and "unit" for the others; no label is looked at (see `choose_scalings`). Otherwise
        "unit", "standard", "columns", "rank", "rows", "tfidf" or "none" (see `fit_scaler`), for
        all views, or a list or a dict by name with one for each.
    missing
        "error" refuses single NaNs; "impute" fills them with the mean of their column. A row that
        is NaN throughout is a sample that lacks the view: it is left out of that view.
    class_weight
        None, "balanced", or a dict of class -> weight.
    warm_start
        Whether a second `fit` on the same samples continues from the learned weights and graphs,
        for when labels were added: about a third of the epochs, and predictions as good. An
        automatic k stays that of the first fit. Classes may be added too.
    device
        "auto" takes a GPU where there is one.
    verbose
        Whether to show progress on the error stream.
    random_state
        Random seed; the same seed gives the same result.

    Attributes
    ----------
    classes_ : [class]
    transduction_ : [sample], a label for every fitted sample
    label_distributions_ : [sample, class], their probabilities
    stages_ : one `StageRecord` per network that was trained on pseudo-labels
    n_networks_ : int, number of networks trained one after the other
    training_curve_ : loss and accuracy on the labeled samples by epoch, of the last network
    temperature_ : float, what logits are divided by
    label_issues_ : how probably each given label is wrong, see `LabelIssues`; None without audit

    All others are those of `MGCNDNSClassifier`, of the last network.

    Examples
    --------
    >>> from manyview import hide_labels, make_multiview_classification
    >>> views, truth = make_multiview_classification(60, 2, class_sep=3, random_state=0)
    >>> labels = hide_labels(truth, 0.1, random_state=0)
    >>> model = ManyviewClassifier(random_state=0).fit(views, labels)
    >>> float((model.transduction_ == truth).mean()) > 0.8
    True
    """

    estimator: MGCNDNSClassifier | None = field(default=None, kw_only=False)
    max_iter: int = 2
    initial_teacher: str = "linear"
    pseudo_labeler: PseudoLabeler | None = None
    early_fusion: bool = True
    graph_epochs: int | None = 15
    label_audit: str | None = "leave-out"
    cross_fit: bool = True
    scaling: Scaling = "auto"

    card = MethodCard(
        name="manyview",
        title="manyview",
        paper="manyview's default: self-trained MGCN-DNS, mixed with classifiers of the columns",
        year=2026,
        cost="edges x classes per epoch, x hidden while the graph is learned; up to five networks",
        version=3,
    )
    record_types = (
        *NetworkClassifier.record_types,
        *RECORD_TYPES,
        LabelIssues,
        MGCNDNSClassifier,
    )
    _parameter_groups: ClassVar[dict[str, Group]] = {
        "estimator": group_of(MGCNDNSClassifier),
        "pseudo_labeler": group_of(PseudoLabeler),
        "graph": group_of(NeighborGraph),
    }
    _unused_parameters: ClassVar[tuple[str, ...]] = tuple(f"estimator__{name}" for name in NOT_USED)
    _parameter_constraints: ClassVar[dict[str, Constraint]] = {
        **NetworkClassifier._parameter_constraints,
        "max_iter": WholeNumber(at_least=0),
        "initial_teacher": Choice(("linear", "network")),
        "early_fusion": Choice((True, False)),
        "graph_epochs": OrChoice((None,), WholeNumber(at_least=0)),
        "label_audit": Choice(("leave-out", "report", None)),
        "cross_fit": Choice((True, False)),
    }

    @property
    def n_networks_(self) -> int:  # type: ignore[override]
        """Number of networks that were trained one after the other."""
        has_linear = bool(self.stages_) and self.initial_teacher == "linear"
        return len(self.stages_) + (not has_linear)

    @property
    def n_iter_(self) -> int:  # type: ignore[override]
        """Number of networks that were trained one after the other, by scikit-learn's name."""
        return self.n_networks_

    def _check_parameters(self, views: MultiView) -> None:
        super()._check_parameters(views)
        self.parameter_group("pseudo_labeler").check("pseudo_labeler")
        inner = self._network_estimator()
        check_constraints(
            inner.get_params(deep=False), inner._parameter_constraints, prefix="estimator__"
        )
        inner.check_network()
        defaults = MGCNDNSClassifier().get_params(deep=False)
        for name in NOT_USED:
            if getattr(inner, name) != defaults[name]:
                raise InputError(
                    f"{name} of the inner estimator is not used; set it on ManyviewClassifier: "
                    f"{name}={getattr(inner, name)!r}.",
                    parameter=f"estimator__{name}",
                )

    def check_learned(self) -> None:
        """Refuse an audit or a mixture of other samples or classes, too."""
        super().check_learned()
        n_samples, n_classes = self.label_distributions_.shape
        if self.label_issues_ is not None:
            self.label_issues_.check(n_samples, n_classes)
        for learner in self.table_learners_:
            learner.check(self.classes_)
        if self.cross_fit_ is not None:
            self.cross_fit_.check(n_samples, n_classes)
        if list(self.table_logits_) != [learner.name for learner in self.table_learners_] or any(
            logits.shape != (n_samples, n_classes) for logits in self.table_logits_.values()
        ):
            raise ValueError("table_logits_ must have those of all samples, by table learner")

    def _network_estimator(self) -> MGCNDNSClassifier:
        inner = self.parameter_group("estimator")
        if not isinstance(inner, MGCNDNSClassifier):
            raise InputError(
                "estimator must be an MGCNDNSClassifier, whose network is trained in stages; got "
                f"{inner!r}. For a plain GCN, pass "
                "MGCNDNSClassifier(graph_learning=None, node_selection=None).",
                parameter="estimator",
            )
        return inner

    def _self_training(self, is_fold: bool = False) -> dict[str, Any]:
        return {
            "max_iter": min(self.max_iter, 1) if is_fold else self.max_iter,
            "initial_teacher": self.initial_teacher,
            "pseudo_labeler": self.parameter_group("pseudo_labeler"),
        }

    def _audit(
        self, prepared: PreparedInputs, y_encoded: np.ndarray
    ) -> tuple[np.ndarray, Tensor | None]:
        self.label_issues_ = None
        if self.label_audit is None:
            return y_encoded, None
        rows = np.flatnonzero(y_encoded != UNKNOWN)
        others = np.flatnonzero(y_encoded == UNKNOWN)
        others = np.sort(np.random.default_rng(0).permutation(others)[:N_UNLABELED])
        inputs = prepared.teacher_inputs
        propagated = partial(propagated_features, inputs, prepared.graph_weights)
        is_dense = len(rows) >= inputs.features.shape[1]  # then further rows cost nothing
        found = propagated(np.concatenate([rows, others]) if is_dense else rows, world())
        features, of_others = found[: len(rows)], found[len(rows) :]
        issues = self.label_issues_ = audit_labels(
            features.cpu().numpy(),
            rows,
            y_encoded[rows],
            lambda: (of_others if is_dense else propagated(others)).cpu().numpy(),
        )
        if self.label_audit == "report":
            return y_encoded, features
        y_used = y_encoded.copy()
        y_used[rows[~issues.is_trusted]] = UNKNOWN
        return y_used, features[torch.from_numpy(issues.is_trusted).to(features.device)]

    def _cross_fit(
        self,
        views: MultiView,
        prepared: PreparedInputs,
        y_encoded: np.ndarray,
        generator: torch.Generator,
        *,
        is_complete: bool,
    ) -> None:
        """Mix the network's predictions with those of the table learners, and set both."""
        self._unmix()
        if not self._can_cross_fit(is_complete):
            return
        held_out_logits = partial(self._held_out_logits, prepared, generator)
        seed = generator.initial_seed()
        try:
            found, learners = self._hide_in_turn(views, y_encoded, held_out_logits, seed)
        except (InterruptedFitError, KeyboardInterrupt):
            warn_user(
                "cross-fitting was interrupted: predictions are those of the network alone, and "
                "their accuracy is not estimated.",
                CalibrationWarning,
            )
            return
        table_logits = {one.name: one.take_fitted_logits() for one in learners}
        self._mix(found, learners, table_logits, y_encoded)

    def _unmix(self) -> None:
        """Have no mixture: predictions are those of the network alone."""
        self.cross_fit_, self.performance_ = None, None
        self.table_learners_, self.table_logits_ = (), {}

    def _can_cross_fit(self, is_complete: bool) -> bool:
        """Whether cross-fitting is asked for, and the network was trained to its end."""
        assert self.training_curve_ is not None
        return self.cross_fit and is_complete and self.training_curve_.stopped != "interrupted"

    def _hide_in_turn(
        self,
        views: MultiView,
        y_encoded: np.ndarray,
        held_out_logits: Callable[[np.ndarray, int], np.ndarray],
        seed: int,
    ) -> tuple[CrossFit, tuple[TableLearner, ...]]:
        """Predict hidden labels by the network and the table learners, see `cross_fit`."""
        return cross_fit(
            views,
            y_encoded,
            self.classes_,
            self.label_distributions_,
            held_out_logits,
            label_weights=self._label_weights(y_encoded),
            seed=seed,
            class_weight=self.class_weight,
        )

    def _mix(
        self,
        found: CrossFit,
        learners: tuple[TableLearner, ...],
        table_logits: dict[str, np.ndarray],
        y_encoded: np.ndarray,
    ) -> None:
        """Mix the predictions of the network and the table learners, and estimate how good."""
        self.cross_fit_, self.table_learners_, self.table_logits_ = found, learners, table_logits
        weight = found.weights[NETWORK]
        self.temperature_ /= weight
        tiny = np.finfo(self.label_distributions_.dtype).tiny
        logits = weight * np.log(np.maximum(self.label_distributions_, tiny))
        for learner in learners:
            logits += table_logits[learner.name]
        self.label_distributions_ = softmax(logits)
        unlabeled = self.label_distributions_[y_encoded == UNKNOWN]
        self.performance_ = found.performance(
            unlabeled if len(unlabeled) else self.label_distributions_,
            self._n_left_out(),
        )

    def _n_left_out(self) -> int:
        """Return the number of labels that the fit does not use because they look wrong."""
        if self.label_issues_ is None or self.label_audit != "leave-out":
            return 0
        return int((~self.label_issues_.is_trusted).sum())

    def _label_weights(self, y_encoded: np.ndarray) -> np.ndarray:
        """Return the probability that each label is right: [sample]."""
        weights = np.ones(len(y_encoded))
        if self.label_issues_ is not None:
            weights[self.label_issues_.samples] = 1 - self.label_issues_.wrong
        return weights

    def _predict_proba(self, views: MultiView) -> np.ndarray:
        logits = self.inductive_state_.logits(views) / self.temperature_
        return softmax(sum(self._new_table_logits(views).values(), start=logits))

    def _new_table_logits(self, views: MultiView) -> dict[str, np.ndarray]:
        return {one.name: one.logits(views) for one in self.table_learners_}

    def _has_early_fusion(self) -> bool:
        return self.early_fusion and self.max_iter > 0

    def _graph_epochs(self, is_fold: bool) -> int | None:
        return 0 if is_fold and self.graph_epochs is not None else self.graph_epochs

    def _max_epochs(self) -> int:
        n_networks = max(self.max_iter, 1)
        if self.max_iter > 0 and self.initial_teacher != "linear":
            n_networks += 1
        return self._network_estimator().max_epochs * n_networks
