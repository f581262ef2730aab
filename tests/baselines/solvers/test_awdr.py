from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

from manyview.baselines.solvers.awdr import discriminative_regression


def planted(rng, widths, n_classes=3):
    y_encoded = np.arange(18) % n_classes
    features = [
        2 * rng.normal(size=(n_classes, width))[y_encoded] + rng.normal(size=(18, width)) + 1
        for width in widths
    ]
    return features, np.where(y_encoded[:, None] == np.arange(n_classes), 1.0, -1.0)


def literal_loop(features, signs, ridge, max_iter, tol):
    """The equations as they are written, with dense inverses."""
    table, widths = np.hstack(features), [view.shape[1] for view in features]
    ends = np.cumsum([0, *widths])
    centered = table - table.mean(axis=0)

    def regress(delta, targets):
        penalty = ridge * np.diag(1 / np.repeat(delta, widths))
        w = np.linalg.inv(centered.T @ centered + penalty) @ centered.T @ targets
        return w, (targets - table @ w).mean(axis=0)

    def view_weights(w):
        norms = [np.linalg.norm(w[a:b]) for a, b in pairwise(ends)]
        return np.maximum(np.array(norms) / sum(norms), 1e-12)

    w, b = regress(np.full(len(features), 1 / len(features)), signs)
    delta = view_weights(w)
    n_iter = 0
    change = np.inf
    while n_iter < max_iter and change >= tol:
        n_iter += 1
        slack = np.maximum(signs * (table @ w + b - signs), 0)
        targets = signs + signs * slack
        before = w, b, delta
        delta = view_weights(w)
        w, b = regress(delta, targets)
        change = sum(np.sum((x - y) ** 2) for x, y in zip((w, b, delta), before, strict=True))
    return np.split(w, ends[1:-1]), b, delta, n_iter


@pytest.mark.parametrize("form", ["primal", "dual"])
@pytest.mark.parametrize("widths", [(3,), (4, 5), (30, 2, 7)])
@pytest.mark.parametrize("tol", [5e-3, 1e-6])
def test_regression_equals_the_literal_loop(rng, form, widths, tol):
    features, signs = planted(rng, widths)
    w, b, delta, n_iter = literal_loop(features, signs, 0.7, 200, tol)
    found = discriminative_regression(features, signs, ridge=0.7, max_iter=200, tol=tol, form=form)
    np.testing.assert_allclose(np.vstack(found.coefficients), np.vstack(w), atol=1e-8)
    np.testing.assert_allclose(found.intercept, b, atol=1e-8)
    np.testing.assert_allclose(found.view_weights, delta, atol=1e-8)
    assert len(found.objective) == n_iter


def test_sparse_views_give_the_predictions_of_dense_ones(rng):
    features, signs = planted(rng, (40, 6))
    options = {"ridge": 1.0, "max_iter": 50, "tol": 1e-4}
    for form in ("primal", "dual"):
        dense = discriminative_regression(features, signs, form=form, **options)
        thin = discriminative_regression(
            [sparse.csr_array(view) for view in features], signs, form=form, **options
        )
        np.testing.assert_allclose(
            np.vstack(thin.coefficients), np.vstack(dense.coefficients), atol=1e-10
        )


@pytest.mark.parametrize("widths", [(4, 5), (30, 2, 7)])
@pytest.mark.parametrize("ridge", [1e-3, 1.0, 1e3])
def test_objective_never_rises(rng, widths, ridge):
    features, signs = planted(rng, widths)
    found = discriminative_regression(features, signs, ridge=ridge, max_iter=60, tol=0)
    objective = np.array(found.objective)
    assert len(objective) == 60
    assert not found.has_converged
    assert np.all(np.diff(objective) <= 1e-9 * objective[:-1])


def test_a_view_of_noise_weighs_less(rng):
    features, signs = planted(rng, (5, 5))
    features[1] = rng.normal(size=(18, 5))
    found = discriminative_regression(features, signs, ridge=1.0, max_iter=200, tol=1e-4)
    assert found.view_weights.sum() == pytest.approx(1)
    assert found.view_weights[0] > 2 * found.view_weights[1]


def test_a_constant_view_gets_no_weight(rng):
    features, signs = planted(rng, (5, 5))
    features[1] = np.ones((18, 5))
    found = discriminative_regression(features, signs, ridge=1.0, max_iter=200, tol=1e-4)
    assert found.view_weights[1] < 1e-10
    assert np.abs(found.coefficients[1]).max() < 1e-10


def test_views_of_zeros_alone_share_the_weight(rng):
    _, signs = planted(rng, (2,))
    features = [np.zeros((18, 2)), np.zeros((18, 3))]
    found = discriminative_regression(features, signs, ridge=1.0, max_iter=20, tol=1e-4)
    np.testing.assert_allclose(found.view_weights, 0.5)
    np.testing.assert_allclose(found.intercept, signs.mean(axis=0), atol=1e-12)
