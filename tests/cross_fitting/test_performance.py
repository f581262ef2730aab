"""Estimated scores: their intervals cover, their corrections correct, few labels say nothing."""

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, f1_score

from manyview.cross_fitting.performance import MIN_LABELS, estimate_performance

UNCORRECTED = {"error_ratio": (1.0, 1.0)}


def drawn(rng, n_samples, sizes, accuracy):
    """Return true and predicted classes; each class has its own accuracy."""
    truth = rng.choice(len(sizes), p=sizes, size=n_samples)
    is_right = rng.random(n_samples) < np.asarray(accuracy)[truth]
    other = (truth + rng.integers(1, len(sizes), size=n_samples)) % len(sizes)
    return truth, np.where(is_right, truth, other)


def test_few_labels_give_no_estimate():
    few = np.zeros(MIN_LABELS - 1, dtype=int)
    rng = np.random.default_rng(0)
    assert estimate_performance(few, few, np.array([50, 50]), rng) is None


@pytest.mark.parametrize("draw", ["proportional", "equal"])
def test_intervals_cover_the_scores_of_all_samples(draw):
    """Also where labels are drawn equally per class, so that their mean accuracy is another."""
    rng = np.random.default_rng(1)
    sizes, accuracy = np.array([0.6, 0.3, 0.1]), np.array([0.95, 0.8, 0.5])
    covered = []
    for _ in range(100):
        truth, predicted = drawn(rng, 3000, sizes, accuracy)
        if draw == "proportional":
            rows = rng.choice(3000, size=90, replace=False)
        else:
            rows = np.concatenate(
                [rng.choice(np.flatnonzero(truth == c), 30, replace=False) for c in range(3)]
            )
        found = estimate_performance(truth[rows], predicted[rows], 3000 * sizes, rng, **UNCORRECTED)
        scores = (
            (truth == predicted).mean(),
            balanced_accuracy_score(truth, predicted),
            f1_score(truth, predicted, average="macro"),
        )
        estimates = (found.accuracy, found.balanced_accuracy, found.macro_f1)
        covered.append([e.low <= s <= e.high for e, s in zip(estimates, scores, strict=True)])
    assert (np.mean(covered, axis=0) >= 0.88).all()


def test_estimates_approach_the_scores_with_many_labels():
    rng = np.random.default_rng(2)
    sizes = np.array([0.5, 0.3, 0.2])
    truth, predicted = drawn(rng, 50_000, sizes, [0.9, 0.7, 0.6])
    found = estimate_performance(truth, predicted, 50_000 * sizes, rng, **UNCORRECTED)
    assert found.accuracy.value == pytest.approx((truth == predicted).mean(), abs=0.005)
    recall = balanced_accuracy_score(truth, predicted)
    assert found.balanced_accuracy.value == pytest.approx(recall, abs=0.005)
    f1 = f1_score(truth, predicted, average="macro")
    assert found.macro_f1.value == pytest.approx(f1, abs=0.005)
    assert found.accuracy.high - found.accuracy.low < 0.02


def test_labels_that_are_surely_wrong_do_not_count():
    rng = np.random.default_rng(3)
    sizes = np.full(4, 5000)
    truth, predicted = drawn(rng, 20_000, sizes / sizes.sum(), np.full(4, 0.9))
    is_wrong = rng.random(20_000) < 0.2
    given = np.where(is_wrong, (truth + rng.integers(1, 4, size=20_000)) % 4, truth)
    found = estimate_performance(
        given, predicted, sizes, rng, label_weights=1.0 - is_wrong, **UNCORRECTED
    )
    assert found.accuracy.value == pytest.approx(0.9, abs=0.01)


def test_few_unlabeled_samples_widen_the_interval():
    rng = np.random.default_rng(6)
    truth, predicted = drawn(rng, 5000, np.full(2, 0.5), [0.8, 0.8])
    widths = [
        found.accuracy.high - found.accuracy.low
        for n_samples in (20, 20_000)
        for found in [
            estimate_performance(truth, predicted, np.full(2, n_samples), rng, **UNCORRECTED)
        ]
    ]
    assert widths[0] > 4 * widths[1]


def test_a_class_that_was_never_hidden_may_have_any_recall():
    rng = np.random.default_rng(7)
    truth = np.repeat([0, 1], 50)
    found = estimate_performance(truth, truth, np.array([500, 500, 500]), rng, **UNCORRECTED)
    assert found.balanced_accuracy.low < 0.72
    assert found.balanced_accuracy.high > 0.95


def test_fewer_labels_per_class_expect_a_larger_gain_from_all_of_them():
    rng = np.random.default_rng(8)
    sizes = np.full(10, 100)
    few, many = (np.repeat(np.arange(10), n) for n in (2, 200))
    wrong = [(one + (np.arange(len(one)) % 2)) % 10 for one in (few, many)]
    by_few, by_many = (
        estimate_performance(one, other, sizes, rng)
        for one, other in zip((few, many), wrong, strict=True)
    )
    assert by_few.accuracy.value > by_many.accuracy.value + 0.05


def test_hidden_labels_cost_errors_that_a_fit_with_all_does_not_make():
    rng = np.random.default_rng(4)
    sizes = np.full(2, 5000)
    truth, predicted = drawn(rng, 5000, np.full(2, 0.5), [0.8, 0.8])
    plain = estimate_performance(truth, predicted, sizes, rng, **UNCORRECTED)
    half = estimate_performance(truth, predicted, sizes, rng, error_ratio=(0.5, 0.5))
    assert half.accuracy.value == pytest.approx(1 - (1 - plain.accuracy.value) / 2, abs=0.01)


def test_same_draws_give_the_same_estimate_between_0_and_1():
    truth = np.repeat([0, 1, 2], 10)
    sizes = np.array([20, 30, 50])
    first, second = (
        estimate_performance(truth, truth, sizes, np.random.default_rng(5)) for _ in range(2)
    )
    assert first == second
    for one in (first.accuracy, first.balanced_accuracy, first.macro_f1):
        assert 0 <= one.low <= one.value <= one.high <= 1


def test_no_error_among_few_labels_does_not_promise_perfection():
    """With 0 errors in n labels the error rate may be up to about 3 / n."""
    rng = np.random.default_rng(9)
    truth = np.arange(68) % 5
    found = estimate_performance(truth, truth, np.full(5, 200), rng, **UNCORRECTED)
    assert 0.94 < found.accuracy.low < 0.985


def test_labels_that_were_left_out_lower_the_estimate_and_widen_it():
    rng = np.random.default_rng(10)
    truth = np.arange(100) % 5
    used, left = (
        estimate_performance(truth, truth, np.full(5, 500), rng, n_left_out=n, **UNCORRECTED)
        for n in (0, 30)
    )
    assert left.accuracy.low < used.accuracy.low - 0.01
    assert left.accuracy.high > 0.98
