"""Trees as arrays: the predictions of scikit-learn's own, and files that hold no trees."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier

from manyview.baselines.solvers import trees
from manyview.baselines.solvers.trees import (
    _sorted_rows,
    grow_boosting,
    grow_forest,
    grow_held_out_forest,
    varying_columns,
)
from manyview.errors import InputError
from manyview.numerics import softmax
from manyview.system.config import config_context


@pytest.fixture
def table(rng):
    """90 rows of 3 classes in 7 columns; some values are missing, one column is constant."""
    labels = np.arange(90) % 3
    values = rng.normal(size=(90, 7)) + labels[:, None] * (np.arange(7) < 4)
    values[rng.random((90, 7)) < 0.1] = np.nan
    values[:, 6] = 2.0
    return values.astype(np.float32), labels


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


def test_leaves_equal_a_literal_walk(table):
    values, labels = table
    forest = grow_forest(values[:60], labels[:60], seed=0, n_estimators=5)
    expected = np.zeros((90, 3))
    for row, sample in enumerate(values):
        for node in forest.roots:
            while forest.column[node] >= 0:
                value = sample[forest.column[node]]
                left = forest.nan_left[node] if np.isnan(value) else value <= forest.threshold[node]
                node = forest.left[node] if left else forest.right[node]
            expected[row] += forest.values[forest.left[node]] / 5
    np.testing.assert_allclose(forest.mean(values), expected, atol=1e-12)


def test_rows_in_small_blocks_are_the_same(table, monkeypatch):
    values, labels = table
    forest = grow_forest(values, labels, seed=0, n_estimators=5)
    whole = forest.mean(values)
    monkeypatch.setattr(trees, "BLOCK_NODES", 20)
    np.testing.assert_array_equal(forest.mean(values), whole)


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


def no_trees(ensemble):
    """Changes of the arrays of a forest, by name, after each of which it is none."""
    is_inner = np.flatnonzero(ensemble.column >= 0)
    is_leaf = np.flatnonzero(ensemble.column < 0)

    def put(array, place, value):
        changed = array.copy()
        changed[place] = value
        return changed

    return {
        "a loop": {"left": put(ensemble.left, is_inner[0], is_inner[0])},
        "a child outside": {"right": put(ensemble.right, is_inner[0], len(ensemble.column))},
        "a column outside": {"column": put(ensemble.column, is_inner[0], 7)},
        "a leaf outside": {"left": put(ensemble.left, is_leaf[0], len(ensemble.values))},
        "a root outside": {"roots": put(ensemble.roots, 0, -1)},
        "no root": {"roots": ensemble.roots[:0]},
        "a node too few": {"threshold": ensemble.threshold[1:]},
        "another class": {"values": ensemble.values[:, 1:]},
        "fractions of nodes": {"left": ensemble.left.astype(np.float64)},
        "no node": {
            name: getattr(ensemble, name)[:0]
            for name in ("column", "threshold", "left", "right", "nan_left")
        },
    }


def test_arrays_that_are_no_trees_are_refused(table):
    values, labels = table
    forest = grow_forest(values, labels, seed=0, n_estimators=3)
    forest.check(7, 3)
    for changes in no_trees(forest).values():
        with pytest.raises(ValueError, match=r"tree|node"):
            replace(forest, **changes).check(7, 3)


def test_use_of_columns_counts_a_comparison_half_as_much_as_the_one_before():
    leaf = -1
    tree = trees.Nodes(  # column 0, then column 2 on the right side
        column=np.array([0, leaf, 2, leaf, leaf]),
        threshold=np.zeros(5),
        left=np.array([1, leaf, 3, leaf, leaf]),
        right=np.array([2, leaf, 4, leaf, leaf]),
        nan_left=np.zeros(5, dtype=bool),
        values=np.zeros((5, 2)),
    )
    stump = trees.Nodes(*(one[[1]] for one in tree))
    use = trees.join_trees([tree, tree, stump]).column_use(4)
    np.testing.assert_allclose(use, [2 / 3, 0, 1 / 3, 0])
    np.testing.assert_array_equal(trees.join_trees([stump]).column_use(2), [0, 0])
