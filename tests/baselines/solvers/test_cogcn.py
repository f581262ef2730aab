"""The networks of Co-GCN: graph convolution over mixtures of the views' graphs, and a vote."""

import numpy as np
import pytest
import torch
from scipy import sparse
from torch import nn

from manyview.baselines.co_gcn import CoGCNClassifier
from manyview.baselines.gcn import GCN
from manyview.baselines.solvers.cogcn import (
    CoGCN,
    MixtureGCN,
    NetInputs,
    ViewGraph,
    propagate_mixture,
    released_update,
    summed_negative_log_likelihood,
)
from manyview.graphs.normalization import renormalize
from manyview.graphs.support import GraphSupport
from manyview.network.losses import labeled_cross_entropy
from manyview.network.training import train

N_NODES, N_INPUTS, HIDDEN, N_CLASSES = 12, 5, 7, 3


LABELS = torch.tensor([0, 1, 2, 1, 0, 2, *[-1] * 6])


@pytest.fixture
def matrices(rng):
    graphs = []
    for _ in range(3):
        upper = np.triu(rng.random((N_NODES, N_NODES)) < 0.3, 1) * 1.0
        graphs.append(renormalize(sparse.csr_array(upper + upper.T)))
    return graphs


@pytest.fixture
def graphs(matrices):
    supports = [GraphSupport.from_graphs([matrix]) for matrix in matrices]
    return [
        ViewGraph(support, support.weights_of(matrix))
        for support, matrix in zip(supports, matrices, strict=True)
    ]


@pytest.fixture
def features(rng):
    return torch.from_numpy(rng.normal(size=(N_NODES, N_INPUTS)))


def mixture_gcn(seed=0, **parameters):
    torch.manual_seed(seed)
    settings = {"n_views": 3, "dropout": 0.0} | parameters
    return MixtureGCN(N_INPUTS, HIDDEN, N_CLASSES, **settings).double()


def labeled_loss(network, inputs):
    rows = LABELS >= 0
    return summed_negative_log_likelihood(network(*inputs)[rows], LABELS[rows])


def test_product_equals_that_of_the_mixture_matrix(matrices, graphs, features):
    weights = [0.5, 0.2, 0.3]
    mixture = sum(pi * matrix.toarray() for pi, matrix in zip(weights, matrices, strict=True))
    found = propagate_mixture(graphs, torch.tensor(weights).double(), features)
    np.testing.assert_allclose(found, mixture @ features.numpy(), rtol=1e-6)


def test_product_passes_gradcheck(graphs, features):
    weights = torch.tensor([0.5, 0.2, 0.3], dtype=torch.float64)
    assert torch.autograd.gradcheck(
        lambda weights, hidden: propagate_mixture(graphs, weights, hidden),
        [weights.requires_grad_(), features.requires_grad_()],
    )


def test_net_equals_a_literal_loop(matrices, graphs, features):
    net = mixture_gcn()
    with torch.no_grad():
        net.mixing.copy_(torch.tensor([[1.0, -1.0, 0.5], [0.0, 2.0, -0.5]]))
    hidden = features.numpy()
    for layer, logits in enumerate(net.mixing.detach().numpy()):
        weights = np.exp(logits) / np.exp(logits).sum()
        graph = sum(pi * matrix.toarray() for pi, matrix in zip(weights, matrices, strict=True))
        weight = (net.first, net.second)[layer].weight.detach().numpy()
        hidden = graph @ hidden @ weight
        hidden = np.maximum(hidden, 0) if layer == 0 else hidden
    np.testing.assert_allclose(net(graphs, features).detach(), hidden)


def test_net_of_one_view_equals_gcn_fusion(matrices, graphs, features):
    net = mixture_gcn(n_views=1)
    gcn = GCN(N_INPUTS, HIDDEN, N_CLASSES, dropout=0.0).double()
    gcn.first, gcn.second = net.first, net.second
    support, weights = graphs[0]
    torch.testing.assert_close(net(graphs[:1], features), gcn(support, weights, features))


def test_gradient_of_a_mixing_weight_is_the_dot_product_of_section_11(matrices, graphs, features):
    """dL/dpi_u = < dL/dH', A_u H W >, in both layers."""
    net = mixture_gcn(official_weights=True)
    net.mixing.requires_grad_(True)
    network = CoGCN([net])
    inputs = [NetInputs(graphs, features, None)]
    (found,) = torch.autograd.grad(labeled_loss(network, inputs), [net.mixing])
    dense = [torch.from_numpy(matrix.toarray()) for matrix in matrices]
    mean = sum(dense) / 3
    first = (mean @ features @ net.first.weight).detach().requires_grad_()
    second = mean @ first.relu() @ net.second.weight
    second.retain_grad()
    rows = LABELS >= 0
    nn.functional.cross_entropy(second[rows], LABELS[rows]).backward()
    for layer, (gradient, messages) in enumerate(
        [
            (first.grad, features @ net.first.weight),
            (second.grad, first.relu() @ net.second.weight),
        ]
    ):
        expected = torch.stack([(gradient * (graph @ messages)).sum() for graph in dense])
        torch.testing.assert_close(found[layer], expected.detach())


def test_loss_is_the_sum_of_the_nets_own_cross_entropies(graphs, features):
    nets = [mixture_gcn(seed) for seed in (0, 1)]
    rows = LABELS >= 0
    weight = torch.tensor([1.0, 2.0, 0.5], dtype=torch.float64)
    log_probabilities = CoGCN(nets)(*[NetInputs(graphs, features, None)] * 2)
    expected = sum(
        labeled_cross_entropy(net(graphs, features)[rows], LABELS[rows], weight) for net in nets
    )
    found = summed_negative_log_likelihood(log_probabilities[rows], LABELS[rows], weight)
    torch.testing.assert_close(found, expected)


def test_nets_trained_together_learn_as_if_alone(graphs, features):
    inputs = NetInputs(graphs, features, None)
    settings = {
        "learning_rate": 0.01,
        "max_epochs": 15,
        "tol": 0.0,
        "weight_decay": 0.1,
        "loss_of": summed_negative_log_likelihood,
    }
    together = [mixture_gcn(seed) for seed in (0, 1)]
    train(CoGCN(together), (inputs, inputs), LABELS, **settings)
    for seed, net in enumerate(together):
        alone = mixture_gcn(seed)
        train(CoGCN([alone]), (inputs,), LABELS, **settings)
        torch.testing.assert_close(net.first.weight, alone.first.weight)
        torch.testing.assert_close(net.mixing, alone.mixing)


def test_released_update_equals_a_literal_loop(rng):
    pi, gradient = rng.dirichlet(np.ones(4), size=2), rng.normal(size=(2, 4))
    expected = pi.copy()
    for layer in range(2):
        for view in range(4):
            expected[layer, view] -= 0.3 * gradient[layer, view]
            total = sum(np.exp(value) for value in expected[layer])
            expected[layer] = [np.exp(value) / total for value in expected[layer]]
    found = released_update(torch.from_numpy(pi), torch.from_numpy(gradient), 0.3)
    np.testing.assert_allclose(found, expected)


def test_released_training_equals_a_literal_loop(graphs, features):
    """Adam on W, then a fresh pass and pi's own update, epoch by epoch."""
    inputs = NetInputs(graphs, features, None)
    net, literal = (mixture_gcn(official_weights=True) for _ in range(2))
    model = CoGCNClassifier(learning_rate=0.05)
    pis = []
    train(
        CoGCN([net]),
        (inputs,),
        LABELS,
        learning_rate=0.05,
        max_epochs=4,
        tol=0.0,
        after_step=model._released_step([net]),
        on_epoch=lambda *_: pis.append(net.mixing.detach().clone()),
    )
    optimizer = torch.optim.Adam([literal.first.weight, literal.second.weight], lr=0.05)
    network = CoGCN([literal])
    for pi in pis:
        optimizer.zero_grad()
        labeled_loss(network, [inputs]).backward()
        optimizer.step()
        literal.mixing.requires_grad_(True)
        (gradient,) = torch.autograd.grad(labeled_loss(network, [inputs]), [literal.mixing])
        literal.mixing.requires_grad_(False)
        literal.mixing.copy_(released_update(literal.mixing, gradient, 0.05))
        torch.testing.assert_close(literal.mixing.data, pi)
        assert (pi - 1 / 3).abs().max() > 1e-6
