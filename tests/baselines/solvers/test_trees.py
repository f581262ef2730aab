"""Trees as arrays: equal to a literal walk, and refused where they are no trees."""

from dataclasses import replace

import numpy as np
import pytest

from manyview.baselines.solvers import trees
from manyview.baselines.solvers.growing import grow_forest


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
