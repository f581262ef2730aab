"""Weights of labels by how typical they are: none for fair draws, a correction for hard ones."""

import numpy as np
import pytest

from manyview.cross_fitting.performance import estimate_performance
from manyview.cross_fitting.typicality import typicality_weights


def population(rng, n_samples):
    """Return how sure a model is of each sample, and whether it is right: it is calibrated."""
    sure = rng.beta(6, 1, size=n_samples)
    return sure, rng.random(n_samples) < sure


def pick_hard(rng, sure, n):
    """Pick samples, unsure ones more often."""
    chances = (1.02 - sure) ** 2
    return rng.choice(len(sure), size=n, replace=False, p=chances / chances.sum())


def test_labels_that_were_drawn_at_random_keep_their_weights():
    rng = np.random.default_rng(0)
    n_changed = 0
    for _ in range(200):
        sure, _ = population(rng, 2000)
        weights = typicality_weights(rng.choice(sure, size=60, replace=False), sure)
        n_changed += not np.array_equal(weights, np.ones(60))
    assert n_changed <= 2


def test_hard_labels_count_less_than_easy_ones_and_together_for_fewer():
    rng = np.random.default_rng(1)
    sure, _ = population(rng, 2000)
    rows = pick_hard(rng, sure, 60)
    weights = typicality_weights(sure[rows], sure)
    order = np.argsort(sure[rows])
    assert (np.diff(weights[order]) >= 0).all()
    assert weights.sum() == pytest.approx(weights.sum() ** 2 / (weights @ weights))
    assert 5 < weights.sum() < 60


def test_intervals_cover_where_hard_samples_were_labeled():
    rng = np.random.default_rng(2)
    covered, without = [], []
    for _ in range(60):
        sure, is_right = population(rng, 3000)
        rows = pick_hard(rng, sure, 80)
        truth = np.zeros(len(rows), dtype=int)
        predicted = np.where(is_right[rows], 0, 1)
        sizes, settings = np.array([2999.0, 1.0]), {"error_ratio": (1.0, 1.0)}
        weights = typicality_weights(sure[rows], sure)
        for found, own in ((covered, weights), (without, None)):
            estimate = estimate_performance(
                truth, predicted, sizes, rng, label_weights=own, **settings
            ).accuracy
            found.append(estimate.low <= is_right.mean() <= estimate.high)
    assert np.mean(without) < 0.2
    assert np.mean(covered) >= 0.85


@pytest.mark.parametrize(("n_labels", "n_unlabeled"), [(0, 5), (5, 0), (0, 0)])
def test_nothing_to_compare_with_changes_nothing(n_labels, n_unlabeled):
    weights = typicality_weights(np.full(n_labels, 0.5), np.full(n_unlabeled, 0.9))
    np.testing.assert_array_equal(weights, np.ones(n_labels))


def test_equal_sureness_everywhere_changes_nothing():
    np.testing.assert_array_equal(typicality_weights(np.ones(30), np.ones(50)), np.ones(30))
