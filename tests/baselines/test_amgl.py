import numpy as np
import pytest
from scipy import sparse
from sklearn.semi_supervised import LabelPropagation

from manyview import MultiView
from manyview.baselines.amgl import AMGLClassifier, auto_weighted_labels, has_converged
from manyview.graphs.normalization import laplacian, normalized_laplacian
from manyview.graphs.weighted_neighbors import probabilistic_neighbors


def literal_laplacian(features, n_neighbors):
    """I - D^-1/2 W D^-1/2 of the weighted neighbors, entry by entry."""
    n_samples = len(features)
    graph = np.zeros((n_samples, n_samples))
    for i in range(n_samples):
        distances = [float(np.sum((features[i] - other) ** 2)) for other in features]
        others = sorted((j for j in range(n_samples) if j != i), key=lambda j: distances[j])
        border = distances[others[n_neighbors]]
        nearest = others[:n_neighbors]
        total = n_neighbors * border - sum(distances[j] for j in nearest)
        for j in nearest:
            graph[i, j] = (border - distances[j]) / total
    graph = (graph + graph.T) / 2
    degrees = graph.sum(axis=1)
    return np.eye(n_samples) - graph / np.sqrt(np.outer(degrees, degrees))


def literal_labels(laplacians, y_encoded, n_classes, n_iter, factor=1.0):
    """Run the iterations as published, dense, with explicit inverses."""
    known, unknown = np.flatnonzero(y_encoded >= 0), np.flatnonzero(y_encoded < 0)
    labels = np.zeros((len(y_encoded), n_classes))
    labels[known, y_encoded[known]] = 1.0
    weights = [1 / len(laplacians)] * len(laplacians)
    objective = []
    for _ in range(n_iter):
        total = sum(w * matrix for w, matrix in zip(weights, laplacians, strict=True))
        inverse = np.linalg.inv(total[np.ix_(unknown, unknown)])
        labels[unknown] = -factor * inverse @ total[np.ix_(unknown, known)] @ labels[known]
        traces = [np.trace(labels.T @ matrix @ labels) for matrix in laplacians]
        weights = [1 / (2 * np.sqrt(trace)) for trace in traces]
        objective.append(sum(np.sqrt(trace) for trace in traces))
    return labels, np.array(weights), objective


@pytest.fixture
def laplacians(tiny_views):
    return [
        normalized_laplacian(probabilistic_neighbors(view, n_neighbors=5))
        for view in tiny_views.views.values()
    ]


@pytest.mark.parametrize("halve", [False, True])
@pytest.mark.parametrize("form", ["sparse", "dense"])
def test_labels_equal_the_literal_iterations(tiny_views, halve, form):
    dense = [literal_laplacian(view, 5) for view in tiny_views.views.values()]
    given = [sparse.csr_array(matrix) for matrix in dense] if form == "sparse" else dense
    y_encoded = tiny_views.known_labels
    found = auto_weighted_labels(given, y_encoded, 3, max_iter=4, tol=0.0, halve=halve)
    n_iter = 3 if halve else 4  # halved, the third iteration is worse than the second
    factor = 0.5 if halve else 1.0
    labels, weights, objective = literal_labels(dense, y_encoded, 3, n_iter, factor)
    assert len(found.objective) == n_iter
    np.testing.assert_allclose(found.labels, labels, atol=1e-10)
    np.testing.assert_allclose(found.weights, weights)
    np.testing.assert_allclose(found.objective, objective)


def test_fit_equals_the_literal_iterations(tiny_views):
    model = AMGLClassifier(scaling="none", n_neighbors=4).fit(
        tiny_views.views, tiny_views.known_labels
    )
    dense = [literal_laplacian(view, 4) for view in tiny_views.views.values()]
    labels, weights, objective = literal_labels(dense, tiny_views.known_labels, 3, model.n_iter_)
    expected = labels / labels.sum(axis=1, keepdims=True)
    # Features are float32 after scaling.
    np.testing.assert_allclose(model.label_distributions_, expected, atol=1e-5)
    np.testing.assert_allclose(model.view_weights_, weights / weights.sum(), rtol=1e-5)
    np.testing.assert_allclose(model.objective_, objective, rtol=1e-5)


def test_objective_never_rises(laplacians, tiny_views):
    found = auto_weighted_labels(laplacians, tiny_views.known_labels, 3, max_iter=50, tol=0.0)
    objective = np.array(found.objective)
    assert np.all(np.diff(objective) <= 1e-12 * objective[0])


def test_labels_are_a_minimum(laplacians, tiny_views, rng):
    y_encoded = tiny_views.known_labels
    found = auto_weighted_labels(laplacians, y_encoded, 3, max_iter=200, tol=1e-14)
    for _ in range(20):
        nearby = found.labels + 1e-3 * rng.normal(size=(60, 3)) * (y_encoded < 0)[:, None]
        value = sum(np.sqrt(np.sum(nearby * (matrix @ nearby))) for matrix in laplacians)
        assert value > found.objective[-1]


def test_one_view_needs_no_weights(laplacians, tiny_views):
    once = auto_weighted_labels(laplacians[:1], tiny_views.known_labels, 3, max_iter=1, tol=0.0)
    more = auto_weighted_labels(laplacians[:1], tiny_views.known_labels, 3, max_iter=9, tol=1e-8)
    np.testing.assert_allclose(once.labels, more.labels, atol=1e-10)
    assert len(more.objective) == 3


def test_one_view_agrees_with_label_propagation(tiny_views):
    """Over D - W the harmonic labels are where Zhu's label propagation ends."""
    graph = probabilistic_neighbors(tiny_views.views["shape"], n_neighbors=8)
    y_encoded = tiny_views.known_labels
    ours = auto_weighted_labels([laplacian(graph)], y_encoded, 3, max_iter=3, tol=0.0).labels
    theirs = LabelPropagation(kernel=lambda a, b: graph.toarray(), max_iter=100_000, tol=1e-10)
    theirs.fit(np.arange(60.0)[:, None], y_encoded)
    np.testing.assert_allclose(ours, theirs.label_distributions_, atol=1e-6)


def test_the_smoother_view_weighs_more(tiny_views, rng):
    views = {"good": tiny_views.views["shape"], "noise": rng.normal(size=(60, 5))}
    model = AMGLClassifier(scaling="none").fit(views, tiny_views.known_labels)
    assert model.view_weights_[0] > model.view_weights_[1]
    assert model.view_weights_.sum() == pytest.approx(1.0)


def test_a_view_that_fits_exactly_does_not_divide_by_zero():
    pair = laplacian(sparse.csr_array(np.kron(np.eye(2), [[0.0, 1.0], [1.0, 0.0]])))
    ring = laplacian(sparse.csr_array(np.roll(np.eye(4), 1, axis=1) + np.roll(np.eye(4), -1, 1)))
    y_encoded = np.array([0, -1, 1, -1])
    exact = auto_weighted_labels([pair], y_encoded, 2, max_iter=10, tol=1e-8)
    np.testing.assert_array_equal(exact.labels.argmax(axis=1), [0, 0, 1, 1])
    assert exact.objective[-1] == pytest.approx(0.0, abs=1e-7)
    both = auto_weighted_labels([pair, ring], y_encoded, 2, max_iter=100, tol=1e-8)
    assert np.isfinite(both.weights).all()
    np.testing.assert_array_equal(both.labels.argmax(axis=1), [0, 0, 1, 1])


def test_iterations_converge_from_the_third_on():
    assert not has_converged([], 1.0)
    assert not has_converged([1.0, 1.0], 1.0)
    assert has_converged([1.0, 1.0, 1.0], 0.0)
    assert has_converged([0.0, 0.0, 0.0], 1e-8)
    assert has_converged([3.0, 1.0, 2.0], 1e-8)  # rising, as halving can make it


def test_given_graph_serves_as_the_graph_of_its_view(tiny_views):
    graph = probabilistic_neighbors(tiny_views.views["shape"].astype(np.float32), n_neighbors=5)
    given = MultiView({**tiny_views.views, "shape": graph}, graphs=["shape"])
    expected = AMGLClassifier(scaling="none").fit(tiny_views.views, tiny_views.known_labels)
    model = AMGLClassifier(scaling="none").fit(given, tiny_views.known_labels)
    np.testing.assert_allclose(
        model.label_distributions_, expected.label_distributions_, atol=1e-10
    )


def test_samples_that_no_label_reaches_get_the_class_frequencies():
    blocks = sparse.csr_array(np.kron(np.eye(3), np.ones((4, 4)) - np.eye(4)))
    labels = np.full(12, -1)
    labels[[0, 1, 4, 5, 6]] = [0, 0, 1, 1, 1]
    model = AMGLClassifier().fit(MultiView({"graph": blocks}, graphs=["graph"]), labels)
    np.testing.assert_allclose(model.label_distributions_[8:], [[0.4, 0.6]] * 4)
    np.testing.assert_array_equal(model.transduction_, [0] * 4 + [1] * 8)


def test_halving_shifts_only_the_weights(tiny_views):
    plain = AMGLClassifier().fit(tiny_views.views, tiny_views.known_labels)
    halved = AMGLClassifier(halve_unlabeled=True).fit(tiny_views.views, tiny_views.known_labels)
    assert not np.allclose(plain.view_weights_, halved.view_weights_, atol=1e-6)
    assert np.mean(plain.transduction_ == halved.transduction_) > 0.95


def test_fit_copes_with_duplicates_and_constant_views(tiny_views):
    twice = {name: np.vstack([view, view]) for name, view in tiny_views.views.items()}
    twice["constant"] = np.ones((120, 2))
    labels = np.concatenate([tiny_views.known_labels, np.full(60, -1)])
    model = AMGLClassifier().fit(twice, labels)
    assert np.isfinite(model.label_distributions_).all()


def test_fit_of_labeled_samples_returns_their_labels(tiny_views):
    model = AMGLClassifier().fit(tiny_views.views, tiny_views.labels)
    np.testing.assert_array_equal(model.transduction_, tiny_views.labels)
