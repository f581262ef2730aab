"""Predictions of each label from all others: equal to refits, with any shape and penalty."""

import numpy as np
import pytest

from manyview.label_audit import leave_one_out
from manyview.label_audit.leave_one_out import leave_one_out_scores, regression_scores

PENALTIES = (0.01, 0.3, 10.0)


def literal_scores(features, y, n_classes, penalty, label_weights):
    """The same by one fit per label, of a design matrix with a column of ones."""
    targets = np.eye(n_classes)[y]
    roots = np.sqrt(label_weights)
    centered = features - np.average(features, axis=0, weights=label_weights)
    rank = np.linalg.matrix_rank(centered)
    absolute = penalty * (label_weights[:, None] * centered**2).sum() / rank
    found = np.empty((len(y), n_classes))
    for i in range(len(y)):
        others = np.arange(len(y)) != i
        design = np.column_stack([np.ones(len(y) - 1), features[others]])
        design *= roots[others, None]
        ridge = absolute * np.eye(design.shape[1])
        ridge[0, 0] = 0.0
        weights = np.linalg.solve(
            design.T @ design + ridge, design.T @ (roots[:, None] * targets)[others]
        )
        found[i] = np.append(1.0, features[i]) @ weights
    return found


@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize(("n_labels", "n_columns"), [(12, 4), (8, 15), (10, 10)])
def test_scores_are_those_of_refits_without_the_label(n_labels, n_columns, is_weighted):
    rng = np.random.default_rng(n_labels)
    features = rng.normal(size=(n_labels, n_columns)) + 3
    y = rng.integers(3, size=n_labels)
    weights = rng.uniform(0.05, 1, size=n_labels) if is_weighted else None
    found = list(leave_one_out_scores(features, y, 3, PENALTIES, label_weights=weights))
    for penalty, scores in zip(PENALTIES, found, strict=True):
        ones = np.ones(n_labels)
        wanted = literal_scores(features, y, 3, penalty, ones if weights is None else weights)
        np.testing.assert_allclose(scores, wanted, rtol=1e-7, atol=1e-7)


def test_labels_of_little_weight_hardly_change_the_predictions_of_others():
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], 10)
    features = np.eye(2)[y] + 0.1 * rng.normal(size=(20, 2))
    given = y.copy()
    given[:4] = 1  # wrong
    weights = np.where(given == y, 1.0, 1e-6)
    (equal,) = leave_one_out_scores(features, given, 2, [0.1])
    (weighted,) = leave_one_out_scores(features, given, 2, [0.1], label_weights=weights)
    (clean,) = leave_one_out_scores(features[4:], y[4:], 2, [0.1])
    np.testing.assert_allclose(weighted[4:], clean, atol=1e-2)
    assert np.abs(equal[4:] - clean).max() > 0.2
    assert (weighted[:4].argmax(axis=1) == 0).all()


def test_size_and_place_of_the_features_do_not_matter():
    rng = np.random.default_rng(0)
    features, y = rng.normal(size=(20, 5)), rng.integers(2, size=20)
    (before,) = leave_one_out_scores(features, y, 2, [0.1])
    (after,) = leave_one_out_scores(1000 * features - 7, y, 2, [0.1])
    np.testing.assert_allclose(after, before, atol=1e-8)


def test_order_of_labels_does_not_matter():
    rng = np.random.default_rng(1)
    features, y = rng.normal(size=(30, 8)), rng.integers(3, size=30)
    rows = rng.permutation(30)
    (before,) = leave_one_out_scores(features, y, 3, [1.0])
    (after,) = leave_one_out_scores(features[rows], y[rows], 3, [1.0])
    np.testing.assert_allclose(after, before[rows], atol=1e-8)


def test_scores_of_a_label_do_not_depend_on_it():
    rng = np.random.default_rng(2)
    features, y = rng.normal(size=(15, 3)), np.repeat([0, 1, 2], 5)
    changed = y.copy()
    changed[4] = 2
    for before, after in zip(
        leave_one_out_scores(features, y, 3, PENALTIES),
        leave_one_out_scores(features, changed, 3, PENALTIES),
        strict=True,
    ):
        np.testing.assert_allclose(after[4], before[4], atol=1e-8)


def test_infinite_penalty_predicts_the_frequencies_of_the_others():
    y = np.array([0, 0, 0, 1])
    (scores,) = leave_one_out_scores(np.random.default_rng(3).normal(size=(4, 2)), y, 2, [1e12])
    np.testing.assert_allclose(scores[0], [2 / 3, 1 / 3], atol=1e-6)
    np.testing.assert_allclose(scores[3], [1, 0], atol=1e-6)


def test_equal_features_say_nothing_beyond_frequencies():
    (scores,) = leave_one_out_scores(np.ones((6, 3)), np.repeat([0, 1], 3), 2, [0.1])
    np.testing.assert_allclose(scores[0], [2 / 5, 3 / 5], atol=1e-9)


def test_wide_features_of_many_labels_are_projected(monkeypatch):
    rng = np.random.default_rng(4)
    y = rng.integers(3, size=90)
    features = rng.normal(size=(90, 300)) + 2 * np.repeat(np.eye(3)[y], 100, axis=1)
    (whole,) = leave_one_out_scores(features, y, 3, [0.1])
    monkeypatch.setattr(leave_one_out, "MAX_COLUMNS", 60)
    first, second = (next(leave_one_out_scores(features, y, 3, [0.1])) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert (first.argmax(axis=1) == whole.argmax(axis=1)).mean() > 0.95


@pytest.mark.parametrize("shape", [(30, 5), (12, 40)])
@pytest.mark.parametrize("penalty", PENALTIES)
def test_scores_of_other_samples_are_those_of_ridge_regression(rng, shape, penalty):
    from sklearn.linear_model import Ridge

    features, new = rng.normal(size=shape), rng.normal(size=(7, shape[1]))
    y = np.arange(shape[0]) % 3
    centered = features - features.mean(axis=0)
    absolute = penalty * (centered**2).sum() / np.linalg.matrix_rank(centered)
    literal = Ridge(alpha=absolute).fit(features, np.eye(3)[y]).predict(new)
    np.testing.assert_allclose(regression_scores(features, y, 3, penalty, new), literal, atol=1e-8)
