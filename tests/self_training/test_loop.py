"""Self-training: stages in order, pseudo-labels from one to the next, what an interrupt leaves."""

import numpy as np
import pytest
import torch
from torch import nn

from manyview import PseudoLabeler
from manyview.base.summary import StageRecord
from manyview.data.views import MultiView
from manyview.network.prepared import prepare_inputs
from manyview.network.shared_training import NetworkPart
from manyview.network.training import TrainingCurve
from manyview.self_training.loop import SEED_STRIDE, self_train

CPU = torch.device("cpu")
CONFIDENT = np.tile([4.0, 0.0, 0.0], (60, 1))


@pytest.fixture
def prepared(tiny_views):
    settings = {"scaling": "unit", "n_neighbors": 5, "metric": "cosine"}
    return prepare_inputs(MultiView(tiny_views.views), CPU, early_fusion=True, **settings)


class FixedLogits(nn.Module):
    """Predicts the same, whatever its inputs."""

    def __init__(self, logits):
        super().__init__()
        self.logits = logits

    def forward(self, *inputs):
        return self.logits


def run_stages(prepared, y_encoded, *, logits=None, stopped=None, **changes):
    """Self-train networks that predict fixed logits, by stage; return the result and the stages."""
    stages = []

    def train(stage):
        stages.append(stage)
        own = np.random.default_rng(stage.number).normal(size=(60, 3))
        own = own if logits is None else logits[stage.number]
        reason = (stopped or {}).get(stage.number, "converged")

        network = FixedLogits(torch.from_numpy(own))
        part = NetworkPart(network, stage.inputs, network)
        return part, TrainingCurve([1.0], [1.0], reason)

    settings = {
        "max_iter": 2,
        "initial_teacher": "linear",
        "pseudo_labeler": PseudoLabeler(),
        "class_weight": None,
        "generator": torch.Generator().manual_seed(7),
    }
    return self_train(train, prepared, y_encoded, 3, **(settings | changes)), stages


def test_all_networks_but_the_final_one_have_the_early_fusion_graph(prepared, tiny_views):
    result, stages = run_stages(prepared, tiny_views.known_labels)
    assert [stage.number for stage in stages] == [1, 2]
    assert stages[0].inputs.view_weights.shape[1] == 3
    assert stages[1].inputs is prepared.inputs
    assert "teacher_inputs" not in vars(prepared)  # they take memory
    seeds = [stage.generator.initial_seed() for stage in stages]
    assert seeds == [7 + SEED_STRIDE, 7 + 2 * SEED_STRIDE]
    assert all(len(stage.pseudo_labels.graph_weights) == 3 for stage in stages)
    assert all(len(one.agreement) == 2 for one in result.stages)
    assert (len(result.stages), result.is_complete) == (2, True)


def test_without_a_linear_teacher_one_more_network_is_trained(prepared, tiny_views):
    _, stages = run_stages(prepared, tiny_views.known_labels, initial_teacher="network")
    assert [stage.number for stage in stages] == [0, 1, 2]
    assert stages[0].pseudo_labels is None
    assert stages[0].generator.initial_seed() == 7


def test_each_network_learns_from_the_one_before(prepared, tiny_views):
    flipped = CONFIDENT[:, ::-1].copy()
    logits = [CONFIDENT, flipped, CONFIDENT, flipped]
    result, stages = run_stages(
        prepared, tiny_views.known_labels, logits=logits, max_iter=3, initial_teacher="network"
    )
    assert [stage.is_final for stage in stages] == [False, False, False, True]
    assert stages[0].previous is None
    assert all(stage.previous is not None for stage in stages[1:])
    assert [one.changed for one in result.stages] == [1, 1, 1]
    unlabeled = tiny_views.known_labels < 0
    for stage in stages[1:]:
        before = logits[stage.number - 1].argmax(axis=1)
        targets = stage.pseudo_labels.targets[unlabeled].argmax(axis=1)
        assert (targets == before[unlabeled]).mean() > 0.5


def test_settled_predictions_make_the_next_network_the_final_one(prepared, tiny_views):
    result, stages = run_stages(
        prepared,
        tiny_views.known_labels,
        logits=[CONFIDENT] * 6,
        max_iter=5,
        initial_teacher="network",
    )
    assert [stage.is_final for stage in stages] == [False, False, True]
    assert len(result.stages) == 2


@pytest.mark.parametrize("teacher", ["linear", "network"])
def test_without_iterations_one_network_learns_from_the_labels(prepared, tiny_views, teacher):
    result, stages = run_stages(
        prepared, tiny_views.known_labels, max_iter=0, initial_teacher=teacher
    )
    (stage,) = stages
    assert (stage.number, stage.is_final, stage.pseudo_labels) == (0, True, None)
    assert (result.stages, result.is_complete) == ((), True)


@pytest.mark.parametrize("at", [0, 1, 2])
def test_an_interrupt_keeps_the_last_finished_network(prepared, tiny_views, at):
    result, stages = run_stages(
        prepared,
        tiny_views.known_labels,
        stopped={at: "interrupted"},
        initial_teacher="network",
    )
    assert len(stages) == at + 1
    assert len(result.stages) == max(at - 1, 0)
    assert result.curve.stopped == "interrupted"
    assert not result.is_complete


def test_a_warm_start_has_one_stage_on_the_views_graphs(prepared, tiny_views):
    for teacher, n_networks in (("linear", 1), ("network", 2)):
        _, stages = run_stages(
            prepared, tiny_views.known_labels, is_warm=True, initial_teacher=teacher
        )
        assert len(stages) == n_networks
        assert all(stage.inputs is prepared.inputs for stage in stages)


def test_a_warm_start_takes_the_class_sizes_as_predicted(prepared, tiny_views):
    uneven = np.flatnonzero(tiny_views.known_labels == 0)[3:]
    y_encoded = tiny_views.known_labels.copy()
    y_encoded[uneven] = -1
    (_, warm), (_, as_predicted), (_, cold) = (
        run_stages(prepared, y_encoded, max_iter=1, **changes)
        for changes in (
            {"is_warm": True},
            {"pseudo_labeler": PseudoLabeler(class_prior="predictions")},
            {},
        )
    )
    targets = [stages[0].pseudo_labels.targets for stages in (warm, as_predicted, cold)]
    np.testing.assert_array_equal(targets[0], targets[1])
    assert (targets[0] != targets[2]).any()


def test_nothing_is_pseudo_labeled_where_all_labels_are_known(prepared, tiny_views):
    result, stages = run_stages(prepared, tiny_views.labels)
    assert [stage.is_final for stage in stages] == [True]
    assert result.stages == ()


def test_settled_is_a_small_fraction_of_changed_predictions():
    assert StageRecord(3, 0.004, np.ones(1)).has_settled
    assert not StageRecord(3, 0.02, np.ones(1)).has_settled
