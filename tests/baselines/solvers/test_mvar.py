import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import Ridge

from manyview.baselines.solvers.mvar import (
    adaptive_regression,
    best_view_weights,
    first_predictions,
    view_coefficients,
)

OPTIONS = {"ridge": 1e-3, "labeled_weight": 1e4, "power": 2.0, "max_iter": 8, "tol": 0.0}


def planted(rng, widths, spread=1.0):
    truth = np.arange(30) % 3
    features = [
        2 * rng.normal(size=(3, width))[truth] + spread * rng.normal(size=(30, width))
        for width in widths
    ]
    return features, np.where(np.arange(30) < 9, truth, -1), truth


def literal_loop(features, y_encoded, *, ridge, labeled_weight, power, max_iter, smooth):
    """The steps as they are written, in the features whatever their number."""
    known, n_views = y_encoded >= 0, len(features)
    given = np.eye(3)[y_encoded[known]]
    s = np.where(known, labeled_weight, 1.0)
    alpha = np.full(n_views, 1 / n_views)
    beta = [np.ones(len(y_encoded)) for _ in features]
    predictions = []
    for x in features:
        centered = x[known] - x[known].mean(axis=0)
        w = np.linalg.solve(centered.T @ centered + ridge * np.eye(x.shape[1]), centered.T @ given)
        predictions.append(x @ w + (given - x[known] @ w).mean(axis=0))
    objective = []
    for _ in range(max_iter):
        score = sum(
            a**power * b[:, None] * prediction
            for a, b, prediction in zip(alpha, beta, predictions, strict=True)
        )
        labels = np.eye(3)[score.argmax(axis=1)]
        labels[known] = given
        losses, ws = [], []
        for v, x in enumerate(features):
            residual = ((predictions[v] - labels) ** 2).sum(axis=1)
            beta[v] = s / (2 * np.sqrt(residual + smooth**2))
            xt = np.hstack([x, np.ones((len(x), 1))])
            w = np.linalg.solve(
                xt.T @ np.diag(beta[v]) @ xt + ridge * np.eye(xt.shape[1]),
                xt.T @ np.diag(beta[v]) @ labels,
            )
            predictions[v] = xt @ w
            residual = ((predictions[v] - labels) ** 2).sum(axis=1)
            losses.append(s @ (np.sqrt(residual + smooth**2) - smooth) + ridge * np.sum(w**2))
            ws.append(w)
        powers = np.array(losses) ** (1 / (1 - power))
        alpha = powers / powers.sum()
        objective.append(np.sum(alpha**power * losses))
    return score, alpha, ws, objective


@pytest.mark.parametrize("widths", [(4,), (4, 7), (60, 5, 20)])
@pytest.mark.parametrize("power", [1.5, 2.0, 4.0])
@pytest.mark.parametrize("labeled_weight", [1.0, 100.0])
def test_regression_equals_the_literal_loop(rng, widths, power, labeled_weight):
    features, y_encoded, _ = planted(rng, widths, spread=2.0)
    options = {"ridge": 0.1, "labeled_weight": labeled_weight, "power": power, "max_iter": 6}
    score, alpha, ws, objective = literal_loop(features, y_encoded, smooth=1e-4, **options)
    found = adaptive_regression(features, y_encoded, 3, tol=0, **options)
    np.testing.assert_array_equal(found.scores.argmax(axis=1), score.argmax(axis=1))
    np.testing.assert_allclose(found.view_weights, alpha, rtol=1e-5)
    np.testing.assert_allclose(found.objective, objective, rtol=1e-6)
    for own, w in zip(found.coefficients, ws, strict=True):
        np.testing.assert_allclose(own, w, atol=1e-5)


@pytest.mark.parametrize("wide", [False, True])
def test_both_forms_of_the_systems_agree(rng, monkeypatch, wide):
    features, y_encoded, _ = planted(rng, (15, 19))
    automatic = adaptive_regression(features, y_encoded, 3, **{**OPTIONS, "ridge": 0.1})
    monkeypatch.setattr("manyview.baselines.solvers.mvar.DUAL_FROM", 0.0 if wide else np.inf)
    forced = adaptive_regression(features, y_encoded, 3, **{**OPTIONS, "ridge": 0.1})
    np.testing.assert_allclose(forced.objective, automatic.objective, rtol=1e-6)
    np.testing.assert_allclose(forced.scores, automatic.scores, atol=1e-4)


@pytest.mark.parametrize("widths", [(3, 60), (100,)])
def test_sparse_views_give_the_predictions_of_dense_ones(rng, widths):
    features, y_encoded, _ = planted(rng, widths)
    dense = adaptive_regression(features, y_encoded, 3, **OPTIONS)
    thin = adaptive_regression([sparse.csr_array(v) for v in features], y_encoded, 3, **OPTIONS)
    np.testing.assert_allclose(thin.objective, dense.objective, rtol=1e-6)
    np.testing.assert_allclose(thin.scores, dense.scores, atol=1e-5)


@pytest.mark.parametrize("widths", [(4, 7), (60, 5, 20)])
@pytest.mark.parametrize("labeled_weight", [1.0, 1e4])
@pytest.mark.parametrize("ridge", [1e-3, 1.0])
def test_objective_never_rises_while_the_labels_stay(rng, widths, labeled_weight, ridge):
    features, _, truth = planted(rng, widths, spread=3.0)
    options = {**OPTIONS, "labeled_weight": labeled_weight, "ridge": ridge, "max_iter": 40}
    found = adaptive_regression(features, truth, 3, **options)  # all are given
    objective = np.array(found.objective)
    assert np.all(np.diff(objective) <= 1e-9 * objective[:-1])


def test_objective_never_rises_on_planted_classes(rng):
    features, y_encoded, _ = planted(rng, (4, 7, 50))
    objective = np.array(adaptive_regression(features, y_encoded, 3, **OPTIONS).objective)
    assert np.all(np.diff(objective) <= 1e-9 * objective[:-1])


def test_loop_stops_when_six_values_agree(rng):
    features, y_encoded, _ = planted(rng, (4, 7))
    options = {**OPTIONS, "max_iter": 200, "tol": 1e-6}
    objective = adaptive_regression(features, y_encoded, 3, **options).objective
    assert 6 <= len(objective) < 200
    assert max(objective[-6:]) - min(objective[-6:]) < 1e-6 * max(objective[-6:])
    assert max(objective[-7:-1]) - min(objective[-7:-1]) >= 1e-6 * max(objective[-7:-1])


def test_best_view_weights_minimize_the_objective(rng):
    losses, power = rng.uniform(0.5, 3, size=4), 3.0
    best = best_view_weights(losses, power)
    assert best.sum() == pytest.approx(1)
    for _ in range(50):
        other = np.abs(best + 0.1 * rng.normal(size=4))
        other /= other.sum()
        assert best**power @ losses <= other**power @ losses


def test_view_weights_do_not_overflow_at_extreme_powers():
    np.testing.assert_allclose(best_view_weights(np.array([1e5, 2e5]), 1.001), [1, 0], atol=1e-9)
    np.testing.assert_allclose(best_view_weights(np.array([1e5, 2e5]), 1e6), 0.5, atol=1e-5)
    np.testing.assert_allclose(view_coefficients(np.array([0.5, 0.5]), 1e4), 1.0)


@pytest.mark.parametrize("width", [3, 40])
@pytest.mark.parametrize("as_given", [np.asarray, sparse.csr_array])
def test_first_predictions_equal_scikit_learns_ridge(rng, width, as_given):
    view, is_labeled = rng.normal(size=(30, width)) + 1, np.arange(30) < 12
    given = np.eye(3)[np.arange(12) % 3]
    reference = Ridge(alpha=0.2, solver="cholesky").fit(view[is_labeled], given).predict(view)
    predictions = first_predictions(as_given(view), is_labeled, given, 0.2)
    np.testing.assert_allclose(predictions, reference, atol=1e-9)


def test_duplicates_of_conflicting_labels_are_solved(rng):
    features = [1e3 * np.repeat(rng.normal(size=(5, 12)), 6, axis=0)]
    found = adaptive_regression(features, np.arange(30) % 3, 3, **OPTIONS)
    assert np.isfinite(found.scores).all()
