"""Views and models as PyTorch Geometric's data, and back."""

import sys

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.exceptions import NotFittedError

from manyview.data.views import MultiView
from manyview.errors import DataFileError, InputError
from manyview.estimators.mgcn_dns import MGCNDNSClassifier
from manyview.estimators.parameters import TrainingConfig
from manyview.integrations.pyg import from_pyg, to_pyg
from manyview.methods import METHODS

pytest.importorskip("torch_geometric")
from torch_geometric.data import Data, HeteroData


def ring(n_nodes, step=1):
    """Each node linked to one further on."""
    rows = np.arange(n_nodes)
    ends = (rows, (rows + step) % n_nodes)
    return sparse.csr_array((np.ones(n_nodes, dtype=np.float32), ends), shape=(n_nodes, n_nodes))


def same_views(one, other):
    assert one.names == other.names
    assert one.graph_names == other.graph_names
    np.testing.assert_array_equal(one.present, other.present)
    for name in one.names:
        has = one.present[:, one.names.index(name)]
        mine, theirs = (
            view[name].toarray() if sparse.issparse(view[name]) else view[name]
            for view in (one, other)
        )
        np.testing.assert_allclose(mine[has], theirs[has], rtol=1e-6)


def test_one_view_and_one_graph_make_a_data():
    x = np.arange(8.0).reshape(4, 2)
    data = to_pyg(MultiView({"x": x, "graph": 2 * ring(4)}, graphs="graph"), ["b", None, "a", "b"])
    assert isinstance(data, Data)
    data.validate()
    assert data.edge_index.tolist() == [[0, 1, 2, 3], [1, 2, 3, 0]]
    assert data.edge_weight.tolist() == [2.0] * 4
    assert data.y.tolist() == [1, -1, 0, 1]
    assert data.train_mask.tolist() == [True, False, True, True]
    assert data.classes == ["a", "b"]
    back = from_pyg(data)
    same_views(back.views, MultiView({"x": x, "graph": 2 * ring(4)}, graphs="graph"))
    assert back.labels.tolist() == [1, -1, 0, 1]


def test_several_views_and_graphs_return_as_they_were(rng):
    views = MultiView(
        {"rna": rng.random((5, 3)), "words": sparse.csr_array(np.eye(5)),
         "cites": ring(5), "follows": ring(5, 2)},
        graphs=("cites", "follows"),
        present={"rna": [True, False, True, True, True]},
    )  # fmt: skip
    data = to_pyg(views, [0, 1, -1, 1, 0])
    assert isinstance(data, HeteroData)
    data.validate()
    assert not data["sample"].x_rna[1].any()
    back = from_pyg(data)
    same_views(back.views, views)
    assert back.labels.tolist() == [0, 1, -1, 1, 0]


def test_single_view_that_samples_lack_returns_as_it_was():
    views = MultiView(
        {"x": np.eye(3), "graph": ring(3)}, graphs="graph", present={"x": [True, True, False]}
    )
    same_views(from_pyg(to_pyg(views)).views, views)


def test_a_fitted_model_becomes_a_graph_for_any_network(tiny_views):
    present = np.arange(60) % 4 > 0
    views = MultiView(tiny_views.views, present={"shape": present})
    model = MGCNDNSClassifier(max_epochs=10, random_state=0, training=TrainingConfig(tol=0))
    model.fit(views, tiny_views.known_labels)
    data = to_pyg(model)
    data.validate()
    assert data.x.shape == (60, 13)
    assert not data.x[~torch.from_numpy(present), :5].any()
    graph = torch.sparse_coo_tensor(data.edge_index, data.edge_weight, (60, 60)).to_dense().numpy()
    np.testing.assert_allclose(graph, model.selected_graph_.toarray(), rtol=1e-6)
    # The model's own network, from nothing but what was handed on.
    first, last = (torch.from_numpy(weight) for weight in model.inductive_state_.weights)
    dense = torch.from_numpy(graph)
    logits = dense @ ((dense @ (data.x @ first)).relu() @ last) / model.temperature_
    torch.testing.assert_close(logits.softmax(1), data.probabilities, atol=1e-4, rtol=1e-3)
    assert data.y.tolist() == tiny_views.known_labels.tolist()


def test_masks_hide_labels_and_edge_attributes_are_weights():
    data = Data(
        x=torch.eye(3),
        edge_index=torch.tensor([[0, 1], [1, 2]]),
        edge_attr=torch.tensor([[0.5], [2.0]]),
        y=torch.tensor([0, 1, 1]),
        train_mask=torch.tensor([True, True, False]),
    )
    found = from_pyg(data)
    assert found.labels.tolist() == [0, 1, -1]
    assert found.views["graph"].toarray()[1, 2] == 2.0
    assert from_pyg(data, label_mask=None).labels.tolist() == [0, 1, 1]
    assert "every label is known" in from_pyg(data, label_mask="seen").notes[1]


def test_an_edge_given_twice_is_one_edge_and_sparse_features_stay_sparse():
    data = Data(x=torch.eye(3).to_sparse(), edge_index=torch.tensor([[0, 0], [1, 1]]))
    views = from_pyg(data).views
    assert views["graph"].toarray()[0, 1] == 1
    assert sparse.issparse(views["x"])
    np.testing.assert_array_equal(views["x"].toarray(), np.eye(3))


def test_nodes_with_labels_are_chosen_among_several_types():
    data = HeteroData()
    data["paper"].x, data["paper"].y = torch.eye(3), torch.tensor([0, 1, 0])
    data["author"].x = torch.eye(2)
    data["paper", "cites", "paper"].edge_index = torch.tensor([[0], [1]])
    data["author", "writes", "paper"].edge_index = torch.tensor([[0], [1]])
    found = from_pyg(data)
    assert found.views.names == ("x", "cites")
    assert "Edges author - writes - paper are not used." in found.notes
    assert from_pyg(data, node_type="author").views.names == ("x",)
    with pytest.raises(InputError, match=r"node_type must be one of 'paper', 'author'"):
        from_pyg(data, node_type="papers")
    del data["paper"].y
    with pytest.raises(InputError, match=r"nodes of 2 types, paper, author.*node_type="):
        from_pyg(data)


def test_predictions_are_the_same_with_the_views_that_return(tiny_views):
    views = MultiView(tiny_views.views)
    back = from_pyg(to_pyg(views, tiny_views.known_labels))
    model = METHODS["knn"]()
    one = model.fit(views, tiny_views.known_labels).transduction_
    np.testing.assert_array_equal(one, model.fit(back.views, back.labels).transduction_)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (Data(edge_index=torch.tensor([[0], [1]])), r"must have features, x of .* has edge_index"),
        (Data(), r"it has nothing\. Set data\.x"),
        (Data(x=torch.ones(3)), r"x must be \[node, feature\]; got shape \(3,\)"),
        (Data(x=torch.eye(3), y=torch.eye(3)), r"y must hold one class number per node"),
        (
            Data(x=torch.eye(2), y=torch.tensor([0, 1]), train_mask=torch.ones(2, 9) > 0),
            r"train_mask must hold one boolean per node.*several splits",
        ),
        (np.eye(3), r"Data or HeteroData of torch_geometric; got ndarray"),
    ],
)
def test_bad_data_are_refused(data, message):
    with pytest.raises(InputError, match=message):
        from_pyg(data)


def test_unfitted_model_is_refused():
    with pytest.raises(NotFittedError):
        to_pyg(MGCNDNSClassifier())


def test_graph_views_of_a_model_are_not_part_of_its_input(tiny_views):
    views = MultiView({"ring": ring(60), **tiny_views.views}, graphs="ring")
    model = MGCNDNSClassifier(max_epochs=2, random_state=0).fit(views, tiny_views.known_labels)
    assert to_pyg(model).x.shape == (60, 13)


def test_methods_without_a_graph_and_labels_with_a_model_are_refused(tiny_views):
    model = METHODS["knn"]().fit(tiny_views.views, tiny_views.known_labels)
    with pytest.raises(InputError, match=r"needs a model with a graph; .* learns none"):
        to_pyg(model)
    with pytest.raises(InputError, match="labels are for views"):
        to_pyg(model, tiny_views.labels)


def test_missing_library_names_the_install_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch_geometric", None)
    with pytest.raises(DataFileError, match=r"to_pyg needs .* pip install 'manyview\[pyg\]'"):
        to_pyg(np.eye(3))
