"""Sparse products and their gradients, against dense autograd."""

import pytest
import torch

from manyview.layers import sparse_product
from manyview.layers.sparse_product import csr_tensor, dot_on_edges, multiply_fixed, propagate

N_NODES = 9
N_FEATURES = 5


@pytest.fixture
def asymmetric_weights(tiny_graph, generator):
    return torch.randn(tiny_graph.support.n_edges, generator=generator, dtype=torch.float64)


@pytest.fixture
def hidden(generator):
    return torch.randn(N_NODES, N_FEATURES, generator=generator, dtype=torch.float64)


@pytest.fixture
def incoming(generator):
    return torch.randn(N_NODES, N_FEATURES, generator=generator, dtype=torch.float64)


def sparse_features(generator):
    dense = torch.randn(N_NODES, 30, generator=generator, dtype=torch.float64)
    dense *= torch.rand(dense.shape, generator=generator) < 0.2
    row_starts = torch.cat([torch.zeros(1), (dense != 0).sum(dim=1).cumsum(0)]).long()
    columns = dense.nonzero()[:, 1]
    return dense, csr_tensor(row_starts, columns, dense[dense != 0], dense.shape)


def test_product_equals_a_literal_loop(tiny_graph, asymmetric_weights, hidden):
    support = tiny_graph.support
    expected = torch.zeros(N_NODES, N_FEATURES, dtype=torch.float64)
    for i, j, weight in zip(support.rows, support.columns, asymmetric_weights, strict=True):
        expected[i] += weight * hidden[j]
    torch.testing.assert_close(propagate(support, asymmetric_weights, hidden), expected)


@pytest.mark.parametrize("block_values", [1, 3 * N_FEATURES, 2**22])
@pytest.mark.parametrize("is_symmetric", [True, False])
def test_gradients_equal_those_of_the_dense_product(
    tiny_graph, asymmetric_weights, hidden, incoming, monkeypatch, is_symmetric, block_values
):
    monkeypatch.setattr(sparse_product, "BLOCK_VALUES", block_values)
    weights = tiny_graph.weights if is_symmetric else asymmetric_weights
    weights.requires_grad_()
    hidden.requires_grad_()
    product = propagate(tiny_graph.support, weights, hidden)
    dense_product = tiny_graph.dense(weights) @ hidden
    torch.testing.assert_close(product, dense_product)
    gradients = torch.autograd.grad(product, (weights, hidden), incoming)
    expected = torch.autograd.grad(dense_product, (weights, hidden), incoming)
    torch.testing.assert_close(gradients, expected)


def test_product_passes_gradcheck(tiny_graph, asymmetric_weights, hidden):
    assert torch.autograd.gradcheck(
        lambda weights, features: propagate(tiny_graph.support, weights, features),
        (asymmetric_weights.requires_grad_(), hidden.requires_grad_()),
    )


@pytest.mark.parametrize("asked", ["weights", "features"])
def test_product_gives_one_gradient_when_the_other_is_not_asked_for(
    tiny_graph, asymmetric_weights, hidden, asked
):
    (asymmetric_weights if asked == "weights" else hidden).requires_grad_()
    propagate(tiny_graph.support, asymmetric_weights, hidden).sum().backward()
    assert (asymmetric_weights.grad is None) == (asked == "features")
    assert (hidden.grad is None) == (asked == "weights")


def test_gradient_of_a_sum_is_not_tripped_by_its_strides(tiny_graph, asymmetric_weights, hidden):
    weights = asymmetric_weights.requires_grad_()
    product = propagate(tiny_graph.support, weights, hidden.T.contiguous().T)
    (gradient,) = torch.autograd.grad(product.sum(), weights)  # an expanded gradient
    torch.testing.assert_close(gradient, hidden.sum(dim=1)[tiny_graph.support.columns])


def test_product_keeps_float32(tiny_graph, asymmetric_weights, hidden):
    single = propagate(tiny_graph.support, asymmetric_weights.float(), hidden.float())
    assert single.dtype == torch.float32
    double = propagate(tiny_graph.support, asymmetric_weights, hidden)
    torch.testing.assert_close(single.double(), double, rtol=1e-5, atol=1e-5)


def test_product_follows_nodes_when_they_are_renumbered(tiny_graph, hidden, order):
    after = tiny_graph.renumbered(order)
    product = propagate(tiny_graph.support, tiny_graph.weights, hidden)
    renumbered = propagate(after.support, after.weights, hidden[order])
    torch.testing.assert_close(renumbered, product[order])


@pytest.mark.parametrize("block_values", [1, 3 * N_FEATURES, 2**22])
def test_dots_on_edges_and_their_gradients_equal_the_dense_product(
    tiny_graph, asymmetric_weights, hidden, incoming, monkeypatch, block_values
):
    monkeypatch.setattr(sparse_product, "BLOCK_VALUES", block_values)
    left, right = hidden.requires_grad_(), incoming.requires_grad_()
    dots = dot_on_edges(tiny_graph.support, left, right)
    dense_dots = tiny_graph.on_edges(left @ right.T)
    torch.testing.assert_close(dots, dense_dots)
    gradients = torch.autograd.grad(dots, (left, right), asymmetric_weights)
    expected = torch.autograd.grad(dense_dots, (left, right), asymmetric_weights)
    torch.testing.assert_close(gradients, expected)


def test_dots_on_edges_pass_gradcheck(tiny_graph, hidden, incoming):
    assert torch.autograd.gradcheck(
        lambda left, right: dot_on_edges(tiny_graph.support, left, right),
        (hidden.requires_grad_(), incoming.requires_grad_()),
    )


def test_fixed_sparse_matrix_multiplies_as_its_dense_form(generator):
    dense, stored_sparse = sparse_features(generator)
    weight = torch.randn(30, 4, generator=generator, dtype=torch.float64).requires_grad_()
    incoming = torch.randn(N_NODES, 4, generator=generator, dtype=torch.float64)
    product, expected = multiply_fixed(stored_sparse, weight), multiply_fixed(dense, weight)
    torch.testing.assert_close(product, expected)
    torch.testing.assert_close(
        torch.autograd.grad(product, weight, incoming),
        torch.autograd.grad(expected, weight, incoming),
    )
