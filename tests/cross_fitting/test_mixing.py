"""The mixture of models: its formula, its limits, and what held-out labels make of it."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from manyview.cross_fitting import mixing
from manyview.cross_fitting.mixing import (
    FLOOR,
    SHARPNESS,
    MixingPrior,
    Mixture,
    fit_mixture,
    match_sharpness,
)


def drawn(rng, n_samples, n_classes, skill):
    """Return class numbers and probabilities that favor them by `skill`."""
    y = rng.integers(n_classes, size=n_samples)
    logits = rng.normal(size=(n_samples, n_classes))
    logits[np.arange(n_samples), y] += skill
    chances = np.exp(logits)
    return y, chances / chances.sum(axis=1, keepdims=True)


def of_same_labels(rng, y, n_classes, skill):
    logits = rng.normal(size=(len(y), n_classes))
    logits[np.arange(len(y)), y] += skill
    chances = np.exp(logits)
    return chances / chances.sum(axis=1, keepdims=True)


def literal_cost(weights, models, y, label_weights, prior):
    """Minus the log of the posterior density, one label after the other."""
    n_classes = models[0].shape[1]
    total = 0.0
    for i, label in enumerate(y):
        products = []
        for c in range(n_classes):
            value = 1.0
            for weight, model in zip(weights, models, strict=True):
                value *= ((1 - FLOOR) * model[i, c] + FLOOR / n_classes) ** weight
            products.append(value)
        total -= label_weights[i] * np.log(products[label] / sum(products))
    total += (weights[0] - prior.first) ** 2 / (2 * prior.spread**2)
    return total + sum((one - prior.others) ** 2 for one in weights[1:]) / (2 * prior.spread**2)


def test_mixture_is_the_normalized_product_of_powers():
    rng = np.random.default_rng(0)
    models = [rng.dirichlet(np.ones(3), size=5) for _ in range(2)]
    weights = np.array([0.7, 1.3])
    mixed = Mixture(weights)(models)
    for i in range(5):
        products = [
            np.prod(
                [
                    ((1 - FLOOR) * model[i, c] + FLOOR / 3) ** weight
                    for model, weight in zip(models, weights, strict=True)
                ]
            )
            for c in range(3)
        ]
        np.testing.assert_allclose(mixed[i], np.array(products) / sum(products), rtol=1e-12)


def test_found_weights_are_a_minimum_of_the_literal_cost():
    rng = np.random.default_rng(1)
    y, first = drawn(rng, 60, 4, 1.0)
    models = [first, of_same_labels(rng, y, 4, 1.5)]
    label_weights = rng.random(60)
    found = fit_mixture(models, y, label_weights).weights
    assert (found > 0.1).all()  # inside the bounds, so that the gradient is 0 there

    def cost(weights):
        return literal_cost(weights, models, y, label_weights, MixingPrior())

    np.testing.assert_allclose(approx_fprime(found, cost, 1e-6), 0, atol=0.01)
    for _ in range(20):
        assert cost(np.clip(found + rng.normal(scale=0.05, size=2), 1e-6, None)) > cost(found)


def test_without_labels_the_weights_are_those_of_the_prior():
    found = fit_mixture([np.zeros((0, 3))] * 3, np.zeros(0, dtype=int))
    np.testing.assert_array_equal(found.weights, [0.7, 0.1, 0.1])


@pytest.mark.parametrize("n_labels", [2, 4])
def test_few_labels_stay_near_the_prior(n_labels):
    rng = np.random.default_rng(2)
    y, first = drawn(rng, n_labels, 3, 1.0)
    found = fit_mixture([first, of_same_labels(rng, y, 3, 3.0)], y)
    np.testing.assert_allclose(found.weights, [0.7, 0.1], atol=0.5)


def test_a_label_that_is_surely_wrong_does_not_count():
    rng = np.random.default_rng(8)
    y, first = drawn(rng, 50, 3, 1.0)
    models = [first, of_same_labels(rng, y, 3, 1.0)]
    clean = fit_mixture(models, y).weights
    doubled = [np.vstack([one, one[:10]]) for one in models]
    wrong = np.append(y, (y[:10] + 1) % 3)
    weights = np.append(np.ones(50), np.zeros(10))
    np.testing.assert_allclose(fit_mixture(doubled, wrong, weights).weights, clean, atol=1e-4)


def test_better_model_gets_the_larger_weight_with_many_labels():
    rng = np.random.default_rng(3)
    y, first = drawn(rng, 500, 5, 0.5)
    found = fit_mixture([first, of_same_labels(rng, y, 5, 4.0)], y)
    assert found.weights[1] > found.weights[0]


def test_a_model_that_says_nothing_changes_nothing():
    rng = np.random.default_rng(4)
    y, first = drawn(rng, 100, 3, 1.0)
    even = np.full((100, 3), 1 / 3)
    alone, both = fit_mixture([first], y), fit_mixture([first, even], y)
    np.testing.assert_allclose(both.weights, [alone.weights[0], 0.1], atol=1e-3)
    np.testing.assert_allclose(both([first, even]), alone([first]), atol=1e-3)


def test_order_of_samples_and_classes_does_not_matter():
    rng = np.random.default_rng(5)
    y, first = drawn(rng, 80, 4, 1.0)
    second = of_same_labels(rng, y, 4, 1.5)
    found = fit_mixture([first, second], y)
    rows, classes = rng.permutation(80), rng.permutation(4)
    moved = fit_mixture(
        [first[rows][:, classes], second[rows][:, classes]], np.argsort(classes)[y[rows]]
    )
    np.testing.assert_allclose(moved.weights, found.weights, atol=1e-4)


def test_probabilities_of_zero_stay_finite():
    certain = np.eye(2)[[0, 0, 1]]
    found = fit_mixture([certain], np.array([0, 1, 1]))
    assert np.isfinite(found([certain])).all()
    assert found.weights[0] >= mixing.LEAST_FIRST


def mean_confidence(logits):
    chances = np.exp(logits - logits.max(axis=1, keepdims=True))
    return float((chances / chances.sum(axis=1, keepdims=True)).max(axis=1).mean())


@pytest.mark.parametrize("error_ratio", [1.0, 0.9, 0.5])
def test_sharpness_gives_the_confidence_of_held_out_fits_less_the_errors_avoided(rng, error_ratio):
    fitted, held = 5 * rng.normal(size=(200, 3)), [2 * rng.normal(size=(200, 3)) for _ in range(2)]
    factor = match_sharpness(fitted, held, error_ratio)
    expected = np.mean([1 - error_ratio * (1 - mean_confidence(one)) for one in held])
    assert mean_confidence(factor * fitted) == pytest.approx(expected, abs=1e-5)


def test_sharpness_has_bounds_and_needs_something_to_compare(rng):
    logits = rng.normal(size=(50, 3))
    assert match_sharpness(0.5 * logits, [logits]) == SHARPNESS[1] == 1.0
    assert match_sharpness(logits, [0.01 * logits], 1.0) == SHARPNESS[0]
    assert match_sharpness(logits, []) == 1.0
    assert match_sharpness(logits[:0], [logits[:0]]) == 1.0
    assert match_sharpness(0 * logits, [0 * logits], 1.0) == 1.0  # no factor changes it


def test_sharpness_does_not_depend_on_the_order_of_samples(rng):
    fitted, held = 3 * rng.normal(size=(40, 3)), rng.normal(size=(40, 3))
    order = rng.permutation(40)
    assert match_sharpness(fitted[order], [held[order]]) == pytest.approx(
        match_sharpness(fitted, [held])
    )
