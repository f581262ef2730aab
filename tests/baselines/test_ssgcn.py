"""SSGCN: features spread by walks of up to K steps, then logistic regression."""

import numpy as np
import pytest
from scipy import sparse

from manyview.baselines.ssgcn import SSGCNClassifier
from manyview.data.network_input import fit_input
from manyview.data.views import MultiView
from manyview.graphs.prepare import prepare_views


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


def test_predictions_are_those_of_the_literal_formula(tiny_views):
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
def test_sparse_views_give_the_predictions_of_dense_ones(tiny_views, n_known):
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
