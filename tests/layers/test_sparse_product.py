"""Sparse products and their gradients, against dense autograd."""

from dataclasses import fields

import numpy as np
import pytest
import torch
from scipy import sparse

from manyview.graphs.support import GraphSupport
from manyview.layers import sparse_product
from manyview.layers.sparse_product import (
    by_place,
    by_sample,
    csr_tensor,
    multiply_fixed,
    multiply_rows,
    propagate,
    skew_products,
    sum_at_nodes,
)

N_NODES = 9
N_FEATURES = 5
NUMBERS = [field.name for field in fields(GraphSupport) if field.type is torch.Tensor]


@pytest.fixture
def asymmetric_weights(tiny_graph, generator):
    return torch.randn(tiny_graph.support.n_edges, generator=generator, dtype=torch.float64)


@pytest.fixture
def hidden(generator):
    return torch.randn(N_NODES, N_FEATURES, generator=generator, dtype=torch.float64)


@pytest.fixture
def incoming(generator):
    return torch.randn(N_NODES, N_FEATURES, generator=generator, dtype=torch.float64)


@pytest.fixture
def factors(hidden, incoming):
    return hidden.requires_grad_(), incoming.requires_grad_()


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


def rows_left(incoming, n_rows):
    """Keep the first rows of an incoming gradient, as a loss on few labeled samples does."""
    return incoming * (torch.arange(N_NODES) < n_rows)[:, None]


@pytest.mark.parametrize("n_rows", [0, 1, 4, 5, N_NODES])
@pytest.mark.parametrize("is_symmetric", [True, False])
def test_gradients_equal_those_of_the_dense_product(
    tiny_graph, asymmetric_weights, hidden, incoming, is_symmetric, n_rows
):
    weights = (tiny_graph.weights if is_symmetric else asymmetric_weights).requires_grad_()
    hidden.requires_grad_()
    incoming = rows_left(incoming, n_rows)
    product = propagate(tiny_graph.support, weights, hidden)
    dense_product = tiny_graph.dense(weights) @ hidden
    torch.testing.assert_close(product, dense_product)
    gradients = torch.autograd.grad(product, (weights, hidden), incoming)
    expected = torch.autograd.grad(dense_product, (weights, hidden), incoming)
    torch.testing.assert_close(gradients, expected)


@pytest.mark.parametrize("n_rows", [2, N_NODES])
def test_gradient_of_a_pair_is_a_literal_sum_over_its_directions(
    tiny_graph, hidden, incoming, n_rows
):
    support, incoming = tiny_graph.support, rows_left(incoming, n_rows)
    weights = tiny_graph.weights.requires_grad_()
    product = propagate(support, weights, hidden)
    (gradient,) = torch.autograd.grad(product, weights, incoming)
    expected = torch.zeros(support.n_pairs, dtype=torch.float64)
    for i, j, pair in zip(support.rows, support.columns, support.pairs, strict=True):
        expected[pair] += sum(incoming[i, f] * hidden[j, f] for f in range(N_FEATURES))
    torch.testing.assert_close(gradient, expected)


@pytest.mark.parametrize("n_columns", [1, 2, N_FEATURES])
def test_gradient_of_a_pair_does_not_depend_on_the_columns_at_a_time(
    tiny_graph, hidden, incoming, monkeypatch, n_columns
):
    support, weights = tiny_graph.support, tiny_graph.weights.requires_grad_()
    product = propagate(support, weights, hidden)
    (expected,) = torch.autograd.grad(product, weights, incoming, retain_graph=True)
    monkeypatch.setattr(sparse_product, "BLOCK_VALUES", 2 * n_columns * N_NODES)
    (found,) = torch.autograd.grad(product, weights, incoming)
    torch.testing.assert_close(found, expected)


def test_product_on_a_support_of_loops_alone_scales_the_rows(hidden):
    support = GraphSupport.from_graphs([sparse.csr_array((N_NODES, N_NODES))])
    weights = torch.arange(1.0, N_NODES + 1, dtype=torch.float64).requires_grad_()
    product = propagate(support, weights, hidden)
    torch.testing.assert_close(product, weights[:, None] * hidden)
    (gradient,) = torch.autograd.grad(product.sum(), weights)
    torch.testing.assert_close(gradient, hidden.sum(dim=1))


def test_product_takes_precomputed_edge_weights(tiny_graph, hidden, incoming):
    support, weights = tiny_graph.support, tiny_graph.weights.requires_grad_()
    laid_out = support.on_edges(weights.detach())
    once, again = propagate(support, weights, hidden, laid_out), propagate(support, weights, hidden)
    torch.testing.assert_close(once, again, rtol=0, atol=0)
    torch.testing.assert_close(
        torch.autograd.grad(once, weights, incoming), torch.autograd.grad(again, weights, incoming)
    )


def test_product_equals_that_with_numbers_of_64_bits(tiny_graph, hidden, incoming):
    wide = GraphSupport(*(getattr(tiny_graph.support, name).long() for name in NUMBERS))
    assert tiny_graph.support.columns.dtype == torch.int32
    for n_rows in (2, N_NODES):
        found = []
        for support in (tiny_graph.support, wide):
            weights = tiny_graph.weights.requires_grad_()
            product = propagate(support, weights, hidden)
            gradients = torch.autograd.grad(product, weights, rows_left(incoming, n_rows))
            found.append((product.detach(), *gradients))
        torch.testing.assert_close(found[0], found[1])


@pytest.mark.parametrize("kind", ["pairs", "edges"])
def test_product_passes_gradcheck(tiny_graph, asymmetric_weights, hidden, kind):
    weights = tiny_graph.weights if kind == "pairs" else asymmetric_weights
    assert torch.autograd.gradcheck(
        lambda weights, features: propagate(tiny_graph.support, weights, features),
        (weights.requires_grad_(), hidden.requires_grad_()),
    )


@pytest.mark.parametrize("requested", ["weights", "features"])
def test_product_computes_only_the_requested_gradient(
    tiny_graph, asymmetric_weights, hidden, requested
):
    (asymmetric_weights if requested == "weights" else hidden).requires_grad_()
    propagate(tiny_graph.support, asymmetric_weights, hidden).sum().backward()
    assert (asymmetric_weights.grad is None) == (requested == "features")
    assert (hidden.grad is None) == (requested == "weights")


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


def test_skew_products_and_their_gradients_equal_the_dense_ones(
    tiny_graph, hidden, incoming, generator
):
    support = tiny_graph.support
    left, right = hidden.requires_grad_(), incoming.requires_grad_()
    products = skew_products(support, left, right)
    dense = left @ right.T - right @ left.T
    expected = dense[support.upper_rows, support.upper_columns]
    torch.testing.assert_close(products, expected)
    coming = torch.randn(support.n_undirected, generator=generator, dtype=torch.float64)
    torch.testing.assert_close(
        torch.autograd.grad(products, (left, right), coming),
        torch.autograd.grad(expected, (left, right), coming),
    )


def test_skew_products_pass_gradcheck(tiny_graph, hidden, incoming):
    assert torch.autograd.gradcheck(
        lambda left, right: skew_products(tiny_graph.support, left, right),
        (hidden.requires_grad_(), incoming.requires_grad_()),
    )


def test_sum_at_nodes_adds_each_nodes_edges_and_passes_gradcheck(tiny_graph):
    support, weights = tiny_graph.support, tiny_graph.weights.requires_grad_()
    torch.testing.assert_close(sum_at_nodes(support, weights), tiny_graph.matrix.sum(dim=1))
    assert torch.autograd.gradcheck(lambda weights: sum_at_nodes(support, weights), weights)


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


@pytest.fixture
def reordered(tiny_graph):
    support = GraphSupport.from_graphs([sparse.csr_array(tiny_graph.matrix.numpy())], True)
    assert support.order.tolist() != list(range(N_NODES))
    return support


@pytest.mark.parametrize("kind", ["pairs", "edges"])
@pytest.mark.parametrize("n_rows", [2, N_NODES])
def test_places_of_the_samples_change_no_product_and_no_gradient(
    tiny_graph, reordered, asymmetric_weights, hidden, incoming, n_rows, kind
):
    incoming, hidden = rows_left(incoming, n_rows), hidden.requires_grad_()
    matrix = tiny_graph.matrix if kind == "pairs" else tiny_graph.dense(asymmetric_weights)
    placed = matrix[reordered.order][:, reordered.order]
    on_edges = placed[reordered.rows, reordered.columns].requires_grad_()
    weights = reordered.weights_of(sparse.csr_array(matrix.numpy())).requires_grad_()
    weights = weights if kind == "pairs" else on_edges
    product = propagate(reordered, weights, hidden)
    dense = matrix.requires_grad_()
    expected_product = dense @ hidden
    torch.testing.assert_close(product, expected_product)
    found = torch.autograd.grad(product, (weights, hidden), incoming)
    expected = torch.autograd.grad(expected_product, (dense, hidden), incoming)
    torch.testing.assert_close(found[1], expected[1])
    of_matrix = expected[0] + expected[0].T * (kind == "pairs")
    for number, (i, j) in enumerate(zip(reordered.rows, reordered.columns, strict=True)):
        a, b = reordered.order[i], reordered.order[j]
        entry = found[0][reordered.pairs[number] if kind == "pairs" else number]
        half = 0.5 if kind == "pairs" and a == b else 1.0
        assert entry.item() == pytest.approx((half * of_matrix[a, b]).item(), abs=1e-12)


def test_places_of_the_samples_change_no_sum_and_no_skew_product(tiny_graph, reordered, factors):
    weights = reordered.weights_of(sparse.csr_array(tiny_graph.matrix.numpy()))
    torch.testing.assert_close(sum_at_nodes(reordered, weights), tiny_graph.matrix.sum(dim=1))
    left, right = factors
    dense = left @ right.T - right @ left.T
    order = reordered.order
    expected = dense[order[reordered.upper_rows], order[reordered.upper_columns]]
    torch.testing.assert_close(skew_products(reordered, left, right), expected)
    assert torch.autograd.gradcheck(lambda x: sum_at_nodes(reordered, x), weights.requires_grad_())
    assert torch.autograd.gradcheck(lambda *both: skew_products(reordered, *both), (left, right))


def test_reordering_to_places_and_back_is_the_identity(reordered, hidden):
    placed = by_place(reordered, hidden)
    assert torch.equal(placed, hidden[reordered.order])
    assert torch.equal(by_sample(reordered, placed), hidden)
    hidden.requires_grad_()
    assert torch.autograd.gradcheck(lambda hidden: by_place(reordered, hidden), hidden)
    assert torch.autograd.gradcheck(lambda hidden: by_sample(reordered, hidden), hidden)


def test_product_of_placed_samples_is_that_of_their_places(tiny_graph, reordered, hidden):
    weights = reordered.weights_of(sparse.csr_array(tiny_graph.matrix.numpy()))
    product = propagate(reordered.placed, weights, by_place(reordered, hidden))
    torch.testing.assert_close(by_sample(reordered, product), tiny_graph.matrix @ hidden)
    assert reordered.placed.placed is reordered.placed


def test_products_on_torchs_threads_are_those_of_scipy(rng):
    graph = sparse.random_array((300, 200), density=0.05, rng=rng, format="csr")
    values = rng.normal(size=(200, 7))
    np.testing.assert_allclose(multiply_rows(graph, values), graph @ values, rtol=1e-12, atol=1e-14)
