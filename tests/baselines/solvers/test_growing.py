"""Grown trees: the predictions of scikit-learn's own, whatever the order and form of the rows."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

from manyview.baselines.solvers.growing import (
    _sorted_rows,
    grow_boosting,
    grow_forest,
    grow_held_out_forest,
    varying_columns,
)
from manyview.errors import InputError
from manyview.numerics import softmax
from manyview.system.config import config_context


def test_forest_is_scikit_learns(table):
    values, labels = table
    ordered, of_order, _ = _sorted_rows(values[:60], labels[:60])
    reference = RandomForestClassifier(40, random_state=3).fit(ordered, of_order)
    forest = grow_forest(values[:60], labels[:60], seed=3, n_estimators=40)
    np.testing.assert_array_equal(forest.mean(values), reference.predict_proba(values))


@pytest.mark.parametrize("class_weight", [None, np.array([1.0, 2.0, 5.0])])
@pytest.mark.parametrize("n_estimators", [4, 40])
def test_held_out_predictions_are_those_of_trees_that_did_not_draw_the_row(
    table, n_estimators, class_weight
):
    values, labels = table[0][:60], table[1][:60]
    settings = {"n_estimators": n_estimators, "class_weight": class_weight}
    forest, held_out = grow_held_out_forest(values, labels, seed=3, **settings)
    np.testing.assert_array_equal(
        forest.mean(values), grow_forest(values, labels, seed=3, **settings).mean(values)
    )
    weights = None if class_weight is None else dict(enumerate(class_weight))
    reference = RandomForestClassifier(n_estimators, random_state=3, class_weight=weights)
    ordered, of_order, _ = _sorted_rows(values, labels)
    reference.fit(ordered, of_order)
    n_never = 0
    for row, sample in enumerate(values):
        (place,) = np.flatnonzero(_same(ordered, sample))
        votes = [
            tree.predict_proba(sample[None])[0]
            for tree, drawn in zip(
                reference.estimators_, reference.estimators_samples_, strict=True
            )
            if place not in drawn
        ]
        n_never += not votes
        expected = np.mean(votes, axis=0) if votes else np.full(3, np.nan)
        np.testing.assert_allclose(held_out[row], expected, atol=1e-12)
    assert (n_never > 0) == (n_estimators == 4)


def _same(rows, sample):
    return ((rows == sample) | (np.isnan(rows) & np.isnan(sample))).all(axis=1)


@pytest.mark.parametrize("as_table", [np.asarray, sparse.csr_array])
def test_held_out_predictions_follow_the_rows_when_they_are_renumbered(table, rng, as_table):
    values, labels = as_table(np.nan_to_num(table[0])), table[1]
    order = rng.permutation(90)
    _, held_out = grow_held_out_forest(values, labels, seed=0, n_estimators=20)
    _, moved = grow_held_out_forest(values[order], labels[order], seed=0, n_estimators=20)
    np.testing.assert_array_equal(moved, held_out[order])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_boosting_is_scikit_learns(table, n_classes):
    values, labels = table
    kept = np.flatnonzero(labels < n_classes)[:50]
    ordered, of_order, _ = _sorted_rows(values[kept], labels[kept])
    settings = {"max_iter": 12, "min_samples_leaf": 2}
    reference = HistGradientBoostingClassifier(early_stopping=False, random_state=0, **settings)
    reference.fit(ordered, of_order)
    boosting, baseline = grow_boosting(values[kept], labels[kept], seed=0, **settings)
    scores = boosting.sums(values, baseline)
    expected = reference.decision_function(values).reshape(scores.shape)
    np.testing.assert_allclose(scores, expected, rtol=1e-12)
    if n_classes == 3:
        np.testing.assert_allclose(softmax(scores), reference.predict_proba(values), rtol=1e-9)


@pytest.mark.parametrize("has_nan", [False, True])
def test_sparse_rows_grow_the_trees_of_dense_ones(rng, has_nan):
    values = np.where(rng.random((60, 30)) < 0.2, rng.poisson(3, (60, 30)), 0).astype(np.float32)
    if has_nan:
        values[:9, :5] = np.nan
    labels = (np.nan_to_num(values[:, 7:12]).sum(axis=1) > 2).astype(int)
    thin = sparse.csr_array(values)
    dense = grow_forest(values, labels, seed=0, n_estimators=20)
    np.testing.assert_array_equal(
        grow_forest(thin, labels, seed=0, n_estimators=20).mean(thin), dense.mean(values)
    )
    boosted = [
        grow_boosting(one, labels, seed=0, max_iter=5, min_samples_leaf=2) for one in (values, thin)
    ]
    np.testing.assert_array_equal(boosted[0][0].sums(values, boosted[0][1]),
                                  boosted[1][0].sums(thin, boosted[1][1]))  # fmt: skip


def test_columns_without_two_values_change_nothing(table):
    values, labels = table
    wide = np.hstack([np.ones((90, 50), dtype=np.float32), values])
    narrow, baseline = grow_boosting(values, labels, seed=0, max_iter=5, min_samples_leaf=2)
    padded, _ = grow_boosting(wide, labels, seed=0, max_iter=5, min_samples_leaf=2)
    np.testing.assert_array_equal(padded.sums(wide, baseline), narrow.sums(values, baseline))
    assert varying_columns(wide).tolist() == list(range(50, 56))
    assert varying_columns(np.ones((3, 4))).tolist() == [0]


def test_rows_that_cannot_be_split_give_trees_of_one_leaf():
    rows = np.ones((6, 2), dtype=np.float32)
    forest = grow_forest(rows, np.arange(6) % 2, seed=0, n_estimators=50)
    assert len(forest.column) == 50
    assert forest.mean(rows).shape == (6, 2)
    forest.check(2, 2)


def test_a_dense_table_that_does_not_fit_in_memory_is_refused(table):
    values, labels = table
    with config_context(max_memory=1e-9), pytest.raises(InputError, match="dense table"):
        grow_boosting(values, labels, seed=0)
