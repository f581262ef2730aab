"""The network against the dense reference, and the effect of each option."""

from dataclasses import dataclass

import dense_reference
import numpy as np
import pytest
import torch
from dense_reference import DenseMGCNDNS
from scipy import sparse
from torch import Tensor

from manyview.graphs.knn_graph import knn_graph
from manyview.graphs.normalization import renormalize
from manyview.graphs.support import GraphSupport
from manyview.layers.fusion import GraphFusion
from manyview.layers.graph_convolution import GraphConvolution
from manyview.layers.graph_learning import EdgeGraphLearning, FactorGraphLearning
from manyview.layers.node_selection import NodeSelection, TopKSelection
from manyview.network.mgcn_dns import MGCNDNS

N_NODES, N_VIEWS, N_CLASSES = 30, 3, 4
GAMMA, TEMPERATURE = 0.7, 0.4


@dataclass(frozen=True)
class Case:
    """View graphs, on their support and dense, with features and the dense reference."""

    support: GraphSupport
    view_weights: Tensor  # [pair, view]
    view_graphs: Tensor  # [view, node, node]
    features: Tensor
    dense: DenseMGCNDNS

    def on_pairs(self, matrix: Tensor) -> Tensor:
        return torch.cat([self.above_diagonal(matrix), matrix.diagonal()])

    def above_diagonal(self, matrix: Tensor) -> Tensor:
        return matrix[self.support.upper_rows, self.support.upper_columns]


def make_case(views: list[np.ndarray], dense: DenseMGCNDNS) -> Case:
    graphs = [renormalize(knn_graph(view, n_neighbors=4)) for view in views]
    support = GraphSupport.from_graphs(graphs)
    return Case(
        support,
        torch.stack([support.weights_of(graph) for graph in graphs], dim=1),
        torch.stack([torch.from_numpy(graph.toarray()) for graph in graphs]),
        torch.from_numpy(np.concatenate(views, axis=1)),
        dense,
    )


@pytest.fixture
def views(rng):
    return [rng.normal(size=(N_NODES, width)) for width in (3, 4, 5)]


def dense_network(hidden_widths=(8,)) -> DenseMGCNDNS:
    widths = [12, *hidden_widths, N_CLASSES]
    with torch.random.fork_rng():
        torch.manual_seed(0)
        dense = DenseMGCNDNS(N_NODES, N_VIEWS, widths, GAMMA, TEMPERATURE).double()
        dense.mixing_logits.data = torch.randn(N_VIEWS, N_VIEWS, dtype=torch.float64)
    dense.raw_threshold.data.fill_(-1.0)  # high enough to remove edges
    return dense


@pytest.fixture
def case(views):
    return make_case(views, dense_network())


def factor_learning(case: Case) -> FactorGraphLearning:
    layer = FactorGraphLearning(N_NODES, N_NODES, GAMMA)
    layer.left_factor.data = case.dense.left_factor.detach().clone()
    layer.right_factor.data = case.dense.right_factor.detach().clone()
    return layer


def edge_learning(case: Case) -> EdgeGraphLearning:
    left, right = case.dense.left_factor.detach(), case.dense.right_factor.detach()
    layer = EdgeGraphLearning(case.support.n_undirected, GAMMA)
    layer.magnitude.data = case.above_diagonal(left @ right.T - right @ left.T)
    return layer


def node_selection(case: Case) -> NodeSelection:
    layer = NodeSelection(TEMPERATURE)
    layer.raw_threshold.data = case.dense.raw_threshold.detach().clone()
    return layer


def network_of(case: Case, graph_learning=None, node_selection=None, dropout=0.5) -> MGCNDNS:
    """Build the network with the weights of the dense reference."""
    convolutions = [GraphConvolution(*weight.shape) for weight in case.dense.weights]
    for layer, weight in zip(convolutions, case.dense.weights, strict=True):
        layer.weight.data = weight.detach().clone()
    fusion = GraphFusion(N_VIEWS)
    fusion.logits.data = case.dense.mixing_logits.detach().clone()
    network = MGCNDNS(fusion, graph_learning, node_selection, convolutions, dropout)
    return network.double().eval()


def logits_of(network: MGCNDNS, case: Case) -> Tensor:
    return network(case.support, case.view_weights, case.features)


def loss_of(logits: Tensor) -> Tensor:
    labels = torch.arange(10) % N_CLASSES
    return torch.nn.functional.cross_entropy(logits[:10], labels)


def assert_equal(actual: Tensor, expected: Tensor) -> None:
    torch.testing.assert_close(actual, expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("learning", [factor_learning, edge_learning])
def test_graphs_and_logits_equal_the_dense_reference(case, learning):
    network = network_of(case, learning(case), node_selection(case))
    graphs = network.graphs(case.support, case.view_weights)
    for graph, dense_graph in zip(graphs, case.dense.graphs(case.view_graphs), strict=True):
        assert_equal(graph, case.on_pairs(dense_graph))
        assert case.support.matrix_of(graph).nnz == np.count_nonzero(dense_graph.detach())
    assert (graphs.selected == 0).any(), "the threshold removes edges here"
    assert_equal(logits_of(network, case), case.dense(case.view_graphs, case.features))


@pytest.mark.parametrize("hidden_widths", [(), (8,), (8, 5)], ids=["1", "2", "3 layers"])
def test_gradients_equal_those_of_the_dense_reference(views, hidden_widths):
    case = make_case(views, dense_network(hidden_widths))
    network = network_of(case, factor_learning(case), node_selection(case))
    logits, dense_logits = logits_of(network, case), case.dense(case.view_graphs, case.features)
    assert_equal(logits, dense_logits)
    loss_of(logits).backward()
    loss_of(dense_logits).backward()
    pairs = [
        (network.fusion.logits, case.dense.mixing_logits),
        (network.graph_learning.left_factor, case.dense.left_factor),
        (network.graph_learning.right_factor, case.dense.right_factor),
        (network.node_selection.raw_threshold, case.dense.raw_threshold),
        *((c.weight, w) for c, w in zip(network.convolutions, case.dense.weights, strict=True)),
    ]
    assert len(pairs) == len(list(network.parameters())) == len(list(case.dense.parameters()))
    for parameter, dense_parameter in pairs:
        assert dense_parameter.grad.abs().max() > 0
        assert_equal(parameter.grad, dense_parameter.grad)


def test_edge_gradients_equal_those_of_the_dense_reference_on_the_skew_values(case):
    network = network_of(case, edge_learning(case), node_selection(case))
    loss_of(logits_of(network, case)).backward()
    left, right = case.dense.left_factor.detach(), case.dense.right_factor.detach()
    skew = (left @ right.T - right @ left.T).requires_grad_()
    refined = dense_reference.fuse(case.view_graphs, case.dense.mixing_logits) * torch.sigmoid(
        GAMMA * skew.abs()
    )
    selected = dense_reference.select(refined, case.dense.raw_threshold, TEMPERATURE)
    loss_of(case.dense.convolve(selected, case.features)).backward()
    both_directions = case.above_diagonal(skew.grad - skew.grad.T)
    assert_equal(network.graph_learning.magnitude.grad, both_directions)


def test_every_output_follows_samples_when_they_are_renumbered(views, case, rng):
    order = torch.from_numpy(rng.permutation(N_NODES))
    renumbered_dense = dense_network()
    for name in ("left_factor", "right_factor"):
        getattr(renumbered_dense, name).data = getattr(case.dense, name).data[order]
    after = make_case([view[order.numpy()] for view in views], renumbered_dense)
    for learning in (factor_learning, edge_learning):
        network = network_of(case, learning(case), node_selection(case))
        renumbered = network_of(after, learning(after), node_selection(after))
        for graph, renumbered_graph in zip(
            network.graphs(case.support, case.view_weights),
            renumbered.graphs(after.support, after.view_weights),
            strict=True,
        ):
            dense = torch.from_numpy(case.support.matrix_of(graph).toarray())
            assert_equal(renumbered_graph, after.on_pairs(dense[order][:, order]))
        assert_equal(logits_of(renumbered, after), logits_of(network, case)[order])


def test_network_without_both_modules_is_a_plain_convolution_of_the_fused_graph(case):
    network = network_of(case)
    graphs = network.graphs(case.support, case.view_weights)
    assert graphs.selected is graphs.refined is graphs.fused
    fused = dense_reference.fuse(case.view_graphs, case.dense.mixing_logits)
    assert_equal(logits_of(network, case), case.dense.convolve(fused, case.features))


def test_network_without_node_selection_convolves_the_refined_graph(case):
    network = network_of(case, factor_learning(case))
    graphs = network.graphs(case.support, case.view_weights)
    assert graphs.selected is graphs.refined
    _, refined, _ = case.dense.graphs(case.view_graphs)
    assert_equal(logits_of(network, case), case.dense.convolve(refined, case.features))


def test_network_without_graph_learning_selects_from_the_fused_graph(case):
    network = network_of(case, None, node_selection(case))
    graphs = network.graphs(case.support, case.view_weights)
    assert graphs.refined is graphs.fused
    fused = dense_reference.fuse(case.view_graphs, case.dense.mixing_logits)
    selected = dense_reference.select(fused, case.dense.raw_threshold, TEMPERATURE)
    assert_equal(logits_of(network, case), case.dense.convolve(selected, case.features))


def test_network_with_top_k_selection_convolves_a_directed_graph(case):
    network = network_of(case, edge_learning(case), TopKSelection(3))
    selected = network.graphs(case.support, case.view_weights).selected
    assert (case.support.matrix_of(selected).astype(bool).sum(axis=1) == 3).all()
    dense = torch.from_numpy(case.support.matrix_of(selected).toarray())
    assert_equal(logits_of(network, case), case.dense.convolve(dense, case.features))


def test_center_is_subtracted_from_the_features(case):
    network = network_of(case, edge_learning(case), node_selection(case))
    center = case.features.mean(dim=0)
    logits = network(case.support, case.view_weights, case.features, center)
    assert_equal(logits, case.dense(case.view_graphs, case.features - center))


def test_outputs_are_those_of_each_layer(views):
    case = make_case(views, dense_network((8, 5)))
    network = network_of(case)
    graph = network.graphs(case.support, case.view_weights).selected
    outputs = network.outputs(case.support, graph, case.features)
    assert [tuple(output.shape) for output in outputs] == [(N_NODES, 8), (N_NODES, 5), (N_NODES, 4)]
    assert_equal(outputs[-1], logits_of(network, case))


@pytest.mark.parametrize("hidden_widths", [(), (8,), (8, 5)], ids=["1", "2", "3 layers"])
def test_places_of_the_samples_change_nothing(views, hidden_widths):
    case = make_case(views, dense_network(hidden_widths))
    network = network_of(case, None, node_selection(case))
    graphs = [sparse.csr_array(graph.numpy()) for graph in case.view_graphs]
    support = GraphSupport.from_graphs(graphs, is_reordered=True)
    assert support.order.tolist() != list(range(N_NODES))
    weights = torch.stack([support.weights_of(graph) for graph in graphs], dim=1)
    placed = network(support, weights, case.features)
    assert_equal(placed, logits_of(network, case))
    parameters = list(network.parameters())
    found = torch.autograd.grad(loss_of(placed), parameters)
    expected = torch.autograd.grad(loss_of(logits_of(network, case)), parameters)
    for one, other in zip(found, expected, strict=True):
        assert_equal(one, other)
    graph = network.graphs(support, weights).selected
    own_graph = network.graphs(case.support, case.view_weights).selected
    outputs = network.outputs(support, graph, case.features)
    own_outputs = network.outputs(case.support, own_graph, case.features)
    for one, other in zip(outputs, own_outputs, strict=True):
        assert_equal(one, other)


def test_dropout_is_off_outside_training(case):
    network = network_of(case, edge_learning(case), node_selection(case), dropout=0.5)
    at_rest = logits_of(network, case)
    assert torch.equal(logits_of(network, case), at_rest)
    network.train()
    assert not torch.allclose(logits_of(network, case), at_rest)
    network.eval()
    assert torch.equal(logits_of(network, case), at_rest)


def test_dropout_is_drawn_from_the_given_generator(case):
    network = network_of(case, edge_learning(case), node_selection(case)).train()

    def draw(seed):
        generator = torch.Generator().manual_seed(seed)
        return network(case.support, case.view_weights, case.features, generator=generator)

    assert torch.equal(draw(0), draw(0))
    assert not torch.equal(draw(0), draw(1))


def test_training_without_dropout_equals_prediction(case):
    network = network_of(case, edge_learning(case), node_selection(case), dropout=0.0)
    at_rest = logits_of(network, case)
    assert torch.equal(logits_of(network.train(), case), at_rest)


def test_float32_stays_near_float64(case):
    network = network_of(case, edge_learning(case), node_selection(case))
    exact = logits_of(network, case)
    single = network.float()(case.support, case.view_weights.float(), case.features.float())
    torch.testing.assert_close(single.double(), exact, rtol=1e-5, atol=1e-5)
