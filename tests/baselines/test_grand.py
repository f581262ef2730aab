"""GRAND: random propagation over the mean graph, and agreement between the draws."""

import numpy as np
import pytest
import torch
from scipy import sparse

from manyview.baselines.grand import GRAND, GRANDClassifier
from manyview.data.network_input import fit_input
from manyview.data.views import MultiView
from manyview.graphs.normalization import renormalize
from manyview.graphs.prepare import prepare_views
from manyview.graphs.support import GraphSupport
from manyview.layers.random_propagation import consistency_loss
from manyview.network.losses import labeled_cross_entropy

N_NODES, N_INPUTS, HIDDEN, N_CLASSES = 10, 5, 6, 3


@pytest.fixture
def graph(rng):
    weights = np.triu(rng.random((N_NODES, N_NODES)) * (rng.random((N_NODES, N_NODES)) < 0.3), 1)
    return renormalize(sparse.csr_array(weights + weights.T))


@pytest.fixture
def on_support(graph):
    support = GraphSupport.from_graphs([graph])
    return support, support.weights_of(graph)


@pytest.fixture
def features(rng):
    return torch.from_numpy(rng.normal(size=(N_NODES, N_INPUTS)))


def build(**settings):
    defaults = {"n_steps": 3, "n_draws": 2, "node_dropout": 0.5, "input_dropout": 0.0}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        network = GRAND(
            N_INPUTS, HIDDEN, N_CLASSES, **defaults | {"dropout": 0.0} | settings
        ).double()
    with torch.no_grad():
        for bias in (network.first_bias, network.second_bias):
            bias.copy_(torch.linspace(-0.3, 0.4, len(bias)))
    return network


def literal_logits(network, graph, features, scales):
    """Every draw by loops over the paper's equations; `scales` [draw, node] are its masks."""
    dense, inputs = graph.toarray(), features.numpy()
    first, second = (layer.weight.detach().numpy() for layer in (network.first, network.second))
    logits = []
    for scale in scales:
        perturbed = np.array([own * row for own, row in zip(scale, inputs, strict=True)])
        walked, total = perturbed, perturbed
        for _ in range(network.n_steps):
            walked = np.array(
                [sum(dense[i, j] * walked[j] for j in range(N_NODES)) for i in range(N_NODES)]
            )
            total = total + walked
        mixed = total / (network.n_steps + 1)
        hidden = np.maximum(mixed @ first + network.first_bias.detach().numpy(), 0)
        logits.append(hidden @ second + network.second_bias.detach().numpy())
    return np.array(logits)


@pytest.mark.parametrize("input_dropout", [0.0, 1e-12])
@pytest.mark.parametrize("n_steps", [0, 3])
def test_draws_equal_a_literal_loop(graph, on_support, features, input_dropout, n_steps):
    """Both orders of product and propagation; the second draws masks, too, but drops nothing."""
    network = build(n_steps=n_steps, input_dropout=input_dropout).train()
    found = network(*on_support, features, generator=torch.Generator().manual_seed(4))
    generator, scales = torch.Generator().manual_seed(4), []
    for _ in range(2):
        drawn = torch.rand(N_NODES, 1, dtype=torch.float64, generator=generator)
        scales.append((drawn >= 0.5).double().flatten().numpy() / 0.5)
        if input_dropout:
            torch.rand(N_NODES, N_INPUTS, dtype=torch.float64, generator=generator)
    expected = literal_logits(network, graph, features, scales)
    np.testing.assert_allclose(found.detach(), np.vstack(expected), atol=1e-12)


def test_without_training_nothing_is_dropped(graph, on_support, features):
    network = build(dropout=0.5, input_dropout=0.5).eval()
    expected = literal_logits(network, graph, features, np.ones((1, N_NODES)))
    np.testing.assert_allclose(network(*on_support, features).detach(), expected[0], atol=1e-12)


@pytest.mark.parametrize("input_dropout", [0.0, 0.5])
def test_draws_differ_only_by_what_is_dropped(on_support, features, input_dropout):
    network = build(node_dropout=0.0, input_dropout=input_dropout).train()
    draws = network(*on_support, features).unflatten(0, (2, N_NODES))
    assert torch.equal(draws[0], draws[1]) == (input_dropout == 0)


def test_loss_has_the_gradients_of_finite_differences(on_support, features):
    network = build().train()
    labels = torch.tensor([0, 1, 2, 2]).repeat(2)
    labeled = torch.tensor([0, 3, 5, 7])
    rows = torch.cat([labeled, labeled + N_NODES])
    names = [name for name, _ in network.named_parameters()]

    def loss(*parameters):
        logits = torch.func.functional_call(
            network,
            dict(zip(names, parameters, strict=True)),
            (*on_support, features),
            {"generator": torch.Generator().manual_seed(2)},
        )
        # `consistency_loss` holds its target fixed, so it is checked by itself.
        squared = logits.unflatten(0, (2, N_NODES)).softmax(dim=2).square().sum()
        return labeled_cross_entropy(logits[rows], labels) + squared

    assert torch.autograd.gradcheck(loss, tuple(network.parameters()))


def test_training_minimizes_cross_entropy_plus_consistency(tiny_views):
    """The first loss of a fit, from its own first draws."""
    model = GRANDClassifier(random_state=0, max_epochs=1, n_neighbors=5, consistency=0.7, hidden=8)
    model.fit(tiny_views.views, tiny_views.known_labels)
    prepared = prepare_views(
        MultiView(tiny_views.views), scaling="unit", n_neighbors=5, metric="cosine"
    )
    scaled = list(prepared.features.values())
    scaling = fit_input(scaled)
    features = torch.from_numpy(scaling(scaled) - scaling.center)
    graph = sparse.csr_array(sum(prepared.renormalized()) / 2)
    support = GraphSupport.from_graphs([graph])
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        network = GRAND(
            13, 8, 3, n_steps=8, n_draws=4, node_dropout=0.5, input_dropout=0.0, dropout=0.5
        )
    weights, generator = support.weights_of(graph).float(), torch.Generator().manual_seed(0)
    logits = network(support, weights, features, generator=generator)
    labels = torch.from_numpy(np.tile(tiny_views.known_labels, 4))
    cross_entropy = labeled_cross_entropy(logits[labels >= 0], labels[labels >= 0])
    expected = cross_entropy + 0.7 * consistency_loss(logits.unflatten(0, (4, 60)), 0.5)
    assert model.training_curve_.loss[0] == pytest.approx(expected.item(), rel=1e-4)


def test_training_has_a_fixed_number_of_epochs_unless_tol_is_set(tiny_views):
    labels = tiny_views.known_labels
    fixed = GRANDClassifier(random_state=0, max_epochs=45).fit(tiny_views.views, labels)
    stopping = GRANDClassifier(random_state=0, max_epochs=45, tol=10.0).fit(
        tiny_views.views, labels
    )
    assert (fixed.training_curve_.n_epochs, stopping.training_curve_.n_epochs) == (45, 20)


def test_without_hops_and_drops_samples_do_not_see_each_other(tiny_views):
    """K = 0 and p = 0 is a perceptron on the sample's own features."""
    settings = {"n_steps": 0, "node_dropout": 0.0, "dropout": 0.0, "consistency": 0.0}
    model = GRANDClassifier(random_state=0, max_epochs=20, **settings)
    model.fit(tiny_views.views, tiny_views.known_labels)
    np.testing.assert_allclose(
        model.predict_proba(tiny_views.views), model.label_distributions_, atol=1e-6
    )


def test_new_samples_are_labeled_by_the_literal_formula(tiny_views, rng):
    """xbar = 1/(K+1) (x + sum_{k=1..K} (t A^(k-1) X + loop x))."""
    model = GRANDClassifier(random_state=0, n_neighbors=5, n_steps=3, max_epochs=20)
    model.fit(tiny_views.views, tiny_views.known_labels)
    prepared = prepare_views(
        MultiView(tiny_views.views), scaling="unit", n_neighbors=5, metric="cosine"
    )
    fitted = list(prepared.features.values())
    scaling = fit_input(fitted)
    features, walk = scaling(fitted) - scaling.center, model.fused_graph_.toarray()
    new = {name: rng.normal(size=(4, view.shape[1])) for name, view in tiny_views.views.items()}
    scaled = {name: prepared.scalers[name](view) for name, view in new.items()}
    own = scaling(list(scaled.values())) - scaling.center
    edges, loops = np.zeros((4, 60)), np.zeros(4)
    for name, view in scaled.items():
        degrees = prepared.graphs[name].toarray().sum(axis=1) + 1
        for row, values in enumerate(view):
            nearest = np.argsort(-(prepared.features[name] @ values), kind="stable")[:5]
            edges[row, nearest] += 1 / np.sqrt(6 * degrees[nearest]) / 2
            loops[row] += 1 / 6 / 2
    walked = sum(
        edges @ np.linalg.matrix_power(walk, k) @ features + loops[:, None] * own for k in range(3)
    )
    mixed = (own + walked) / 4 @ model.inductive_state_.weights[0]
    hidden = np.maximum(mixed + model.first_bias_, 0)
    logits = hidden @ model.second_weight_ + model.second_bias_
    expected = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(new), expected, atol=1e-5)


def test_class_weight_moves_the_border_towards_the_other_class(rng):
    views = [rng.normal(size=(80, 2)) + np.repeat([[0.0], [1.0]], 40, axis=0)]
    labels = np.where(np.arange(80) % 4 == 0, np.repeat([0, 1], 40), -1)
    fractions = [
        np.mean(
            GRANDClassifier(class_weight=weight, random_state=0, max_epochs=60)
            .fit(views, labels)
            .transduction_
        )
        for weight in ({0: 9.0}, None, {1: 9.0})
    ]
    assert fractions[0] < fractions[1] < fractions[2]
