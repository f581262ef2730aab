"""The alternation of ERL-MVSC against a dense loop over its equations."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from manyview.baselines.solvers.erl import (
    Regularizer,
    learn_labels,
    stationary_weights,
    view_regularizer,
)
from manyview.data.labels import one_hot
from manyview.errors import InputError

PUBLISHED = {"weight_power": 0.01, "smoothness": 0.01, "sparsity": 0.001, "fidelity": 10.0}


STRONG = {"weight_power": 0.3, "smoothness": 0.4, "sparsity": 0.2, "fidelity": 2.0}


Y_ENCODED = np.array([0, 0, 0, 1, 1, 2] + [-1] * 18)


def literal_regularizer(graph, y_encoded):
    degrees = graph.sum(axis=1)
    scaled = graph / np.sqrt(np.outer(degrees, degrees))
    for i in range(len(y_encoded)):
        for j in range(len(y_encoded)):
            if y_encoded[i] >= 0 and y_encoded[j] >= 0:
                scaled[i, j] = float(y_encoded[i] == y_encoded[j])
    degrees = scaled.sum(axis=1)
    return np.eye(len(y_encoded)) - scaled / np.sqrt(np.outer(degrees, degrees))


def literal_objective(m, p, weights, s, known, a, beta, gamma, delta):
    views = sum(w**a * np.linalg.norm(m - s_v) ** 2 for w, s_v in zip(weights, s, strict=True))
    return (
        views / 2
        + beta / 2 * np.trace(p.T @ m @ p)
        + gamma * np.linalg.norm(m, axis=1).sum()
        + delta / 2 * np.linalg.norm(p - known) ** 2
    )


def literal_loop(s, known, a, beta, gamma, delta, n_iter, released):
    """The published iterations; returns P, weights and the objective after each of three steps."""
    n_views, n_samples = len(s), len(known)
    weights, d = np.full(n_views, 1 / n_views), np.ones(n_samples)
    m, steps = sum(s) / n_views, []
    kappa = beta * delta / 2 if released else beta / (2 * delta)
    sign = 1 if released else -1
    for _ in range(n_iter):
        p = np.linalg.solve(np.eye(n_samples) + kappa * (m + m.T), known)
        after_p = literal_objective(m, p, weights, s, known, a, beta, gamma, delta)
        total = sum(weights**a)
        mean = sum(w**a * s_v for w, s_v in zip(weights, s, strict=True))
        m = np.diag(1 / (total + 2 * gamma * d)) @ (mean + sign * beta / 2 * p @ p.T)
        after_m = literal_objective(m, p, weights, s, known, a, beta, gamma, delta)
        d = 1 / (2 * np.linalg.norm(m, axis=1))
        weights = np.array([np.linalg.norm(m - s_v) ** (-2 / (a - 1)) for s_v in s])
        weights = weights / weights.sum()
        steps.append(
            (
                after_p,
                after_m,
                literal_objective(m, p, weights, s, known, a, beta, gamma, delta),
            )
        )
    return p, weights, np.array(steps)


@pytest.fixture
def graphs(rng):
    made = []
    for _ in range(3):
        upper = np.triu(rng.random((24, 24)) * (rng.random((24, 24)) < 0.4), k=1)
        upper += 0.1 * np.eye(24, k=1)  # no sample is isolated
        made.append(upper + upper.T)
    return made


@pytest.fixture
def laplacians(graphs):
    return [view_regularizer(sparse.csr_array(graph), Y_ENCODED) for graph in graphs]


def run(laplacians, settings, n_iter=4, **options):
    known = one_hot(Y_ENCODED, 3)
    return learn_labels(laplacians, known, **settings, max_iter=n_iter, tol=0.0, **options)


def run_literally(laplacians, settings, n_iter=4, released=False):
    dense = [matrix.toarray() for matrix in laplacians]
    return literal_loop(dense, one_hot(Y_ENCODED, 3), *settings.values(), n_iter, released)


def test_view_regularizer_equals_its_definition(graphs):
    for graph in graphs:
        made = view_regularizer(sparse.csr_array(graph), Y_ENCODED)
        assert_allclose(made.toarray(), literal_regularizer(graph, Y_ENCODED), atol=1e-14)


def test_view_regularizer_takes_samples_linked_to_nobody():
    y_encoded = np.array([0, 1, -1])
    made = view_regularizer(sparse.csr_array((3, 3)), y_encoded)
    assert_array_equal(made.toarray(), np.diag([0.0, 0.0, 1.0]))


def test_regularizer_parts_equal_the_dense_matrix(rng):
    entries = sparse.random_array((12, 12), density=0.3, rng=rng, format="csr")
    left, right, other = rng.normal(size=(12, 2)), rng.normal(size=(12, 2)), rng.random((12, 12))
    kept = Regularizer(sparse.csr_array(entries), left, right)
    dense = entries.toarray() - left @ right.T
    columns = rng.normal(size=(12, 3))
    assert_allclose(kept @ columns, dense @ columns)
    assert_allclose(kept.diagonal(), dense.diagonal())
    assert_allclose(kept.squared_row_norms(), np.sum(dense**2, axis=1))
    assert_allclose(kept.square_distance(sparse.csr_array(other)), np.sum((dense - other) ** 2))
    assert_allclose(kept.with_transpose() @ columns, (dense + dense.T) @ columns)


@pytest.mark.parametrize("as_released", [False, True])
@pytest.mark.parametrize("settings", [PUBLISHED, STRONG], ids=["published", "strong"])
def test_learned_labels_equal_the_dense_loop(laplacians, settings, as_released):
    found = run(laplacians, settings, as_released=as_released)
    labels, weights, steps = run_literally(laplacians, settings, released=as_released)
    assert_allclose(found.labels, labels, rtol=1e-8, atol=1e-14)
    assert_allclose(found.view_weights, weights, rtol=1e-10)
    assert_allclose(found.objective, steps[:, 2], rtol=1e-10)


def test_steps_of_labels_and_regularizer_lower_the_objective_and_that_of_weights_raises_it(
    laplacians,
):
    steps = run_literally(laplacians, STRONG, n_iter=8)[2]
    after_labels, after_regularizer, after_weights = steps.T
    assert np.all(after_labels[1:] <= after_weights[:-1] + 1e-12)
    # The first regularizer still has row weights of 1 in place of 1 / (2 ||M_i||).
    assert np.all(after_regularizer[1:] <= after_labels[1:] + 1e-12)
    assert np.all(after_weights >= after_regularizer - 1e-12)


def test_objective_never_rises_above_a_weight_power_of_1(laplacians):
    found = run(laplacians, {**STRONG, "weight_power": 2.0, "smoothness": 0.1}, n_iter=10)
    assert np.all(np.diff(found.objective)[1:] <= 1e-12)


@pytest.mark.parametrize(("power", "side"), [(0.01, 1), (0.5, 1), (2.0, -1), (5.0, -1)])
def test_weights_are_the_maximum_below_a_power_of_1_and_the_minimum_above(rng, power, side):
    distances = np.array([0.3, 1.0, 4.0])
    best = np.sum(stationary_weights(distances, power) ** power * distances)
    others = rng.dirichlet(np.ones(3), size=500)
    assert np.all(side * (best - np.sum(others**power * distances, axis=1)) >= 0)


@pytest.mark.parametrize("power", [0.01, 0.999, 1.001, 3.0])
def test_weights_stay_finite_when_views_agree_with_the_regularizer(power):
    assert_allclose(stationary_weights(np.zeros(4), power), 0.25)
    assert stationary_weights(np.array([0.0, 1.0]), power).sum() == pytest.approx(1.0)


def test_labels_are_one_step_of_smoothing_when_smoothness_is_small(laplacians):
    tiny = {**PUBLISHED, "smoothness": 1e-9, "sparsity": 0.0}
    labels = run(laplacians, tiny, n_iter=1).labels
    mean = sum(matrix.toarray() for matrix in laplacians) / 3
    one_step = -1e-10 * (mean @ one_hot(Y_ENCODED, 3))
    direct = one_step > 1e-13
    unlabeled = (Y_ENCODED < 0)[:, None]
    assert_allclose(labels[direct & unlabeled], one_step[direct & unlabeled], rtol=1e-6)


def test_too_much_smoothness_is_refused(laplacians):
    with pytest.raises(InputError, match="no labels minimize the objective"):
        run(laplacians, {**PUBLISHED, "smoothness": 3.0, "fidelity": 1.0})
