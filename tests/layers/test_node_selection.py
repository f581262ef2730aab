"""Node selection, Eq. (11) and (13)-(16), and the top-k of Algorithm 1."""

import pytest
import torch
from scipy import sparse

from manyview.graphs.support import GraphSupport
from manyview.layers import node_selection
from manyview.layers.node_selection import (
    NodeSelection,
    TopKSelection,
    edge_confidence,
    keep_largest,
    mean_edge_weight,
    node_confidence,
    select_edges,
)
from manyview.layers.ranking.ranking import discounted_gain

N_NODES = 9


def literal_mean_edge_weight(matrix):
    """Loop over Eq. (11)."""
    means = []
    for j in range(N_NODES):
        nonzero = [float(matrix[i, j]) for i in range(N_NODES) if matrix[i, j] != 0]
        means.append(sum(nonzero) / len(nonzero))
    return torch.tensor(means, dtype=torch.float64)


def literal_selection(matrix, gain, threshold):
    """Loop over Eq. (13)-(16) on the whole matrix, the gain given."""
    gain = gain.tolist()
    confidence = [(value - min(gain)) / (max(gain) - min(gain)) for value in gain]
    nodes = range(N_NODES)
    surplus = [
        [max(0.0, (confidence[i] + confidence[j]) / 2 - threshold) for j in nodes] for i in nodes
    ]
    largest = max(max(row) for row in surplus)
    selected = [[float(matrix[i, j]) * surplus[i][j] / largest for j in nodes] for i in nodes]
    return torch.tensor(selected, dtype=torch.float64)


def selection_layer(threshold, **options):
    return NodeSelection(initial_threshold=threshold, **options).double()


def test_mean_edge_weight_equals_a_literal_loop(tiny_graph):
    means = mean_edge_weight(tiny_graph.support, tiny_graph.weights)
    torch.testing.assert_close(means, literal_mean_edge_weight(tiny_graph.matrix))


def test_mean_edge_weight_takes_columns_and_skips_zeros(tiny_graph, generator):
    weights = tiny_graph.weights * torch.rand(tiny_graph.support.n_pairs, generator=generator)
    weights[: tiny_graph.support.n_undirected : 3] = 0
    means = mean_edge_weight(tiny_graph.support, weights)
    torch.testing.assert_close(means, literal_mean_edge_weight(tiny_graph.dense(weights)))


def test_mean_edge_weight_of_a_node_without_weight_is_zero(tiny_graph):
    weights = torch.zeros(tiny_graph.support.n_pairs)
    assert torch.equal(mean_edge_weight(tiny_graph.support, weights), torch.zeros(N_NODES))


@pytest.mark.parametrize("rank_axis", ["rows", "as-printed"])
@pytest.mark.parametrize("threshold", [0.007, 0.3, 0.8])
def test_selected_graph_equals_a_literal_loop(tiny_graph, threshold, rank_axis):
    layer = selection_layer(threshold, temperature=0.3, rank_axis=rank_axis)
    selected = tiny_graph.dense(layer(tiny_graph.support, tiny_graph.weights))
    gain = discounted_gain(literal_mean_edge_weight(tiny_graph.matrix), 0.3, rank_axis)
    expected = literal_selection(tiny_graph.matrix, gain, layer.threshold.item())
    torch.testing.assert_close(selected, expected)
    if threshold == 0.8:
        assert (selected == 0).sum() > (tiny_graph.matrix == 0).sum()


def test_confidence_spans_zero_to_one(generator):
    confidence = node_confidence(torch.rand(40, generator=generator), temperature=0.5)
    assert confidence.min() == 0
    assert confidence.max() == 1


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("n_nodes", [1, 2, 7, 64, 1001])
def test_confidence_is_one_when_all_scores_are_equal(n_nodes, dtype):
    scores = torch.full((n_nodes,), 0.1, dtype=dtype)
    for temperature in (0.01, 1.0, 10.0):
        confidence = node_confidence(scores, temperature)
        assert torch.equal(confidence, torch.ones(n_nodes, dtype=dtype))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_confidence_is_one_when_scores_differ_by_rounding_alone(generator, dtype):
    noise = torch.finfo(dtype).eps * torch.randint(-2, 3, (3000,), generator=generator)
    scores = 0.05 * (1 + noise.to(dtype))
    assert scores.unique().numel() > 1
    assert (node_confidence(scores, temperature=0.01) == 1).all()


def test_two_nodes_get_confidence_one_and_zero():
    assert node_confidence(torch.tensor([0.2, 0.7]), temperature=1.0).tolist() == [0.0, 1.0]


def test_equal_scores_get_equal_confidence():
    confidence = node_confidence(torch.tensor([0.5, 0.1, 0.5, 0.9, 0.1]), temperature=0.2)
    torch.testing.assert_close(confidence[[0, 1]], confidence[[2, 4]])


def test_vanishing_temperature_orders_confidence_as_the_scores(generator):
    scores = torch.rand(20, generator=generator, dtype=torch.float64)
    confidence = node_confidence(scores, temperature=1e-7)
    assert torch.equal(confidence.argsort(), scores.argsort())


def test_edge_confidence_is_the_mean_of_both_ends(tiny_graph, generator):
    confidence = torch.rand(N_NODES, generator=generator, dtype=torch.float64)
    of_edges = tiny_graph.dense(edge_confidence(tiny_graph.support, confidence))
    for i, j in tiny_graph.matrix.nonzero().tolist():
        assert of_edges[i, j].item() == pytest.approx((confidence[i] + confidence[j]).item() / 2)


def test_selected_graph_stays_symmetric_and_never_grows(tiny_graph):
    support, weights = tiny_graph.support, tiny_graph.weights
    selected = selection_layer(0.4)(support, weights)
    matrix = tiny_graph.dense(selected)
    torch.testing.assert_close(matrix, matrix.T, rtol=0, atol=0)
    assert (selected >= 0).all()
    assert (selected <= weights).all()
    assert (selected == weights).any(), "the most confident node keeps its self-loop whole"


def test_selected_graph_follows_nodes_when_they_are_renumbered(tiny_graph, order):
    layer, after = selection_layer(0.2), tiny_graph.renumbered(order)
    before = tiny_graph.dense(layer(tiny_graph.support, tiny_graph.weights))
    renumbered = after.dense(layer(after.support, after.weights))
    torch.testing.assert_close(renumbered, before[order][:, order])


@pytest.mark.parametrize("threshold", [0.2, 0.8])
def test_places_of_the_samples_change_no_selection(tiny_graph, threshold):
    graph = sparse.csr_array(tiny_graph.matrix.numpy())
    reordered = GraphSupport.from_graphs([graph], is_reordered=True)
    layer = selection_layer(threshold)
    found = []
    for support in (tiny_graph.support, reordered):
        weights = support.weights_of(graph).requires_grad_()
        selected = layer(support, weights)
        gradients = torch.autograd.grad(selected.square().sum(), (weights, layer.raw_threshold))
        matrices = (support.matrix_of(one).toarray() for one in (selected, gradients[0]))
        confidence = layer.confidence(support, weights.detach()).detach()
        found.append((*(torch.from_numpy(one) for one in matrices), gradients[1], confidence))
    torch.testing.assert_close(found[0], found[1])
    assert reordered.order is not None


def test_selected_graph_as_printed_depends_on_how_nodes_are_numbered(tiny_graph, order):
    layer, after = selection_layer(0.2, rank_axis="as-printed"), tiny_graph.renumbered(order)
    before = tiny_graph.dense(layer(tiny_graph.support, tiny_graph.weights))
    renumbered = after.dense(layer(after.support, after.weights))
    assert not torch.allclose(renumbered, before[order][:, order], atol=0.01)


def test_graph_is_unchanged_when_all_nodes_score_the_same(tiny_graph):
    weights = torch.full((tiny_graph.support.n_pairs,), 0.25)
    selected = NodeSelection(initial_threshold=0.5)(tiny_graph.support, weights)
    torch.testing.assert_close(selected, weights)


@pytest.mark.parametrize("threshold", [1 - 1e-9, 1.0, 2.0])
def test_threshold_at_its_limit_keeps_the_most_confident_edges_alone(tiny_graph, threshold):
    support, matrix = tiny_graph.support, tiny_graph.matrix
    i, j = support.upper_rows[0].item(), support.upper_columns[0].item()
    confidence = torch.linspace(0.2, 0.9, N_NODES, dtype=torch.float64)
    confidence[[i, j]] = 1.0
    threshold = torch.tensor(threshold, dtype=torch.float64)
    selected = tiny_graph.dense(select_edges(support, tiny_graph.weights, confidence, threshold))
    expected = torch.zeros_like(matrix)
    for a in (i, j):
        for b in (i, j):
            expected[a, b] = matrix[a, b]
    torch.testing.assert_close(selected, expected)


def test_saturated_threshold_still_leaves_a_graph_to_learn_from(tiny_graph):
    layer = NodeSelection()
    layer.raw_threshold.data.fill_(100.0)  # sigmoid is exactly 1
    weights = tiny_graph.weights.float().requires_grad_()
    selected = layer(tiny_graph.support, weights)
    assert selected.isfinite().all()
    assert selected.sum() > 0
    (gradient,) = torch.autograd.grad(selected.sum(), weights)
    assert gradient.isfinite().all()


def test_threshold_starts_at_its_initial_value():
    assert NodeSelection(initial_threshold=0.3).threshold.item() == pytest.approx(0.3)


def test_selected_edges_pass_gradcheck_for_graph_confidence_and_threshold(tiny_graph, generator):
    support = tiny_graph.support
    confidence = torch.rand(N_NODES, generator=generator, dtype=torch.float64).requires_grad_()
    threshold = torch.tensor(0.35, dtype=torch.float64).requires_grad_()
    weights = tiny_graph.weights.requires_grad_()
    selected = select_edges(support, weights, confidence, threshold)
    assert 0 < (selected == 0).sum() < support.n_pairs
    assert torch.autograd.gradcheck(
        lambda *inputs: select_edges(support, *inputs), (weights, confidence, threshold)
    )


@pytest.mark.parametrize("rank_axis", ["rows", "as-printed"])
def test_selection_passes_gradcheck(tiny_graph, rank_axis):
    layer = selection_layer(0.1, temperature=0.5, rank_axis=rank_axis)
    weights = tiny_graph.weights.requires_grad_()

    def selected(weights, raw_threshold):
        named = {"raw_threshold": raw_threshold}
        return torch.func.functional_call(layer, named, (tiny_graph.support, weights))

    raw_threshold = layer.raw_threshold.detach().clone().requires_grad_()
    assert torch.autograd.gradcheck(selected, (weights, raw_threshold))


@pytest.mark.parametrize("n_kept", [1, 2, 4, N_NODES + 1])
def test_keep_largest_equals_a_literal_loop_over_algorithm_1(tiny_graph, n_kept):
    matrix = tiny_graph.matrix
    expected = torch.zeros_like(matrix)
    for i in range(N_NODES):
        ranked = sorted(range(N_NODES), key=lambda j: (-matrix[i, j].item(), j))
        for j in ranked[:n_kept]:
            expected[i, j] = matrix[i, j]
    kept = keep_largest(tiny_graph.support, tiny_graph.weights, n_kept)
    torch.testing.assert_close(tiny_graph.dense(kept), expected, rtol=0, atol=0)


def test_keep_largest_keeps_the_lower_column_among_equals(tiny_graph):
    support = tiny_graph.support
    kept = keep_largest(support, torch.ones(support.n_pairs), 1)
    first = support.columns[support.row_starts[:-1]]
    assert torch.equal(support.columns[kept > 0], first)


def test_top_k_selection_passes_gradients_through_kept_edges_alone(tiny_graph):
    weights = tiny_graph.weights.requires_grad_()
    kept = TopKSelection(2)(tiny_graph.support, weights)
    (gradient,) = torch.autograd.grad(kept.sum(), weights)
    is_kept = tiny_graph.dense((kept > 0).double())
    torch.testing.assert_close(
        gradient, tiny_graph.on_pairs(is_kept + is_kept.T - torch.diag(is_kept.diagonal()))
    )


def test_gains_are_scaled_to_one_with_the_gradient_of_the_formula(generator):
    gain = torch.rand(30, generator=generator, dtype=torch.float64)
    gain[[3, 11]], gain[[4, 7, 20]] = 1.5, -0.5  # ties at both ends
    incoming = torch.randn(30, generator=generator, dtype=torch.float64)
    gain.requires_grad_()
    lowest, highest = gain.aminmax()
    expected = (gain - lowest) / (highest - lowest)
    scaled = node_selection._ScaleToOne.apply(gain)
    assert torch.equal(scaled, expected)
    torch.testing.assert_close(
        torch.autograd.grad(scaled, gain, incoming), torch.autograd.grad(expected, gain, incoming)
    )
    apart = torch.rand(30, generator=generator, dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(node_selection._ScaleToOne.apply, apart)
