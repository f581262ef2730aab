"""ManyviewClassifier: several views and a few labels in, a label for every sample out."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from manyview.base.method_card import MethodCard
from manyview.base.parameters import Group, group_of
from manyview.data.labels import UNKNOWN
from manyview.data.scaling import Scaling
from manyview.data.views import MultiView
from manyview.errors import InputError
from manyview.estimators.mgcn_dns import MGCNDNSClassifier
from manyview.estimators.network_classifier import NetworkClassifier
from manyview.estimators.parameters import (
    CalibrationConfig,
    NeighborGraph,
)
from manyview.label_audit.audit import LabelIssues, audit_labels
from manyview.network.prepared import PreparedInputs
from manyview.network.spectral import propagated_features
from manyview.self_training.pseudo_labels import PseudoLabeler
from manyview.validation import Choice, Constraint, OrChoice, WholeNumber, check_constraints

# Parameters of the inner estimator that those of this classifier replace.
NOT_USED = ("graph", "scaling", "missing", "class_weight", "calibration", "warm_start", "device")


@dataclass(kw_only=True, eq=False, repr=False)
class ManyviewClassifier(NetworkClassifier):
    """Label all samples of a multi-view data set from a few known labels.

    Scales the views, builds a neighbor graph for each and one for all together, and self-trains
    an inner estimator: a linear classifier makes the first pseudo-labels, a plain graph
    convolutional network learns from them and makes the next, and the inner estimator's network
    learns from those. Pseudo-labels are cleaned by class sizes, by the views' agreement and by
    propagation over the graphs (see `PseudoLabeler`).

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
        "report" predicts each label from all others first and reports those that are probably
        wrong (`label_issues_`); all labels are used. "leave-out" trains without labels that are
        more probably wrong than right, which helps where some are; where wrong labels cannot be
        distinguished from wrong predictions, it uses all. None skips the audit.
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
    calibration
        None, "temperature", or a `CalibrationConfig`.
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
    label_audit: str | None = "report"
    scaling: Scaling = "auto"

    card = MethodCard(
        name="manyview",
        title="manyview",
        paper="manyview's default: self-trained MGCN-DNS (the paper's network, trained in stages)",
        year=2026,
        cost="edges x classes per epoch, x hidden while the graph is learned; two networks",
        version=2,
    )
    record_types = (*NetworkClassifier.record_types, LabelIssues, MGCNDNSClassifier)
    _parameter_groups: ClassVar[dict[str, Group]] = {
        "estimator": group_of(MGCNDNSClassifier),
        "pseudo_labeler": group_of(PseudoLabeler),
        "graph": group_of(NeighborGraph),
        "calibration": group_of(CalibrationConfig, takes_words=True),
    }
    _unused_parameters: ClassVar[tuple[str, ...]] = tuple(f"estimator__{name}" for name in NOT_USED)
    _parameter_constraints: ClassVar[dict[str, Constraint]] = {
        **NetworkClassifier._parameter_constraints,
        "max_iter": WholeNumber(at_least=0),
        "initial_teacher": Choice(("linear", "network")),
        "early_fusion": Choice((True, False)),
        "graph_epochs": OrChoice((None,), WholeNumber(at_least=0)),
        "label_audit": Choice(("report", "leave-out", None)),
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
        """Refuse a label audit of other samples or classes, too."""
        super().check_learned()
        if self.label_issues_ is not None:
            self.label_issues_.check(*self.label_distributions_.shape)

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

    def _self_training(self) -> dict[str, Any]:
        return {
            "max_iter": self.max_iter,
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
        features = propagated_features(prepared.teacher_inputs, prepared.graph_weights, rows)
        issues = self.label_issues_ = audit_labels(features.cpu().numpy(), rows, y_encoded[rows])
        if self.label_audit == "report":
            return y_encoded, features
        y_used = y_encoded.copy()
        y_used[rows[~issues.is_trusted]] = UNKNOWN
        return y_used, features[torch.from_numpy(issues.is_trusted).to(features.device)]

    def _has_early_fusion(self) -> bool:
        return self.early_fusion and self.max_iter > 0

    def _graph_epochs(self) -> int | None:
        return self.graph_epochs

    def _max_epochs(self) -> int:
        n_networks = max(self.max_iter, 1)
        if self.max_iter > 0 and self.initial_teacher != "linear":
            n_networks += 1
        return self._network_estimator().max_epochs * n_networks
