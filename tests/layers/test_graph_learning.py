"""Graph learning, Eq. (8)."""

from math import exp

import pytest
import torch

from manyview.graphs.knn_graph import knn_graph
from manyview.graphs.support import GraphSupport
from manyview.layers.graph_learning import (
    EdgeGraphLearning,
    FactorGraphLearning,
    edge_gates,
    shrink_edges,
)
from manyview.layers.sparse_product import skew_products

N_NODES = 9


@pytest.fixture
def factors(generator):
    return torch.randn(2, N_NODES, N_NODES, generator=generator, dtype=torch.float64)


def literal_gates(left_factor, right_factor, gamma):
    """Loop over sigmoid(gamma |S1 S2^T - S2 S1^T|), Eq. (8)."""
    gates = torch.zeros(N_NODES, N_NODES, dtype=torch.float64)
    rank = left_factor.shape[1]
    for i in range(N_NODES):
        for j in range(N_NODES):
            skew = 0.0
            for r in range(rank):
                skew += float(left_factor[i, r] * right_factor[j, r])
                skew -= float(right_factor[i, r] * left_factor[j, r])
            gates[i, j] = 1 / (1 + exp(-gamma * abs(skew)))
    return gates


def factor_layer(left_factor, right_factor, gamma=1.0):
    layer = FactorGraphLearning(N_NODES, left_factor.shape[1], gamma).double()
    layer.left_factor.data, layer.right_factor.data = left_factor, right_factor
    return layer


def edge_layer(support, skew_matrix, gamma=1.0):
    """Give each undirected edge (i < j) its value of a skew-symmetric matrix."""
    layer = EdgeGraphLearning(support.n_undirected, gamma).double()
    layer.magnitude.data = skew_matrix[support.upper_rows, support.upper_columns]
    return layer


@pytest.mark.parametrize("rank", [1, 3, N_NODES])
def test_factor_gates_equal_a_literal_loop(tiny_graph, factors, rank):
    left, right = factors[..., :rank]
    layer = factor_layer(left, right, gamma=0.7)
    gates = literal_gates(left, right, gamma=0.7)
    torch.testing.assert_close(layer.gates(tiny_graph.support), tiny_graph.on_pairs(gates))
    torch.testing.assert_close(
        tiny_graph.dense(layer(tiny_graph.support, tiny_graph.weights)), tiny_graph.matrix * gates
    )


def test_edge_parameters_equal_full_factors_of_the_same_skew_values(tiny_graph, factors):
    support, (left, right) = tiny_graph.support, factors
    skew_matrix = left @ right.T - right @ left.T
    full, edge = factor_layer(left, right, 1.3), edge_layer(support, skew_matrix, 1.3)
    torch.testing.assert_close(edge.magnitude.detach(), skew_products(support, left, right))
    torch.testing.assert_close(edge.gates(support), full.gates(support))
    torch.testing.assert_close(edge(support, tiny_graph.weights), full(support, tiny_graph.weights))


def test_any_edge_values_are_reached_by_full_factors(tiny_graph):
    support = tiny_graph.support
    edge = EdgeGraphLearning(support.n_undirected).double()
    upper = torch.zeros(N_NODES, N_NODES, dtype=torch.float64)
    upper[support.upper_rows, support.upper_columns] = edge.magnitude.detach()
    skew_matrix = upper - upper.T
    full = factor_layer(skew_matrix / 2, torch.eye(N_NODES, dtype=torch.float64))
    torch.testing.assert_close(full.gates(support), edge.gates(support))


@pytest.mark.parametrize("kind", ["edge", "factor"])
def test_refined_graph_stays_symmetric_and_shrinks_by_half_at_most(tiny_graph, kind):
    support, weights = tiny_graph.support, tiny_graph.weights
    if kind == "edge":
        layer = EdgeGraphLearning(support.n_undirected).double()
    else:
        layer = FactorGraphLearning(N_NODES, 4).double()
    refined = layer(support, weights)
    matrix = tiny_graph.dense(refined)
    torch.testing.assert_close(matrix, matrix.T, rtol=0, atol=0)
    assert (refined >= 0.5 * weights).all()
    assert (refined < weights).all()


def test_vanishing_gamma_halves_every_edge(tiny_graph, factors):
    gates = factor_layer(*factors, gamma=1e-14).gates(tiny_graph.support)
    torch.testing.assert_close(gates, torch.full_like(gates, 0.5))


def test_large_gamma_leaves_edges_whole_and_halves_self_loops(tiny_graph, factors):
    support = tiny_graph.support
    gates = factor_layer(*factors, gamma=1e6).gates(support)
    expected = torch.where(torch.arange(support.n_pairs) < support.n_undirected, 1.0, 0.5).double()
    torch.testing.assert_close(gates, expected)


def test_gate_rises_with_the_magnitude(tiny_graph):
    support = tiny_graph.support
    magnitude = torch.arange(support.n_undirected) / 2 * (-1) ** torch.arange(support.n_undirected)
    gates = edge_gates(support, magnitude, gamma=0.5)[: support.n_undirected]
    assert (gates.diff() > 0).all()
    assert gates[0] == 0.5


def test_sigmoid_starts_with_an_argument_of_standard_deviation_one(generator):
    features = torch.randn(150, 3, generator=generator).numpy()
    support = GraphSupport.from_graphs([knn_graph(features, n_neighbors=10)])
    with torch.random.fork_rng():
        torch.manual_seed(0)
        full = FactorGraphLearning(150, 150)
        edge = EdgeGraphLearning(support.n_undirected)
    for skew in (
        skew_products(support, full.left_factor, full.right_factor),
        edge.magnitude,
    ):
        assert skew.square().mean().sqrt().item() == pytest.approx(1, abs=0.1)


def test_refined_graph_follows_nodes_when_they_are_renumbered(tiny_graph, factors, order):
    left, right = factors
    skew_matrix = left @ right.T - right @ left.T
    after = tiny_graph.renumbered(order)
    for before_layer, after_layer in (
        (factor_layer(left, right), factor_layer(left[order], right[order])),
        (
            edge_layer(tiny_graph.support, skew_matrix),
            edge_layer(after.support, skew_matrix[order][:, order]),
        ),
    ):
        refined = tiny_graph.dense(before_layer(tiny_graph.support, tiny_graph.weights))
        renumbered = after.dense(after_layer(after.support, after.weights))
        torch.testing.assert_close(renumbered, refined[order][:, order])


@pytest.mark.parametrize("rank", [2, N_NODES])
def test_graph_shrunk_by_factors_passes_gradcheck(tiny_graph, factors, rank):
    left, right = (factor[:, :rank].clone().requires_grad_() for factor in factors)
    support = tiny_graph.support
    assert torch.autograd.gradcheck(
        lambda graph, s1, s2: shrink_edges(support, graph, skew_products(support, s1, s2), 0.8),
        (tiny_graph.weights.requires_grad_(), left, right),
    )


@pytest.mark.parametrize("requested", ["graph", "magnitude", "both"])
def test_graph_shrunk_by_edges_passes_gradcheck(tiny_graph, generator, requested):
    support, graph = tiny_graph.support, tiny_graph.weights
    magnitude = torch.randn(support.n_undirected, generator=generator, dtype=torch.float64)
    graph.requires_grad_(requested != "magnitude")
    magnitude.requires_grad_(requested != "graph")
    assert torch.autograd.gradcheck(
        lambda graph, values: shrink_edges(support, graph, values, 0.8), (graph, magnitude)
    )
    shrunk = shrink_edges(support, graph, magnitude, 0.8)
    torch.testing.assert_close(shrunk, graph * edge_gates(support, magnitude.detach(), 0.8))
