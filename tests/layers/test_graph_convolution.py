"""Graph convolution, Eq. (17)."""

import pytest
import torch
from scipy import sparse

from manyview.layers.graph_convolution import GraphConvolution, RowCenters
from manyview.layers.sparse_product import csr_tensor

N_NODES, N_INPUTS, N_OUTPUTS = 9, 6, 4


@pytest.fixture
def layer(generator):
    layer = GraphConvolution(N_INPUTS, N_OUTPUTS).double()
    layer.weight.data = torch.randn(N_INPUTS, N_OUTPUTS, generator=generator, dtype=torch.float64)
    return layer


@pytest.fixture
def hidden(generator):
    hidden = torch.randn(N_NODES, N_INPUTS, generator=generator, dtype=torch.float64)
    return hidden * (torch.rand(hidden.shape, generator=generator) < 0.5)


def as_sparse(hidden):
    matrix = sparse.csr_array(hidden.numpy())
    return csr_tensor(
        torch.from_numpy(matrix.indptr),
        torch.from_numpy(matrix.indices),
        torch.from_numpy(matrix.data),
        matrix.shape,
    )


def test_convolution_equals_a_literal_loop(tiny_graph, layer, hidden):
    expected = torch.zeros(N_NODES, N_OUTPUTS, dtype=torch.float64)
    for i in range(N_NODES):
        for c in range(N_OUTPUTS):
            for j in range(N_NODES):
                for f in range(N_INPUTS):
                    term = tiny_graph.matrix[i, j] * hidden[j, f] * layer.weight[f, c]
                    expected[i, c] += term.detach()
    convolved = layer(tiny_graph.support, tiny_graph.weights, hidden)
    torch.testing.assert_close(convolved, expected)


def test_convolution_of_sparse_features_equals_that_of_dense_ones(tiny_graph, layer, hidden):
    weights = tiny_graph.weights.requires_grad_()
    dense = layer(tiny_graph.support, weights, hidden)
    stored_sparse = layer(tiny_graph.support, weights, as_sparse(hidden))
    torch.testing.assert_close(stored_sparse, dense)
    learned = (weights, layer.weight)
    torch.testing.assert_close(
        torch.autograd.grad(stored_sparse.square().sum(), learned),
        torch.autograd.grad(dense.square().sum(), learned),
    )


def test_centered_convolution_of_sparse_features_equals_that_of_centered_ones(
    tiny_graph, layer, hidden
):
    center = hidden.mean(dim=0)
    expected = layer(tiny_graph.support, tiny_graph.weights, hidden - center)
    centered = layer(tiny_graph.support, tiny_graph.weights, as_sparse(hidden), center)
    torch.testing.assert_close(centered, expected)
    torch.testing.assert_close(
        torch.autograd.grad(centered.square().sum(), layer.weight),
        torch.autograd.grad(expected.square().sum(), layer.weight),
    )


def test_node_without_neighbors_gets_only_its_own_message(tiny_graph, layer, hidden):
    convolved = layer(tiny_graph.support, tiny_graph.weights, hidden)
    expected = tiny_graph.matrix[-1, -1] * (hidden[-1] @ layer.weight)
    torch.testing.assert_close(convolved[-1], expected)


def test_convolution_follows_nodes_when_they_are_renumbered(tiny_graph, layer, hidden, order):
    after = tiny_graph.renumbered(order)
    before = layer(tiny_graph.support, tiny_graph.weights, hidden)
    renumbered = layer(after.support, after.weights, hidden[order])
    torch.testing.assert_close(renumbered, before[order])


def test_convolution_passes_gradcheck(tiny_graph, layer, hidden):
    def convolved(weights, hidden, weight):
        arguments = (tiny_graph.support, weights, hidden)
        return torch.func.functional_call(layer, {"weight": weight}, arguments)

    weight = layer.weight.detach().clone()
    inputs = (tiny_graph.weights, hidden, weight)
    assert torch.autograd.gradcheck(convolved, [value.requires_grad_() for value in inputs])


def test_row_centers_are_what_is_subtracted_from_each_row(layer, hidden, generator):
    coefficients = torch.rand(N_NODES, 2, generator=generator, dtype=torch.float64)
    means = torch.rand(2, N_INPUTS, generator=generator, dtype=torch.float64)
    center = RowCenters(coefficients, means)
    expected = (hidden - coefficients @ means) @ layer.weight
    torch.testing.assert_close(layer.messages(hidden, center), expected)
    torch.testing.assert_close(layer.messages(as_sparse(hidden), center), expected)
    torch.testing.assert_close(center.dense(), coefficients @ means)
