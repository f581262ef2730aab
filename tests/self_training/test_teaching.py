"""SelfTraining: who learns on which graphs, and from whom."""

import numpy as np
import pytest
import torch

from manyview.data.views import MultiView
from manyview.network.prepared import prepare_inputs
from manyview.network.training import TrainingCurve
from manyview.self_training.loop import SEEDS_APART, SelfTraining

CPU = torch.device("cpu")


@pytest.fixture
def ground(tiny_views):
    settings = {"scaling": "unit", "n_neighbors": 5, "metric": "cosine"}
    return prepare_inputs(MultiView(tiny_views.views), CPU, joint=True, **settings)


def turns_of(ground, y_encoded, **changes):
    """Which graphs, seeds and turns networks get that prediction by chance."""
    seen = []

    def fit_network(inputs, generator, turn):
        def network(*given):
            assert given == tuple(inputs)
            return torch.from_numpy(np.random.default_rng(turn.number).normal(size=(60, 3)))

        seen.append((inputs, generator.initial_seed(), turn))
        return network, TrainingCurve(loss=[1.0], stopped="converged")

    settings = {"max_iter": 2, "class_shares": "labels", "linear_teacher": True, "is_warm": False}
    teaching = SelfTraining(ground, y_encoded, 3, None, **(settings | changes))
    return seen, teaching.run(torch.Generator().manual_seed(7), fit_network)


def test_teachers_have_the_joint_graph_and_the_last_network_has_not(ground, tiny_views):
    seen, taught = turns_of(ground, tiny_views.known_labels)
    assert [inputs is ground.teacher_inputs for inputs, *_ in seen] == [True, False]
    assert seen[-1][0] is ground.inputs
    assert [seed for _, seed, _ in seen] == [7 + SEEDS_APART, 7 + 2 * SEEDS_APART]
    assert len(taught.rounds) == 2
    assert all(len(turn.lesson.graph_shares) == 3 for *_, turn in seen)
    assert all(len(one.agreement) == 2 for one in taught.rounds)


def test_without_a_linear_teacher_a_network_more_is_trained(ground, tiny_views):
    seen, _ = turns_of(ground, tiny_views.known_labels, linear_teacher=False)
    assert [turn.number for *_, turn in seen] == [0, 1, 2]
    assert seen[0][2].lesson is None


def test_a_warm_start_has_one_round_on_the_views_graphs(ground, tiny_views):
    for linear, n_networks in ((True, 1), (False, 2)):
        seen, _ = turns_of(ground, tiny_views.known_labels, is_warm=True, linear_teacher=linear)
        assert len(seen) == n_networks
        assert all(inputs is ground.inputs for inputs, *_ in seen)


def test_nobody_is_taught_where_all_labels_are_known(ground, tiny_views):
    seen, taught = turns_of(ground, tiny_views.labels)
    assert [turn.is_last for *_, turn in seen] == [True]
    assert taught.rounds == []
