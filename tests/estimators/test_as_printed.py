"""The paper as printed: the settings, the plans that use them, and the dense reference."""

from copy import deepcopy

import numpy as np
import pytest
import torch
from dense_reference import DenseMGCNDNS
from sklearn.base import clone
from sklearn.preprocessing import normalize
from torch import nn

from manyview import hide_labels, make_multiview_classification
from manyview.base.parameters import parameter_path
from manyview.data.views import MultiView
from manyview.estimators import mgcn_dns
from manyview.estimators.mgcn_dns import AS_PRINTED, MGCNDNSClassifier
from manyview.experiments.plan import load_plan
from manyview.network.mgcn_dns import NetworkInputs

N_EPOCHS = 20


def test_settings_are_those_of_the_paper():
    model = MGCNDNSClassifier.as_printed()
    assert (model.learning_rate, model.max_epochs, model.n_layers) == (0.1, 200, 2)
    assert model.parameter_group("graph_learning").form == "full"
    assert model.parameter_group("node_selection").form == "differentiable"
    training = model.parameter_group("training")
    assert (training.dropout, training.weight_decay) == (0.0, 0.0)
    assert (training.tol, training.averaged_epochs) == (None, 1)
    assert not training.center_input
    assert clone(model).get_params() == model.get_params()


def test_defaults_stay_ours():
    model = MGCNDNSClassifier()
    assert (model.learning_rate, model.graph_learning) == (0.01, "edge")
    training = model.parameter_group("training")
    assert (training.averaged_epochs, training.center_input) == (10, True)


def test_changes_are_parameters_by_path():
    model = MGCNDNSClassifier.as_printed(learning_rate=0.03, training__dropout=0.5)
    assert (model.learning_rate, model.max_epochs) == (0.03, 200)
    assert model.training.dropout == 0.5
    assert model.training.tol is None
    with pytest.raises(ValueError, match="depth"):
        MGCNDNSClassifier.as_printed(depth=3)


def test_trains_for_all_epochs_and_keeps_the_last_weights(tiny_views):
    model = MGCNDNSClassifier.as_printed(max_epochs=60, random_state=0)
    model.fit(tiny_views.views, tiny_views.known_labels)
    assert model.training_curve_.n_epochs == 60
    assert model.training_curve_.stopped == "max_epochs"
    following = MGCNDNSClassifier.as_printed(max_epochs=61, random_state=0)
    following.fit(tiny_views.views, tiny_views.known_labels)
    known = tiny_views.known_labels
    given = model.label_distributions_[known >= 0, known[known >= 0]]
    # Without dropout, the loss of the next epoch is that of the weights after this one.
    assert -np.log(given).mean() == pytest.approx(following.training_curve_.loss[-1], abs=1e-5)


def test_predicts_new_samples_on_the_plain_input(tiny_views):
    views = MultiView(tiny_views.views)
    rows = np.arange(len(views)) % 4 != 0
    model = MGCNDNSClassifier.as_printed(random_state=0).fit(views[rows], tiny_views.labels[rows])
    assert model.score(views[~rows], tiny_views.labels[~rows]) > 0.9


@pytest.mark.parametrize("plan", ["as-printed", "learning-rate"])
def test_plans_change_only_the_modules_and_the_learning_rate(plan):
    free = {"graph_learning", "node_selection", "learning_rate"}
    for entry in load_plan(plan).entries:
        if entry.method != "mgcn-dns":
            continue
        given = {parameter_path(MGCNDNSClassifier(), k): v for k, v in entry.params.items()}
        fixed = {name: value for name, value in AS_PRINTED.items() if name not in free}
        assert {name: value for name, value in given.items() if name not in free} == fixed
        assert given.get("learning_rate", 0.1) == 0.1
        assert given["graph_learning"] in ("full", "edge", None)


def test_loss_equals_that_of_the_dense_reference(monkeypatch):
    """The first 20 epochs from the same start, on 300 samples.

    In float64: Adam's first steps are as long for a gradient of rounding errors as for any other.
    """
    views, truth = make_multiview_classification(300, 3, class_sep=1.5, random_state=0)
    labels = hide_labels(truth, 0.1, random_state=0)
    started = []

    def train_network(network, inputs, *args, **settings):
        support, *parts = inputs
        exact = NetworkInputs(support, *(part.double() for part in parts))
        started.append((deepcopy(network).double(), exact.features))
        curve = mgcn_dns_train(network.double(), exact, *args, **settings)
        network.float()
        return curve

    mgcn_dns_train = mgcn_dns.train_network
    monkeypatch.setattr(mgcn_dns, "train_network", train_network)
    model = MGCNDNSClassifier.as_printed(max_epochs=N_EPOCHS, random_state=0).fit(views, labels)
    ((start, features),) = started
    side_by_side = np.hstack([normalize(views[name]) for name in views.names])
    np.testing.assert_allclose(features.numpy(), side_by_side, rtol=0, atol=1e-6)
    dense = dense_copy(start, len(labels))
    graphs = torch.stack([torch.from_numpy(g.toarray()).float() for g in model.view_graphs_])
    expected = dense_losses(dense, graphs.double(), features, model.y_)
    np.testing.assert_allclose(model.training_curve_.loss, expected, rtol=0, atol=1e-6)
    assert expected[-1] < 0.5 * expected[0]


def dense_copy(start, n_samples):
    """Return the dense reference with the weights of a network that has not been trained."""
    widths = [*start.layers()[0].weight.shape, start.layers()[-1].weight.shape[1]]
    dense = DenseMGCNDNS(n_samples, len(start.fusion.logits), widths).double()
    pairs = [
        (dense.mixing_logits, start.fusion.logits),
        (dense.left_factor, start.graph_learning.left_factor),
        (dense.right_factor, start.graph_learning.right_factor),
        (dense.raw_threshold, start.node_selection.raw_threshold),
        *zip(dense.weights, [layer.weight for layer in start.layers()], strict=True),
    ]
    with torch.no_grad():
        for own, given in pairs:
            own.copy_(given)
    return dense


def dense_losses(dense, graphs, features, y_encoded):
    """Train by torch's Adam as the paper says, and return the loss of each epoch."""
    optimizer = torch.optim.Adam(dense.parameters(), lr=0.1)
    known = torch.from_numpy(np.flatnonzero(y_encoded >= 0))
    labels = torch.from_numpy(y_encoded)[known]
    losses = []
    for _ in range(N_EPOCHS):
        loss = nn.functional.cross_entropy(dense(graphs, features)[known], labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses
