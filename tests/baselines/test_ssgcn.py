"""SSGCN: features spread by walks of up to K steps, then logistic regression."""

import warnings

import numpy as np
import pytest
import torch
from scipy import sparse
from sklearn.linear_model import LogisticRegression as ReferenceRegression

from manyview.baselines.ssgcn import SSGCNClassifier
from manyview.data.inputs import fit_input
from manyview.data.views import MultiView
from manyview.errors import InputError
from manyview.graphs.normalization import renormalize
from manyview.graphs.support import GraphSupport
from manyview.graphs.view_graphs import prepare_views
from manyview.layers import graph_walks
from manyview.layers.graph_walks import spread, spread_rows, walk_sum
from manyview.layers.sparse_product import csr_tensor
from manyview.linear_walks import LogisticRegression
from manyview.training import train

with warnings.catch_warnings():  # its import calls what torch has deprecated
    warnings.simplefilter("ignore")
    from torch_geometric.nn import SSGConv
    from torch_geometric.utils import from_scipy_sparse_matrix

N_NODES, N_INPUTS = 12, 5
WALK = {"n_steps": 4, "alpha": 0.2}


@pytest.fixture
def graph(rng):
    weights = np.triu(rng.random((N_NODES, N_NODES)) * (rng.random((N_NODES, N_NODES)) < 0.3), 1)
    return sparse.csr_array(weights + weights.T)


@pytest.fixture
def on_support(graph):
    support = GraphSupport.from_graphs([graph])
    return support, support.weights_of(renormalize(graph))


@pytest.fixture
def features(rng):
    values = rng.normal(size=(N_NODES, N_INPUTS)) * (rng.random((N_NODES, N_INPUTS)) < 0.6)
    return torch.from_numpy(values)


def as_csr(features):
    matrix = sparse.csr_array(features.numpy())
    parts = (matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data)
    return csr_tensor(*(torch.from_numpy(part) for part in parts), matrix.shape)


def literal_operator(walk, n_steps, alpha):
    """P = alpha I + (1 - alpha)/K sum_{k=1..K} T^k, densely."""
    powers = [np.linalg.matrix_power(walk, k) for k in range(1, n_steps + 1)]
    return alpha * np.eye(len(walk)) + (1 - alpha) / n_steps * sum(powers)


def fit_quickly(views, labels, **parameters):
    return SSGCNClassifier(**parameters).fit(views, labels)


def prepared_inputs(views, n_neighbors):
    """Dense X and T of a fit, and how its views were prepared."""
    prepared = prepare_views(
        MultiView(views), scaling="unit", n_neighbors=n_neighbors, metric="cosine"
    )
    scaling = fit_input(list(prepared.features.values()))
    features = scaling(list(prepared.features.values())) - scaling.center
    walk = sum(graph.toarray() for graph in prepared.renormalized()) / len(views)
    return features, walk, prepared, scaling


def test_spread_equals_pyg(graph, on_support, features):
    edges, weights = from_scipy_sparse_matrix(graph)
    convolution = SSGConv(N_INPUTS, N_INPUTS, alpha=0.2, K=4, bias=False).double()
    convolution.lin.weight.data = torch.eye(N_INPUTS, dtype=torch.float64)
    expected = convolution(features, edges, weights)
    torch.testing.assert_close(spread(*on_support, features, **WALK), expected)


def test_spread_equals_the_dense_powers(graph, on_support, features):
    operator = literal_operator(renormalize(graph).toarray(), **WALK)
    np.testing.assert_allclose(spread(*on_support, features, **WALK), operator @ features.numpy())


def test_walk_sum_starts_with_no_step(graph, on_support, features):
    walk = renormalize(graph).toarray()
    expected = sum(np.linalg.matrix_power(walk, k) for k in range(4)) @ features.numpy()
    np.testing.assert_allclose(walk_sum(*on_support, features, 4), expected)
    torch.testing.assert_close(walk_sum(*on_support, features, 1), features)


@pytest.mark.parametrize("block_columns", [2, 512])
@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("is_centered", [False, True])
@pytest.mark.parametrize("rows", [[7], [3, 0, 9], [1, 2, 4, 8, 10, 11], list(range(12))])
def test_rows_are_the_same_by_features_and_by_rows(
    on_support, features, rows, is_centered, is_sparse, block_columns, monkeypatch
):
    """Up to 4 rows the rows are spread, from 5 on the 5 features are."""
    monkeypatch.setattr(graph_walks, "BLOCK_COLUMNS", block_columns)
    rows = torch.tensor(rows)
    center = features.mean(dim=0) if is_centered else None
    expected = spread(*on_support, features - (0 if center is None else center), **WALK)[rows]
    given = as_csr(features) if is_sparse else features
    torch.testing.assert_close(spread_rows(*on_support, given, center, rows, **WALK), expected)


def test_wide_sparse_features_never_become_dense(on_support, features, monkeypatch):
    def refuse(*_):
        raise AssertionError("made dense")

    given = as_csr(features)
    monkeypatch.setattr(torch.Tensor, "to_dense", refuse)
    spread_rows(*on_support, given, features.mean(dim=0), torch.tensor([0, 1]), **WALK)
    with pytest.raises(AssertionError, match="made dense"):
        spread_rows(*on_support, given, None, torch.arange(12), **WALK)


def test_trained_head_is_the_optimum_of_penalised_logistic_regression(rng):
    features, labels = rng.normal(size=(30, 4)), rng.integers(3, size=30)
    weight_decay = 0.05
    head = LogisticRegression(4, 3).double()
    train(
        head,
        (torch.from_numpy(features),),
        torch.from_numpy(labels),
        learning_rate=0.05,
        weight_decay=weight_decay,
        max_epochs=500,
        tol=-1.0,
    )
    # Adam's weight decay is for the bias too: a column of ones whose weight is penalised.
    with_ones = np.hstack([features, np.ones((30, 1))])
    reference = ReferenceRegression(C=1 / (30 * weight_decay), fit_intercept=False, tol=1e-10)
    expected = reference.fit(with_ones, labels).coef_.T
    found = torch.vstack([head.weight, head.bias]).detach()
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_answers_are_those_of_the_literal_formula(tiny_views):
    model = fit_quickly(tiny_views.views, tiny_views.known_labels, n_neighbors=5)
    features, walk, *_ = prepared_inputs(tiny_views.views, 5)
    spread_features = literal_operator(walk, n_steps=16, alpha=0.05) @ features
    logits = spread_features @ model.coef_ + model.intercept_
    expected = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.label_distributions_, expected, atol=1e-5)
    np.testing.assert_allclose(model.fused_graph_.toarray(), walk, atol=1e-6)


def test_classifier_finds_planted_classes(tiny_views):
    model = fit_quickly(tiny_views.views, tiny_views.known_labels)
    assert (model.transduction_ == tiny_views.labels).mean() > 0.95
    assert model.training_curve_.labeled_accuracy[-1] == 1.0


def test_new_samples_are_labeled_by_the_literal_formula(tiny_views, rng):
    """xbar = alpha x + (1 - alpha)/K sum_{k=1..K} (t T^(k-1) X + loop x)."""
    model = fit_quickly(tiny_views.views, tiny_views.known_labels, n_neighbors=5, n_steps=3)
    features, walk, prepared, scaling = prepared_inputs(tiny_views.views, 5)
    new = {name: rng.normal(size=(4, view.shape[1])) for name, view in tiny_views.views.items()}
    scaled = {name: prepared.scalers[name](view) for name, view in new.items()}
    own = scaling(list(scaled.values())) - scaling.center
    edges, loops = np.zeros((4, 60)), np.zeros(4)
    for name, view in scaled.items():
        degrees = prepared.graphs[name].toarray().sum(axis=1) + 1
        for row, values in enumerate(view):
            nearest = np.argsort(-(prepared.features[name] @ values), kind="stable")[:5]
            edges[row, nearest] += 1 / np.sqrt(6 * degrees[nearest]) / 2
            loops[row] += 1 / 6 / 2
    walked = sum(
        edges @ np.linalg.matrix_power(walk, k) @ features + loops[:, None] * own for k in range(3)
    )
    logits = (0.05 * own + 0.95 / 3 * walked) @ model.coef_ + model.intercept_
    expected = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(new), expected, atol=1e-5)


def test_new_samples_are_labeled_well(tiny_views):
    views = MultiView(tiny_views.views)
    is_new = np.arange(60) % 3 == 0
    model = fit_quickly(views[~is_new], tiny_views.known_labels[~is_new])
    assert model.score(views[is_new], tiny_views.labels[is_new]) > 0.9


def test_graphs_alone_are_enough_and_label_new_rows(tiny_views):
    same_class = sparse.csr_array((tiny_views.labels[:, None] == tiny_views.labels) * 1.0)
    views = MultiView({"links": same_class}, graphs=["links"])
    is_new = np.arange(60) % 3 == 0
    model = fit_quickly(views[~is_new], tiny_views.known_labels[~is_new])
    np.testing.assert_array_equal(model.transduction_, tiny_views.labels[~is_new])
    np.testing.assert_array_equal(model.predict(views[is_new]), tiny_views.labels[is_new])


@pytest.mark.parametrize("n_known", [12, 60])
def test_sparse_views_give_the_answers_of_dense_ones(tiny_views, n_known):
    labels = tiny_views.known_labels if n_known == 12 else tiny_views.labels
    dense = fit_quickly(tiny_views.views, labels)
    views = {name: sparse.csr_array(view) for name, view in tiny_views.views.items()}
    found = fit_quickly(views, labels)
    np.testing.assert_allclose(found.label_distributions_, dense.label_distributions_, atol=1e-4)
    np.testing.assert_allclose(
        found.predict_proba(views), dense.predict_proba(tiny_views.views), atol=1e-4
    )


def test_nothing_is_drawn(tiny_views):
    one, two = (
        fit_quickly(tiny_views.views, tiny_views.known_labels, random_state=seed) for seed in (0, 1)
    )
    np.testing.assert_array_equal(one.label_distributions_, two.label_distributions_)


def test_answers_follow_samples_when_they_are_renumbered(tiny_views, rng):
    order = rng.permutation(60)
    before = fit_quickly(tiny_views.views, tiny_views.known_labels)
    turned = {name: view[order] for name, view in tiny_views.views.items()}
    after = fit_quickly(turned, tiny_views.known_labels[order])
    np.testing.assert_allclose(
        after.label_distributions_, before.label_distributions_[order], atol=1e-3
    )


def test_saved_model_keeps_the_answers(tiny_views, tmp_path):
    model = fit_quickly(tiny_views.views, tiny_views.known_labels)
    model.save(tmp_path)
    again = SSGCNClassifier.load(tmp_path)
    np.testing.assert_array_equal(again.label_distributions_, model.label_distributions_)
    np.testing.assert_array_equal(
        again.predict_proba(tiny_views.views), model.predict_proba(tiny_views.views)
    )


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_steps": 0}, "n_steps must be a whole number of at least 1; got 0"),
        ({"alpha": 1.0}, "alpha must be at least 0 and below 1; got 1.0"),
        ({"alpha": -0.1}, "alpha must be at least 0 and below 1; got -0.1"),
    ],
)
def test_fit_refuses_a_wrong_parameter_in_one_sentence(tiny_views, parameters, message):
    with pytest.raises(InputError) as refusal:
        fit_quickly(tiny_views.views, tiny_views.known_labels, **parameters)
    assert message in str(refusal.value)
