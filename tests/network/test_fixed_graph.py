"""The network on a fixed graph equals the network it is made of."""

import numpy as np
import pytest
import torch
from scipy import sparse

from manyview.layers.graph_convolution import RowCenters
from manyview.layers.sparse_product import csr_tensor
from manyview.network.fixed_graph import FixedGraphNetwork
from manyview.network.mgcn_dns import NetworkInputs, build_network
from manyview.network.prepared import align_graphs

N_SAMPLES, N_FEATURES, N_CLASSES = 30, 7, 3


def make_graph(rng):
    drawn = rng.random((N_SAMPLES, N_SAMPLES)) < 0.2
    linked = np.triu(drawn, 1) | np.triu(drawn, 1).T
    return sparse.csr_array(linked * 0.2 + 0.3 * np.eye(N_SAMPLES))


def make_inputs(*, is_sparse=False, center=None, is_reordered=None):
    rng = np.random.default_rng(0)
    graphs = [make_graph(rng) for _ in range(2)]
    support, weights = align_graphs(graphs)
    if is_reordered:
        support = type(support).from_graphs(graphs, is_reordered=True)
        weights = torch.stack([support.weights_of(graph) for graph in graphs], dim=1)
    features = torch.from_numpy(rng.normal(size=(N_SAMPLES, N_FEATURES)))
    if is_sparse:
        stored = sparse.csr_array(features.numpy() * (rng.random(features.shape) < 0.4))
        parts = (torch.from_numpy(one) for one in (stored.indptr, stored.indices, stored.data))
        features = csr_tensor(*parts, stored.shape)
    centers = {
        "mean": torch.from_numpy(rng.normal(size=N_FEATURES)),
        "rows": RowCenters(
            torch.from_numpy(rng.random((N_SAMPLES, 2))),
            torch.from_numpy(rng.normal(size=(2, N_FEATURES))),
        ),
    }
    return NetworkInputs(support, weights.double(), features, centers.get(center))


def make_network(inputs, *, n_layers=2, selection="differentiable"):
    return build_network(
        inputs, n_classes=N_CLASSES, graph_learning="edge", rank=4, gamma=1.0,
        node_selection=selection, n_selected=4, tau=0.5, initial_threshold=0.1, rank_axis="rows",
        ranking="exact", hidden=5, n_layers=n_layers, dropout=0.5, seed=0,
    ).double()  # fmt: skip


@pytest.mark.parametrize("is_reordered", [False, True])
@pytest.mark.parametrize("center", [None, "mean", "rows"])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_logits_are_those_of_the_network_once_the_scale_is_taken_back(
    is_sparse, center, is_reordered
):
    inputs = make_inputs(is_sparse=is_sparse, center=center, is_reordered=is_reordered)
    network = make_network(inputs).eval()
    fixed = FixedGraphNetwork(network, inputs).eval()
    expected = fixed().detach()
    assert fixed.scale != pytest.approx(1.0, abs=0.01)
    fixed.unscale()
    with torch.no_grad():
        torch.testing.assert_close(network(*inputs), expected)


@pytest.mark.parametrize("n_layers", [1, 2, 3])
def test_logits_equal_a_dense_loop_over_the_layers(n_layers):
    inputs = make_inputs(center="mean")
    network = make_network(inputs, n_layers=n_layers).eval()
    fixed = FixedGraphNetwork(network, inputs).eval()
    graph = network.graphs(inputs.support, inputs.view_weights).selected
    matrix = torch.from_numpy(inputs.support.matrix_of(graph).toarray())
    matrix /= matrix.sum(dim=1).mean()
    hidden = inputs.features - inputs.center
    for number, layer in enumerate(network.layers()):
        hidden = matrix @ (hidden if number == 0 else hidden.relu()) @ layer.weight
    torch.testing.assert_close(fixed(), hidden)


def test_gradients_of_the_weights_equal_those_of_the_network():
    inputs = make_inputs(center="rows")
    network = make_network(inputs).eval()
    fixed = FixedGraphNetwork(network, inputs).eval()
    probe = torch.randn(N_SAMPLES, N_CLASSES, dtype=torch.float64)
    (fixed() * probe).sum().backward()
    found = [layer.weight.grad.clone() for layer in network.layers()]
    assert all(one.grad is None for one in network.fusion.parameters())
    assert network.graph_learning.magnitude.grad is None
    network.zero_grad()
    (network(*inputs) * probe).sum().backward()
    for own, layer in zip(found, network.layers(), strict=True):
        torch.testing.assert_close(own, layer.weight.grad / fixed.scale**2)


def test_gradcheck():
    inputs = make_inputs(center="mean")
    network = make_network(inputs).eval()
    fixed = FixedGraphNetwork(network, inputs).eval()
    weights = tuple(layer.weight.detach().clone().requires_grad_() for layer in fixed.layers)

    def logits(*changed):
        by_name = {f"convolutions.{number}.weight": one for number, one in enumerate(changed)}
        return torch.func.functional_call(fixed, by_name, ())

    assert torch.autograd.gradcheck(logits, weights)


def test_a_top_k_graph_whose_directions_differ_is_kept():
    inputs = make_inputs()
    network = make_network(inputs, selection="top-k").eval()
    fixed = FixedGraphNetwork(network, inputs).eval()
    expected = fixed().detach()
    fixed.unscale()
    with torch.no_grad():
        torch.testing.assert_close(network(*inputs), expected)


def test_only_the_layers_are_trained_and_dropout_follows_its_generator():
    inputs = make_inputs()
    network = make_network(inputs)
    fixed = FixedGraphNetwork(network, inputs)
    assert [id(one) for one in fixed.parameters()] == [id(one.weight) for one in network.layers()]
    draws = [fixed(generator=torch.Generator().manual_seed(seed)) for seed in (0, 0, 1)]
    assert torch.equal(draws[0], draws[1])
    assert not torch.equal(draws[0], draws[2])
