import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from manyview.baselines.mlan import (
    MLANClassifier,
    candidate_edges,
    graph_of,
    learn_graph_and_labels,
)
from manyview.data.scaling import standard_rows
from manyview.graphs.normalization import laplacian


def literal_projection(point):
    """Nearest point of the simplex, by trying how many of the largest entries stay."""
    descending = sorted(point, reverse=True)
    for n_kept in range(len(point), 0, -1):
        shift = (1 - sum(descending[:n_kept])) / n_kept
        if descending[n_kept - 1] + shift > 0:
            return np.array([max(value + shift, 0.0) for value in point])
    raise AssertionError


def literal_mlan(views, y_encoded, n_classes, *, n_neighbors, smoothness, n_iter, compound=False):
    """The published iterations, dense: every matrix is [sample, sample]."""
    n_samples = len(y_encoded)
    distances = []
    for view in views:
        rows = (view - view.mean(axis=1, keepdims=True)) / (
            view.std(axis=1, ddof=1, keepdims=True) + 1e-8
        )
        distances.append(np.array([[np.sum((a - b) ** 2) for b in rows] for a in rows]))
    mean = sum(distances) / len(views)
    graph = np.zeros((n_samples, n_samples))
    lists, slack = [], []
    for i in range(n_samples):
        others = sorted((j for j in range(n_samples) if j != i), key=lambda j: mean[i, j])
        border = mean[i, others[n_neighbors]]
        lists.append(others[:n_neighbors])
        slack.append(n_neighbors * border - sum(mean[i, j] for j in lists[i]))
        for j in lists[i]:
            graph[i, j] = (border - mean[i, j]) / slack[i]
    alpha = np.mean(slack) / 2
    known, unknown = np.flatnonzero(y_encoded >= 0), np.flatnonzero(y_encoded < 0)
    labels = np.zeros((n_samples, n_classes))
    labels[known, y_encoded[known]] = 1.0

    def spread_labels():
        symmetric = (graph + graph.T) / 2
        matrix = np.diag(symmetric.sum(axis=1)) - symmetric
        right = -matrix[np.ix_(unknown, known)] @ labels[known]
        labels[unknown] = np.linalg.lstsq(matrix[np.ix_(unknown, unknown)], right, rcond=None)[0]
        return matrix

    spread_labels()
    objective = []
    for _ in range(n_iter):
        symmetric = (graph + graph.T) / 2
        weights = [0.5 / np.sqrt(np.sum(d * symmetric)) for d in distances]
        weighted = [w * d for w, d in zip(weights, distances, strict=True)]
        if compound:
            distances = weighted
        graph = np.zeros((n_samples, n_samples))
        for i in range(n_samples):
            costs = [
                sum(d[i, j] for d in weighted) + smoothness * np.sum((labels[i] - labels[j]) ** 2)
                for j in lists[i]
            ]
            graph[i, lists[i]] = literal_projection([-cost / (2 * alpha) for cost in costs])
        matrix = spread_labels()
        objective.append(
            sum(np.sqrt(np.sum(d * graph)) for d in distances)
            + alpha * np.sum(graph**2)
            + 2 * smoothness * np.trace(labels.T @ matrix @ labels)
        )
    return labels, (graph + graph.T) / 2, objective


@pytest.fixture
def edges(tiny_views):
    features = [standard_rows(view) for view in tiny_views.views.values()]
    return candidate_edges(features, n_neighbors=9)


@pytest.mark.parametrize("compound", [False, True])
@pytest.mark.parametrize("smoothness", [0.5, 10.0])
def test_fit_equals_the_literal_iterations(tiny_views, smoothness, compound):
    views = tiny_views.views
    with pytest.warns(ConvergenceWarning):
        model = MLANClassifier(
            smoothness=smoothness, max_iter=4, tol=0.0, compound_weights=compound
        ).fit(views, tiny_views.known_labels)
    labels, graph, objective = literal_mlan(
        list(views.values()),
        tiny_views.known_labels,
        3,
        n_neighbors=9,
        smoothness=smoothness,
        n_iter=4,
        compound=compound,
    )
    # Features are float32 after scaling.
    np.testing.assert_allclose(model.objective_, objective, rtol=1e-5)
    np.testing.assert_allclose(model.learned_graph_.toarray(), graph, atol=1e-5)
    np.testing.assert_allclose(model.label_distributions_, labels, atol=1e-4)


@pytest.mark.parametrize("smoothness", [0.0, 1.0, 10.0, 1000.0])
def test_objective_never_rises(edges, tiny_views, smoothness):
    found = learn_graph_and_labels(
        edges, tiny_views.known_labels, 3, smoothness=smoothness, max_iter=40, tol=0.0
    )
    objective = np.array(found.objective)
    assert np.all(np.diff(objective) <= 1e-12 * objective[0])


def test_rows_of_the_learned_graph_sum_to_one(edges, tiny_views):
    found = learn_graph_and_labels(
        edges, tiny_views.known_labels, 3, smoothness=10.0, max_iter=5, tol=0.0
    )
    np.testing.assert_allclose(found.weights.sum(axis=1), 1.0)
    assert found.weights.min() >= 0


def test_first_graph_minimizes_the_objective_without_labels(edges):
    """With a sample's own alpha the closed form solves its row: sum d s + alpha s^2."""
    mean = edges.distances.mean(axis=0)[0]
    weights = edges.weights[0]
    alpha = float(-np.diff(mean)[0] / np.diff(weights)[0] / 2)  # d_j + 2 alpha s_j is the same
    best = minimize(
        lambda s: mean @ s + alpha * s @ s,
        np.full(9, 1 / 9),
        bounds=[(0, None)] * 9,
        constraints={"type": "eq", "fun": lambda s: s.sum() - 1},
        options={"ftol": 1e-12},
    )
    np.testing.assert_allclose(weights, best.x, atol=1e-4)


def test_view_weights_are_those_of_the_last_graph(edges, tiny_views):
    found = learn_graph_and_labels(
        edges, tiny_views.known_labels, 3, smoothness=10.0, max_iter=5, tol=0.0
    )
    totals = np.sum(edges.distances * found.weights, axis=(1, 2))
    np.testing.assert_allclose(found.view_weights, 1 / (2 * np.sqrt(totals)))


def test_candidates_are_the_nearest_in_all_views_together(tiny_views):
    views = list(tiny_views.views.values())
    edges = candidate_edges(views, n_neighbors=6)
    total = sum(((view[:, None] - view) ** 2).sum(axis=2) for view in views)
    np.fill_diagonal(total, np.inf)
    np.testing.assert_array_equal(edges.neighbors, np.argsort(total, axis=1)[:, :6])
    found = np.take_along_axis(total, edges.neighbors, axis=1)
    np.testing.assert_allclose(edges.distances.sum(axis=0), found)


def test_candidates_may_be_all_other_samples(rng):
    edges = candidate_edges([rng.normal(size=(7, 3))], n_neighbors=6)
    np.testing.assert_array_equal(
        np.sort(edges.neighbors, axis=1), [[j for j in range(7) if j != i] for i in range(7)]
    )
    np.testing.assert_allclose(edges.weights.sum(axis=1), 1.0)


def test_edges_between_labels_that_differ_lose_their_weight(tiny_views, rng):
    noisy = [view + 3 * rng.normal(size=view.shape) for view in tiny_views.views.values()]
    edges = candidate_edges(noisy, n_neighbors=9)

    def weight_across_classes(smoothness):
        found = learn_graph_and_labels(
            edges, tiny_views.known_labels, 3, smoothness=smoothness, max_iter=20, tol=1e-8
        )
        labels = found.labels.argmax(axis=1)
        return found.weights[labels[edges.neighbors] != labels[:, None]].sum()

    assert weight_across_classes(100.0) < 0.5 * weight_across_classes(0.0)


def test_samples_that_no_label_reaches_get_the_class_frequencies(rng):
    centers = 100 * np.repeat(np.eye(3), 8, axis=0)
    labels = np.full(24, -1)
    labels[[0, 1, 8, 9, 10]] = [0, 0, 1, 1, 1]
    model = MLANClassifier(scaling="none", n_neighbors=4).fit(
        centers + rng.normal(size=(24, 3)), labels
    )
    np.testing.assert_allclose(model.label_distributions_[16:], [[0.4, 0.6]] * 8)
    np.testing.assert_array_equal(model.transduction_, [0] * 8 + [1] * 16)


@pytest.mark.parametrize("compound", [False, True])
def test_fit_copes_with_duplicates_and_constant_views(tiny_views, compound):
    views = {name: np.repeat(view, 12, axis=0) for name, view in tiny_views.views.items()}
    views["constant"] = np.ones((720, 2))
    labels = np.repeat(tiny_views.known_labels, 12)
    model = MLANClassifier(compound_weights=compound).fit(views, labels)
    assert np.isfinite(model.label_distributions_).all()
    assert np.isfinite(model.view_weights_).all()


def test_fit_copes_with_samples_that_are_all_alike():
    model = MLANClassifier(n_neighbors=3).fit(np.ones((8, 2)), [0, 1, -1, -1, -1, -1, -1, -1])
    assert np.isfinite(model.label_distributions_).all()


def test_fit_of_labeled_samples_returns_their_labels(tiny_views):
    model = MLANClassifier().fit(tiny_views.views, tiny_views.labels)
    np.testing.assert_array_equal(model.transduction_, tiny_views.labels)


def test_two_samples_are_enough():
    model = MLANClassifier(n_neighbors=1).fit([[0.0, 1.0], [1.0, 0.0]], ["a", "b"])
    assert model.transduction_.tolist() == ["a", "b"]


def test_learned_graph_is_that_of_the_labels(tiny_views):
    model = MLANClassifier().fit(tiny_views.views, tiny_views.known_labels)
    unknown = tiny_views.known_labels < 0
    pull = laplacian(model.learned_graph_) @ model.label_distributions_
    np.testing.assert_allclose(pull[unknown], 0.0, atol=1e-9)


def test_graph_of_listed_neighbors_is_symmetric(rng):
    neighbors = np.array([[1, 2], [2, 3], [3, 0], [0, 1]])
    graph = graph_of(neighbors, rng.random((4, 2)))
    np.testing.assert_array_equal(graph.toarray(), graph.T.toarray())
