"""Training, Eq. (19): cross-entropy on the labeled samples, minimized by Adam."""

from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from math import isfinite
from typing import Any

import numpy as np
import torch
from sklearn.exceptions import ConvergenceWarning
from torch import Tensor, nn

from manyview.callbacks.context import FitContext, current_check
from manyview.errors import InputError, warn_user
from manyview.network.adam import Adam
from manyview.network.checkpoints import BestWeights, MeanWeights
from manyview.network.losses import distillation_loss, labeled_cross_entropy
from manyview.network.resume import resume_training
from manyview.network.shared_training import SharedTraining
from manyview.network.training_state import TrainingState
from manyview.system.progress import epoch_progress
from manyview.system.threads import threads_for

WINDOW = 10  # epochs averaged, because dropout makes single losses noisy
Loss = Callable[[Tensor, Tensor, Tensor | None], Tensor]
AfterStep = Callable[[Callable[[], Tensor]], None]


@dataclass
class TrainingCurve:
    """Loss and accuracy by epoch.

    Attributes
    ----------
    loss
        Cross-entropy on the labeled samples, with dropout.
    labeled_accuracy
        Accuracy on the labeled samples in the same pass.
    stopped
        "converged", "max_epochs", "interrupted" or "callback".
    """

    loss: list[float] = field(default_factory=list)
    labeled_accuracy: list[float] = field(default_factory=list)
    stopped: str = "max_epochs"

    @property
    def n_epochs(self) -> int:
        """Number of finished epochs."""
        return len(self.loss)

    @property
    def was_cut_short(self) -> bool:
        """Whether Ctrl-C or a callback ended it."""
        return self.stopped in ("interrupted", "callback")

    def then(self, later: "TrainingCurve") -> "TrainingCurve":
        """Return the curve of two trainings; a later one of all its epochs stopped as this did."""
        stopped = self.stopped if later.stopped == "max_epochs" else later.stopped
        return TrainingCurve(
            self.loss + later.loss, self.labeled_accuracy + later.labeled_accuracy, stopped
        )

    def has_converged(self, tol: float | None) -> bool:
        """Return whether the last ten epochs lowered the mean loss by less than `tol`."""
        if tol is None or self.n_epochs < 2 * WINDOW:
            return False
        before = sum(self.loss[-2 * WINDOW : -WINDOW]) / WINDOW
        return before - sum(self.loss[-WINDOW:]) / WINDOW < tol

    def has_reached(self, target_loss: float | None) -> bool:
        """Return whether the mean loss of the last ten epochs is at most the target."""
        if target_loss is None or self.n_epochs < WINDOW:
            return False
        return sum(self.loss[-WINDOW:]) / WINDOW <= target_loss


# Takes the curve so far, and a context manager under which the network has its averaged weights;
# returns whether to stop.
OnEpoch = Callable[[TrainingCurve, Callable[[], AbstractContextManager[None]]], bool | None]


def train(
    network: nn.Module,
    inputs: tuple[Any, ...],
    labels: Tensor,
    *,
    learning_rate: float,
    max_epochs: int,
    tol: float | None,
    target_loss: float | None = None,
    averaged_epochs: int = WINDOW,
    weight_decay: float = 0.0,
    not_decayed: Collection[nn.Parameter] = (),
    rate_factors: Mapping[nn.Parameter, float] | None = None,
    class_weight: Tensor | None = None,
    loss_of: Loss = labeled_cross_entropy,
    soft_targets: tuple[Tensor, Tensor] | None = None,
    regularizer: Callable[[Tensor], Tensor] | None = None,
    generator: torch.Generator | None = None,
    before_epoch: Callable[[], None] | None = None,
    after_step: AfterStep | None = None,
    on_epoch: OnEpoch | None = None,
    shared: SharedTraining | None = None,
) -> TrainingCurve:
    """Fit the network to the labeled samples, in place.

    Training stops when the loss has converged or after `max_epochs`. The network then has the
    mean of its last weights, because dropout makes single epochs noisy. Ctrl-C ends the training
    and restores the weights of the lowest loss so far.

    Parameters
    ----------
    network
        Called as `network(*inputs, generator=generator)`; returns [sample, class] logits.
    labels
        [sample] class numbers, -1 where unknown.
    averaged_epochs
        About how many last epochs the mean of the weights is over; 1 keeps the last weights.
    target_loss
        A mean loss at which training stops, for networks that continue from earlier weights.
    not_decayed
        Parameters of the network without weight decay.
    rate_factors
        Factors of the learning rate of some parameters; 1 for the others.
    loss_of
        Loss from the logits of the labeled samples, their labels and the class weights.
    soft_targets
        Targets and weights of all samples, in addition to labels (see `distillation_loss`).
    regularizer
        Term of the loss, from the logits of all samples.
    generator, before_epoch
        Source of randomness of the dropout; called before every epoch.
    after_step
        Called after every step of Adam, for parameters that are learned in another way, with a
        function that runs another forward pass and returns its loss.
    on_epoch
        Called after every epoch with the curve so far, and a context manager under which the
        network has its averaged weights; True stops the training.
    shared
        How several processes share the training, each with its samples; the loss is then
        `labeled_cross_entropy` and that of soft targets. Ctrl-C is raised again.

    Notes
    -----
    Where `checkpoints` are open, the training continues from its last one.
    """
    is_labeled = (labels >= 0).nonzero().squeeze(1)
    known = labels[is_labeled]
    target_terms = None if soft_targets is None else torch.xlogy(soft_targets[0], soft_targets[0])
    groups = _parameter_groups(network, weight_decay, not_decayed, rate_factors or {})
    optimizer = Adam(groups, learning_rate=learning_rate)
    soft_weight = None
    if shared is not None:
        total = shared.label_weight(known, class_weight)
        loss_of = partial(labeled_cross_entropy, total_weight=total)
        soft_weight = None if soft_targets is None else shared.total(soft_targets[1].sum())
    curve = TrainingCurve()
    best = BestWeights(network)
    mean = MeanWeights(network, averaged_epochs)
    progress = resume_training(
        TrainingState(optimizer, best, mean, curve, generator),
        [labels, *(soft_targets or ())],
        None if shared is None else shared.world,
    )
    if progress is not None and progress.has_finished:
        network.eval()
        return curve

    def run() -> tuple[Tensor, Tensor]:
        every_logits = network(*inputs, generator=generator)
        logits = every_logits[is_labeled]
        loss = loss_of(logits, known, class_weight)
        if soft_targets is not None:
            soft = distillation_loss(every_logits, *soft_targets, target_terms, soft_weight)
            loss = loss + soft
        if regularizer is not None:
            loss = loss + regularizer(every_logits)
        return logits, loss

    try:
        for _ in range(curve.n_epochs, max_epochs):
            if before_epoch is not None:
                before_epoch()
            if not network.training:
                network.train()
            logits, loss = run()
            total_loss = (loss if shared is None else shared.total(loss)).item()
            if not isfinite(total_loss):
                raise InputError(
                    f"training diverged: the loss is {total_loss} in epoch "
                    f"{curve.n_epochs + 1}. Lower learning_rate; got {learning_rate}."
                )
            best.update(total_loss)
            optimizer.zero_grad()
            loss.backward()
            if shared is not None:
                shared.sum_gradients(network)
            optimizer.step()
            if after_step is not None:
                after_step(lambda: run()[1])
            mean.add()
            curve.loss.append(total_loss)
            is_right = (logits.argmax(1) == known).float()
            accuracy = is_right.mean() if shared is None else shared.mean(is_right)
            curve.labeled_accuracy.append(accuracy.item())
            has_to_stop = on_epoch is not None and on_epoch(curve, mean.in_place)
            if curve.has_converged(tol) or curve.has_reached(target_loss):
                curve.stopped = "converged"
                break
            if has_to_stop:
                curve.stopped = "callback"
                break
            if shared is not None:
                shared.end_epoch()
            if progress is not None:
                progress.end_epoch()
        mean.restore()
        if progress is not None:
            progress.finish()
    except KeyboardInterrupt:
        if curve.n_epochs == 0 or shared is not None:
            raise
        best.restore()
        curve.stopped = "interrupted"
    network.eval()
    return curve


def train_network(
    network: nn.Module,
    inputs: tuple[Any, ...],
    y_encoded: np.ndarray,
    *,
    max_epochs: int,
    class_weight: np.ndarray | None,
    generator: torch.Generator,
    verbose: bool,
    context: FitContext,
    soft_targets: tuple[np.ndarray, np.ndarray] | None = None,
    logits_of_all: Callable[[], Tensor] | None = None,
    keeps_previous: bool = False,
    **settings: Any,
) -> TrainingCurve:
    """Train from numpy arrays, with progress and callbacks, as the `fit` of a classifier does.

    Parameters
    ----------
    soft_targets
        [sample, class] targets and [sample] weights, in addition to the labels.
    logits_of_all
        Computes the logits of all samples for callbacks, if the network is trained on some rows.
    keeps_previous
        Whether an interrupted fit returns the network of the previous stage; used in the warning.
    settings
        The other settings of `train`.
    """
    device = generator.device
    weight = None if class_weight is None else torch.tensor(class_weight).float().to(device)
    soft = None
    if soft_targets is not None:
        targets, weights = (torch.from_numpy(values).to(device) for values in soft_targets)
        soft = targets, weights
    run = (lambda: network(*inputs)) if logits_of_all is None else logits_of_all
    callbacks, observer, check = context.callbacks, context.observer, current_check()

    @torch.no_grad()
    def run_whole() -> np.ndarray:
        network.eval()  # `train` switches back
        return np.asarray(run().cpu().numpy())

    def end_epoch(
        curve: TrainingCurve, averaged: Callable[[], AbstractContextManager[None]]
    ) -> bool:
        def averaged_logits() -> np.ndarray:
            with averaged():
                return run_whole()

        if show_progress is not None:
            show_progress(curve.n_epochs, curve.loss[-1])
        if check is not None:
            check()
        if observer is not None:
            observer(run_whole().argmax(axis=1))
        return callbacks is not None and callbacks.end_epoch(curve, averaged_logits)

    with (
        epoch_progress(max_epochs) if verbose else nullcontext() as show_progress,
        threads_for(len(y_encoded)),
    ):
        curve = train(
            network,
            inputs,
            torch.from_numpy(y_encoded).to(device),
            max_epochs=max_epochs,
            class_weight=weight,
            soft_targets=soft,
            generator=generator,
            before_epoch=None if callbacks is None else callbacks.begin_epoch,
            on_epoch=end_epoch,
            **settings,
        )
    if curve.stopped == "interrupted":
        kept = "the weights of the lowest loss so far are kept"
        if keeps_previous:
            kept = "the network of the stage before is kept"
        warn_user(f"fit was interrupted after {curve.n_epochs} epochs; {kept}.", ConvergenceWarning)
    return curve


def _parameter_groups(
    network: nn.Module,
    weight_decay: float,
    not_decayed: Collection[nn.Parameter],
    rate_factors: Mapping[nn.Parameter, float],
) -> list[tuple[list[nn.Parameter], float, float]]:
    """Group the parameters by weight decay and factor of the learning rate."""
    excluded = {id(parameter) for parameter in not_decayed}
    groups: dict[tuple[float, float], list[nn.Parameter]] = {}
    for parameter in network.parameters():
        decay = 0.0 if id(parameter) in excluded else weight_decay
        groups.setdefault((decay, rate_factors.get(parameter, 1.0)), []).append(parameter)
    return [(parameters, *settings) for settings, parameters in groups.items()]


def pick_device(device: str) -> torch.device:
    """Resolve "auto" to a GPU if there is one, and refuse a device that torch does not have."""
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        picked = torch.device(device)
        torch.empty(0, device=picked)
    except (RuntimeError, AssertionError, TypeError) as error:
        raise InputError(
            f"device must be 'auto' or one that torch has here; got {device!r}."
        ) from error
    return picked
