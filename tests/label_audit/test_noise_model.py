"""The model of wrong labels: its formulas, its limits, and what it finds in made labels."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from manyview.label_audit.noise_model import (
    EVEN_STRENGTH,
    N_RIGHT,
    SHARPNESS,
    all_right_model,
    even_table,
    fit_noise_model,
    fit_sharpness,
)
from manyview.numerics import softmax


def made_scores(rng, truth, n_classes, spread=0.15):
    return np.eye(n_classes)[truth] + spread * rng.normal(size=(len(truth), n_classes))


def made_labels(rng, n_labels, n_classes, wrong, kind="even"):
    truth = rng.integers(n_classes, size=n_labels)
    is_wrong = np.arange(n_labels) < wrong * n_labels
    shift = rng.integers(1, n_classes, size=n_labels) if kind == "even" else 1
    return truth, np.where(is_wrong, (truth + shift) % n_classes, truth), is_wrong


def literal_density(scores, y, sharpness, table, wrong):
    """Logarithm of likelihood and prior by loops."""
    n_classes = scores.shape[1]
    total = 0.0
    for i, label in enumerate(y):
        powers = [np.exp(sharpness * scores[i, c]) for c in range(n_classes)]
        total += np.log(sum(powers[c] / sum(powers) * table[c, label] for c in range(n_classes)))
    even = even_table(wrong, n_classes)
    for c in range(n_classes):
        for k in range(n_classes):
            total += EVEN_STRENGTH * even[c, k] * np.log(table[c, k] / even[c, k])
    return total + N_RIGHT * np.log(1 - wrong)


def test_sharpness_maximizes_the_likelihood():
    rng = np.random.default_rng(0)
    truth = rng.integers(4, size=80)
    scores, targets = made_scores(rng, truth, 4, 0.6), np.eye(4)[truth]

    def cost(place):
        return -(targets * np.log(softmax(np.exp(place) * scores))).sum()

    best = minimize_scalar(cost, bounds=np.log(SHARPNESS), method="bounded").x
    assert fit_sharpness(scores, targets) == pytest.approx(np.exp(best), rel=1e-3)


@pytest.mark.parametrize("sign", [1, -1])
def test_sharpness_stays_within_bounds(sign):
    scores = sign * np.eye(3)[[0, 1, 2, 0]]
    found = fit_sharpness(scores, np.eye(3)[[0, 1, 2, 0]], n_steps=200)
    low, high = SHARPNESS
    assert found == low if sign < 0 else 30 < found <= high  # beyond 30 nothing changes any more


def test_density_and_posteriors_are_those_of_the_formulas():
    rng = np.random.default_rng(1)
    truth, y, _ = made_labels(rng, 40, 3, 0.2)
    scores = made_scores(rng, truth, 3, 0.4)
    found = fit_noise_model(scores, y)
    np.testing.assert_allclose(found.table.sum(axis=1), 1)
    for i, label in enumerate(y):
        chances = softmax(found.sharpness * scores[i : i + 1])[0] * found.table[:, label]
        np.testing.assert_allclose(found.of_true[i], chances / chances.sum(), rtol=1e-9)
    # The fraction that the prior's even table has is the last one of the estimation.
    wrong = found.wrong(y).sum() / (len(y) + N_RIGHT)
    wanted = literal_density(scores, y, found.sharpness, found.table, wrong)
    assert found.log_density == pytest.approx(wanted, abs=0.02)


def test_all_right_model_is_the_likelihood_alone():
    rng = np.random.default_rng(2)
    truth = rng.integers(3, size=30)
    scores = made_scores(rng, truth, 3)
    found = all_right_model(scores, truth)
    chances = softmax(found.sharpness * scores)[np.arange(30), truth]
    assert found.log_density == pytest.approx(np.log(chances).sum())
    np.testing.assert_array_equal(found.wrong(truth), 0)


@pytest.mark.parametrize("kind", ["even", "confused"])
@pytest.mark.parametrize("wrong", [0.1, 0.3])
def test_wrong_labels_are_found(kind, wrong):
    rng = np.random.default_rng(3)
    truth, y, is_wrong = made_labels(rng, 200, 5, wrong, kind)
    found = fit_noise_model(made_scores(rng, truth, 5), y)
    np.testing.assert_array_equal(found.wrong(y) > 0.5, is_wrong)
    np.testing.assert_array_equal(found.of_true.argmax(axis=1), truth)
    assert found.wrong(y).mean() == pytest.approx(wrong, abs=0.02)


def test_confused_classes_show_in_the_table():
    rng = np.random.default_rng(4)
    truth, y, _ = made_labels(rng, 400, 4, 0.3, "confused")
    table = fit_noise_model(made_scores(rng, truth, 4), y).table
    assert (table.argsort(axis=1)[:, -2] == (np.arange(4) + 1) % 4).all()


def test_order_of_labels_and_classes_does_not_matter():
    rng = np.random.default_rng(5)
    truth, y, _ = made_labels(rng, 60, 3, 0.2)
    scores = made_scores(rng, truth, 3, 0.5)
    found = fit_noise_model(scores, y)
    rows, classes = rng.permutation(60), np.array([2, 0, 1])
    moved = fit_noise_model(scores[rows][:, classes], np.argsort(classes)[y[rows]])
    np.testing.assert_allclose(
        moved.wrong(np.argsort(classes)[y[rows]]), found.wrong(y)[rows], atol=1e-8
    )
