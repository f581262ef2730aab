"""Common parts of the graph convolutional baselines."""

import numpy as np
import pytest
import torch

from manyview.baselines.bases.graph_network import GraphNetworkClassifier, seeded
from manyview.baselines.co_gcn import CoGCNClassifier
from manyview.baselines.gcn import GCNFusionClassifier
from manyview.baselines.ssgcn import SSGCNClassifier


def test_seeded_draws_from_the_seed_and_restores_the_global_generator():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    draws = []
    for seed in (1, 1, 2):
        with seeded(seed):
            draws.append(torch.rand(4))
    torch.testing.assert_close(draws[0], draws[1], rtol=0, atol=0)
    assert not torch.equal(draws[0], draws[2])
    torch.testing.assert_close(torch.rand(3), expected)


@pytest.mark.parametrize("method", [CoGCNClassifier, GCNFusionClassifier, SSGCNClassifier])
def test_fit_leaves_torchs_global_generator_alone(tiny_views, method):
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    method(max_epochs=2, random_state=0).fit(tiny_views.views, tiny_views.known_labels)
    torch.testing.assert_close(torch.rand(3), expected)


def test_input_of_graphs_alone_needs_no_scaling(rng):
    assert GCNFusionClassifier()._input_scaling([]) is None
    features = rng.normal(size=(6, 3))
    assert GCNFusionClassifier()._input_scaling([features])([features]).shape == (6, 3)


def test_input_may_stay_as_it_is(rng):
    features = [rng.normal(size=(6, 3)) + 5, rng.normal(size=(6, 2))]
    scaling = GCNFusionClassifier(center_input=False)._input_scaling(features)
    np.testing.assert_allclose(scaling(features), np.hstack(features), rtol=1e-6)
    assert not scaling.center.any()


def test_training_settings_are_the_parameters_and_the_class_weights():
    model = GCNFusionClassifier(tol=0.5, class_weight="balanced")
    model.classes_ = np.array(["a", "b"])
    settings = model._training_settings(np.array([0, 0, 0, 1, -1]))
    np.testing.assert_allclose(settings.pop("class_weight"), [2 / 3, 2])
    assert settings == {
        "learning_rate": 0.01,
        "weight_decay": 5e-4,
        "max_epochs": 500,
        "tol": 0.5,
        "averaged_epochs": 10,
        "verbose": False,
    }


def test_common_parameters_have_the_same_defaults_except_in_ssgcn():
    common = GraphNetworkClassifier().get_params()
    for method in (CoGCNClassifier, GCNFusionClassifier):
        assert common.items() <= method().get_params().items()
    other = {
        name for name, value in common.items() if SSGCNClassifier().get_params()[name] != value
    }
    assert other == {"learning_rate", "weight_decay", "max_epochs"}


@pytest.mark.parametrize("method", [CoGCNClassifier, GCNFusionClassifier, SSGCNClassifier])
def test_training_may_take_all_epochs_and_keep_the_last_weights(tiny_views, method):
    settings = {"tol": None, "averaged_epochs": 1, "center_input": False, "random_state": 0}
    model = method(max_epochs=30, **settings).fit(tiny_views.views, tiny_views.known_labels)
    assert (model.training_curve_.n_epochs, model.training_curve_.stopped) == (30, "max_epochs")
    assert (model.transduction_ == tiny_views.labels).mean() > 0.8
