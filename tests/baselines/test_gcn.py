"""GCN fusion: Z = A relu(A H W1) W2 on the mean of the views' renormalized graphs."""

import warnings

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from manyview.baselines.bases import graph_network
from manyview.baselines.gcn import GCN, GCNFusionClassifier, mean_graph
from manyview.data.network_input import fit_input
from manyview.data.views import MultiView
from manyview.graphs.normalization import renormalize
from manyview.graphs.prepare import prepare_views
from manyview.graphs.support import GraphSupport
from manyview.network.prepared import network_inputs
from manyview.network.training import TrainingCurve

with warnings.catch_warnings():  # its import calls what torch has deprecated
    warnings.simplefilter("ignore")
    from torch_geometric.nn import GCNConv
    from torch_geometric.utils import from_scipy_sparse_matrix

N_NODES, N_INPUTS, HIDDEN, N_CLASSES = 12, 5, 7, 3


def random_graph(rng):
    weights = np.triu(rng.random((N_NODES, N_NODES)) * (rng.random((N_NODES, N_NODES)) < 0.3), 1)
    return sparse.csr_array(weights + weights.T)


@pytest.fixture
def graphs(rng):
    return [random_graph(rng), random_graph(rng)]


@pytest.fixture
def features(rng):
    return torch.from_numpy(rng.normal(size=(N_NODES, N_INPUTS)))


@pytest.fixture
def network():
    return GCN(N_INPUTS, HIDDEN, N_CLASSES, dropout=0.5).double().eval()


def on_support(graphs):
    support = GraphSupport.from_graphs(graphs)
    return support, torch.stack([support.weights_of(graph) for graph in graphs], dim=1)


def fit_quickly(views, labels, **parameters):
    settings = {"max_epochs": 30, "random_state": 0} | parameters
    return GCNFusionClassifier(**settings).fit(views, labels)


def pyg_gcn(network, graph, features, *, normalize):
    """The same two layers by PyTorch Geometric."""
    edges, weights = from_scipy_sparse_matrix(graph)
    for layer, is_last in ((network.first, False), (network.second, True)):
        convolution = GCNConv(*layer.weight.shape, bias=False, normalize=normalize).double()
        convolution.lin.weight.data = layer.weight.detach().T
        features = convolution(features, edges, weights)
        features = features if is_last else features.relu()
    return features


def test_network_equals_pyg_on_one_graph(graphs, features, network):
    support, weights = on_support([renormalize(graphs[0])])
    expected = pyg_gcn(network, graphs[0], features, normalize=True)
    torch.testing.assert_close(network(support, weights[:, 0], features), expected)


def test_network_equals_pyg_on_the_mean_of_the_views_graphs(graphs, features, network):
    renormalized = [renormalize(graph) for graph in graphs]
    support, weights = on_support(renormalized)
    mean = sparse.csr_array((renormalized[0] + renormalized[1]) / 2)
    expected = pyg_gcn(network, mean, features, normalize=False)
    torch.testing.assert_close(network(support, mean_graph(weights), features), expected)


def test_network_equals_a_literal_loop(graphs, features, network):
    renormalized = np.zeros((N_NODES, N_NODES))
    for graph in graphs:
        dense = graph.toarray() + np.eye(N_NODES)
        for i in range(N_NODES):
            for j in range(N_NODES):
                scale = np.sqrt(dense[i].sum() * dense[j].sum())
                renormalized[i, j] += dense[i, j] / scale / len(graphs)
    first, second = (layer.weight.detach().numpy() for layer in (network.first, network.second))
    hidden = np.maximum(renormalized @ (features.numpy() @ first), 0)
    support, weights = on_support([renormalize(graph) for graph in graphs])
    found = network(support, mean_graph(weights), features)
    np.testing.assert_allclose(found.detach(), renormalized @ (hidden @ second))


def test_dropout_is_on_in_training_only(graphs, features, network):
    support, weights = on_support(graphs)
    inputs = (support, mean_graph(weights), features)
    torch.testing.assert_close(network(*inputs), network(*inputs), rtol=0, atol=0)
    network.train()
    generator = torch.Generator().manual_seed(0)
    assert not torch.equal(network(*inputs, generator=generator), network(*inputs))


def test_classifier_finds_planted_classes(tiny_views):
    model = GCNFusionClassifier(random_state=0).fit(tiny_views.views, tiny_views.known_labels)
    assert (model.transduction_ == tiny_views.labels).mean() > 0.95
    assert model.training_curve_.stopped == "converged"
    assert model.n_neighbors_ == 7


def test_fused_graph_is_the_mean_of_mgcn_dns_graphs(tiny_views):
    model = fit_quickly(tiny_views.views, tiny_views.known_labels, n_neighbors=4)
    prepared = prepare_views(
        MultiView(tiny_views.views), scaling="unit", n_neighbors=4, metric="cosine"
    )
    one, two = (graph.toarray() for graph in prepared.renormalized())
    np.testing.assert_allclose(model.fused_graph_.toarray(), (one + two) / 2, rtol=1e-6)


def test_classifier_trains_the_network_on_mgcn_dns_input(tiny_views, monkeypatch):
    seen = {}

    def spy(network, inputs, y_encoded, **settings):
        seen.update(network=network, inputs=inputs, settings=settings)
        return TrainingCurve()

    monkeypatch.setattr(graph_network, "train_network", spy)
    fit_quickly(tiny_views.views, tiny_views.known_labels, n_neighbors=4)
    prepared = prepare_views(
        MultiView(tiny_views.views), scaling="unit", n_neighbors=4, metric="cosine"
    )
    features = list(prepared.features.values())
    expected = network_inputs(
        prepared.renormalized(), features, fit_input(features), torch.device("cpu")
    )
    support, graph, found, center = seen["inputs"]
    torch.testing.assert_close(support.columns, expected.support.columns)
    torch.testing.assert_close(graph, expected.view_weights.mean(dim=1))
    torch.testing.assert_close(found, expected.features)
    torch.testing.assert_close(center, expected.center)
    assert seen["settings"]["weight_decay"] == 5e-4
    assert seen["settings"]["not_decayed"] == [seen["network"].second.weight]


def test_graphs_alone_are_enough(tiny_views):
    same_class = (tiny_views.labels[:, None] == tiny_views.labels) * 1.0
    views = MultiView({"links": sparse.csr_array(same_class)}, graphs=["links"])
    model = fit_quickly(views, tiny_views.known_labels)
    np.testing.assert_array_equal(model.transduction_, tiny_views.labels)


def test_interrupt_keeps_the_best_and_warns_where_fit_was_called(tiny_views, monkeypatch):
    def interrupt(self, tol):
        if self.n_epochs == 4:
            raise KeyboardInterrupt
        return False

    monkeypatch.setattr(TrainingCurve, "has_converged", interrupt)
    model = GCNFusionClassifier(random_state=0)
    with pytest.warns(ConvergenceWarning, match="interrupted after 4 epochs") as caught:
        model.fit(tiny_views.views, tiny_views.known_labels)
    assert caught[0].filename == __file__
    assert model.training_curve_.stopped == "interrupted"
