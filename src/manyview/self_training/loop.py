"""Self-training: networks trained in stages, each on pseudo-labels of the one before.

linear classifier -> pseudo-labels -> plain GCN -> pseudo-labels -> final network

Networks before the final one have the early-fusion graph in addition to the views' graphs.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from manyview.base.summary import StageRecord
from manyview.distributed.world import world
from manyview.network.mgcn_dns import MGCNDNS, NetworkInputs
from manyview.network.prepared import PreparedInputs
from manyview.network.shared_training import NetworkPart
from manyview.network.spectral import linear_probabilities
from manyview.network.training import TrainingCurve
from manyview.numerics import softmax
from manyview.self_training.pseudo_labels import PseudoLabeler, PseudoLabels

SEED_STRIDE = 100  # between the networks of one fit; folds of the calibration take those between


@dataclass(frozen=True)
class Stage:
    """One network to train.

    Attributes
    ----------
    number
        0 for a network that is trained on the labels alone.
    is_final
        Whether its predictions are those of the fit; otherwise they become pseudo-labels.
    inputs, own_inputs
        What it is trained on, and the part of it that this process has.
    generator
        Its source of randomness.
    pseudo_labels, previous
        What it learns besides the labels, and the network these come from; None for the first.
    """

    number: int
    is_final: bool
    inputs: NetworkInputs
    own_inputs: NetworkInputs
    generator: torch.Generator
    pseudo_labels: PseudoLabels | None = None
    previous: MGCNDNS | None = None


Train = Callable[[Stage], tuple[NetworkPart, TrainingCurve]]


@dataclass(frozen=True)
class SelfTrainingResult:
    """Result of a fit in stages."""

    # the last network that was finished, its training curve, and its logits of all samples
    network: MGCNDNS
    curve: TrainingCurve
    logits: np.ndarray
    stages: tuple[StageRecord, ...]  # one record per network that was trained on pseudo-labels
    is_complete: bool  # whether that network is the final one, not one that makes pseudo-labels


def self_train(
    train: Train,
    prepared: PreparedInputs,
    y_encoded: np.ndarray,
    n_classes: int,
    *,
    max_iter: int,
    initial_teacher: str,
    pseudo_labeler: PseudoLabeler,
    class_weight: np.ndarray | None,
    generator: torch.Generator,
    is_warm: bool = False,
    labeled_features: Tensor | None = None,
) -> SelfTrainingResult:
    """Train networks one after the other, each on pseudo-labels of the one before.

    When a network predicts what its pseudo-labels say, the next is the final one; so is that of
    stage `max_iter`. An interrupted stage leaves the last finished network; in the first stage,
    where there is none, the one being trained.

    Parameters
    ----------
    train
        Trains the network of a stage.
    y_encoded
        [sample] class numbers, -1 where unknown.
    max_iter
        Networks trained on pseudo-labels at most; 0 trains one on the labels alone.
    initial_teacher
        "linear" makes the first pseudo-labels by a linear classifier of propagated features,
        "network" by a network trained on the labels alone.
    is_warm
        Whether networks continue from earlier weights, which have the views' graphs alone.
        Labels that were added later are rarely a fair sample of the classes, so the class sizes
        stay as predicted.
    labeled_features
        Propagated features of the labeled samples, where they are known already.
    """
    if (y_encoded >= 0).all():  # nothing is left to label
        max_iter = 0
    if is_warm:
        max_iter = min(max_iter, 1)
        pseudo_labeler = replace(pseudo_labeler, class_prior="predictions")
    probabilities = None
    if initial_teacher == "linear" and max_iter > 0:
        probabilities = _agreed(
            linear_probabilities(
                prepared.teacher_inputs,
                prepared.graph_weights,
                y_encoded,
                n_classes,
                class_weight,
                labeled_features,
            )
        )
    result, network = None, None
    records: list[StageRecord] = []
    for number in range(0 if probabilities is None else 1, max_iter + 1):
        is_final = number == max_iter or (bool(records) and records[-1].has_settled)
        if is_final:
            prepared.release_teacher_inputs()
        pseudo_labels = None
        if probabilities is not None:
            pseudo_labels = pseudo_labeler(
                probabilities,
                y_encoded,
                prepared.view_graphs,
                class_weight,
                early_fusion_graph=prepared.early_fusion_graph,
                world=world(),
            )
        if is_final or is_warm:
            inputs = prepared.inputs, prepared.own_inputs
        else:
            inputs = prepared.teacher_inputs, prepared.own_teacher_inputs
        own = _generator_of_stage(generator, number)
        part, curve = train(Stage(number, is_final, *inputs, own, pseudo_labels, network))
        if curve.was_cut_short and result is not None:
            return replace(result, curve=replace(result.curve, stopped=curve.stopped))
        before, logits, network = probabilities, part.logits(), part.whole
        probabilities = softmax(logits)
        del inputs, part  # the next stage may have others
        if before is not None and pseudo_labels is not None:
            changed = (before.argmax(axis=1) != probabilities.argmax(axis=1)).mean()
            records.append(StageRecord(curve.n_epochs, float(changed), pseudo_labels.agreement))
        result = SelfTrainingResult(network, curve, logits, tuple(records), is_final)
        if is_final or curve.was_cut_short:
            break
    assert result is not None  # there is at least one stage
    return result


def _agreed(probabilities: np.ndarray) -> np.ndarray:
    """Return those of the first process, so that all that share a fit decide the same."""
    return world().broadcast(torch.from_numpy(probabilities)).numpy()


def _generator_of_stage(generator: torch.Generator, number: int) -> torch.Generator:
    """Give every network its own source of randomness, that of the fit to the first."""
    if number == 0:
        return generator
    seed = generator.initial_seed() + SEED_STRIDE * number
    return torch.Generator(device=generator.device).manual_seed(seed)
