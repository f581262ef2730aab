"""Spectral regression: SSGCN's model on weighted graphs, deterministic."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression as ReferenceRegression

from manyview.baselines.ssgcn import SSGCNClassifier
from manyview.callbacks.context import FitContext
from manyview.data.views import MultiView
from manyview.network.prepared import prepare_inputs
from manyview.network.spectral import LogisticRegression, SpectralRegression, linear_probabilities
from manyview.network.training import TrainingCurve, train


@pytest.fixture
def prepared(tiny_views):
    settings = {"scaling": "unit", "n_neighbors": 5, "metric": "cosine"}
    return prepare_inputs(MultiView(tiny_views.views), torch.device("cpu"), **settings)


def probabilities(prepared, y_encoded, weights=(0.5, 0.5)):
    return linear_probabilities(prepared.inputs, np.array(weights), y_encoded, 3, None)


def test_linear_probabilities_are_those_of_ssgcn_with_few_steps(prepared, tiny_views):
    model = SSGCNClassifier(n_steps=4, alpha=0.05, n_neighbors=5)
    model.fit(tiny_views.views, tiny_views.known_labels)
    found = probabilities(prepared, tiny_views.known_labels)
    np.testing.assert_allclose(found, model.label_distributions_, atol=1e-5)


def test_graph_weights_are_used(prepared, tiny_views):
    y_encoded = tiny_views.known_labels
    alone = prepare_inputs(
        MultiView(tiny_views.views), torch.device("cpu"), scaling="unit", n_neighbors=5,
        metric="cosine",
    )  # fmt: skip
    only_first = alone.inputs._replace(view_weights=alone.inputs.view_weights[:, [0, 0]])
    expected = linear_probabilities(only_first, np.array([0.5, 0.5]), y_encoded, 3, None)
    np.testing.assert_allclose(probabilities(prepared, y_encoded, (1.0, 0.0)), expected, atol=1e-6)


def test_nothing_is_random(prepared, tiny_views):
    before = torch.random.get_rng_state()
    one, other = (probabilities(prepared, tiny_views.known_labels) for _ in range(2))
    np.testing.assert_array_equal(one, other)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_logits_equal_a_literal_loop(prepared, tiny_views):
    support, weights, features, center = prepared.inputs
    model = SpectralRegression(support, weights.mean(dim=1), features, center, n_steps=3, alpha=0.2)
    head, curve = model.fit(
        tiny_views.known_labels, 3, torch.Generator(), class_weight=None, verbose=False,
        context=FitContext(), learning_rate=0.1, max_epochs=5, tol=0.0,
    )  # fmt: skip
    graph = support.matrix_of(weights.mean(dim=1)).toarray().astype(np.float64)
    values = (features - center).numpy().astype(np.float64)
    diffused = 0.2 * values
    for n_steps in (1, 2, 3):
        diffused = diffused + 0.8 / 3 * np.linalg.matrix_power(graph, n_steps) @ values
    expected = diffused @ head.weight.detach().numpy() + head.bias.detach().numpy()
    np.testing.assert_allclose(model.logits(head).numpy(), expected, atol=1e-5)
    assert curve.n_epochs == 5


def test_ctrl_c_is_raised(prepared, tiny_views, monkeypatch):
    def interrupt(self, tol):
        raise KeyboardInterrupt

    monkeypatch.setattr(TrainingCurve, "has_converged", interrupt)
    with pytest.raises(KeyboardInterrupt):
        probabilities(prepared, tiny_views.known_labels)


def test_trained_head_is_the_optimum_of_penalized_logistic_regression(rng):
    features, labels = rng.normal(size=(30, 4)), rng.integers(3, size=30)
    weight_decay = 0.05
    head = LogisticRegression(4, 3).double()
    train(
        head,
        (torch.from_numpy(features),),
        torch.from_numpy(labels),
        learning_rate=0.05,
        weight_decay=weight_decay,
        max_epochs=500,
        tol=-1.0,
    )
    # Adam's weight decay is for the bias too: a column of ones whose weight is penalized.
    with_ones = np.hstack([features, np.ones((30, 1))])
    reference = ReferenceRegression(C=1 / (30 * weight_decay), fit_intercept=False, tol=1e-10)
    expected = reference.fit(with_ones, labels).coef_.T
    found = torch.vstack([head.weight, head.bias]).detach()
    np.testing.assert_allclose(found, expected, atol=1e-5)
