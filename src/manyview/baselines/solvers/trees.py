"""Ensembles of decision trees as arrays, which a model file can hold and any version can read.

scikit-learn grows the trees; their nodes are copied into arrays, and predictions walk through
these. Nothing of scikit-learn's own is stored.

labeled rows -> grow_forest, grow_boosting -> TreeEnsemble -> leaves of any rows
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from manyview.data.views import View

LEAF = -1
ALL = slice(None)
BLOCK_NODES = 2**20  # pairs of a sample and a tree that are walked at a time
BLOCK_BYTES = 64 * 2**20  # dense values of a block of samples
LARGEST = float(np.finfo(np.float64).max)


class Nodes(NamedTuple):
    """The nodes of one tree, as scikit-learn stores them; the first is the root."""

    column: np.ndarray  # -1 at a leaf
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    nan_left: np.ndarray
    values: np.ndarray  # [node, output]


@dataclass(frozen=True)
class TreeEnsemble:
    """Trees whose inner nodes compare one column with a threshold.

    Attributes
    ----------
    roots
        [tree] number of its first node.
    column, threshold
        [node] values up to the threshold go left; the column is -1 at a leaf.
    left, right
        [node] its children, which have larger numbers; a leaf has its row of `values`, twice.
    nan_left
        [node] whether missing values go left.
    values
        [leaf, output].
    """

    roots: np.ndarray
    column: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    nan_left: np.ndarray
    values: np.ndarray

    def leaves(self, table: View) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield blocks of rows and the row of `values` that each tree gives them: [row, tree]."""
        used, column = self._used_columns()
        n_rows = max(1, min(BLOCK_NODES // len(self.roots), BLOCK_BYTES // (4 * len(used))))
        for start in range(0, table.shape[0], n_rows):
            rows = slice(start, min(start + n_rows, table.shape[0]))
            yield rows, self._walk(dense_block(table, rows, used), column)

    def mean(self, table: View) -> np.ndarray:
        """Return the mean of the trees' values: [row, output]."""
        means = np.zeros((table.shape[0], self.values.shape[1]))
        for rows, leaves in self.leaves(table):
            for tree in leaves.T:
                means[rows] += self.values[tree]
        return means / len(self.roots)

    def sums(self, table: View, baseline: np.ndarray) -> np.ndarray:
        """Return the baseline [output] plus the values of the trees: [row, output].

        The trees belong to the outputs in turn.
        """
        totals = np.tile(baseline.astype(np.float64), (table.shape[0], 1))
        for rows, leaves in self.leaves(table):
            for number, tree in enumerate(leaves.T):
                totals[rows, number % len(baseline)] += self.values[tree, 0]
        return totals

    def compared_columns(self, row: np.ndarray) -> np.ndarray:
        """Return the columns that trees compare for a row, [column]; those of most trees first."""
        nodes = self.roots[self.column[self.roots] != LEAF]
        counts = np.zeros(len(row), dtype=np.int64)
        while len(nodes):
            np.add.at(counts, self.column[nodes], 1)
            values = row[self.column[nodes]]
            goes_left = (values <= self.threshold[nodes]) | (
                np.isnan(values) & self.nan_left[nodes]
            )
            nodes = np.where(goes_left, self.left[nodes], self.right[nodes])
            nodes = nodes[self.column[nodes] != LEAF]
        return np.argsort(-counts, kind="stable")[: int((counts > 0).sum())]

    def column_use(self, n_columns: int) -> np.ndarray:
        """Return the fraction of comparisons that each column has: [column].

        A comparison counts half as much as the one before it: on average, half as many samples
        reach it.
        """
        weights = np.zeros(len(self.column))
        weights[self.roots] = 1.0
        use = np.zeros(n_columns)
        nodes = self.roots[self.column[self.roots] != LEAF]
        while len(nodes):
            np.add.at(use, self.column[nodes], weights[nodes])
            children = np.concatenate([self.left[nodes], self.right[nodes]])
            weights[children] = np.tile(weights[nodes] / 2, 2)
            nodes = children[self.column[children] != LEAF]
        return use / (use.sum() or 1.0)

    def check(self, n_columns: int, n_outputs: int) -> None:
        """Refuse arrays of a model file that are no trees over so many columns."""
        n_nodes, is_leaf = len(self.column), self.column == LEAF
        arrays = (self.column, self.threshold, self.left, self.right, self.nan_left)
        if not n_nodes or any(array.shape != (n_nodes,) for array in arrays):
            raise ValueError("trees must have one column, threshold and pair of children per node")
        if self.values.ndim != 2 or self.values.shape[1] != n_outputs:
            raise ValueError(f"the leaves of trees must have {n_outputs} values")
        kinds = [array.dtype.kind for array in (self.roots, self.column, self.left, self.right)]
        if kinds != ["i"] * 4 or self.nan_left.dtype != bool or self.values.dtype.kind != "f":
            raise ValueError("trees must hold numbers of nodes and columns")
        if self.roots.ndim != 1 or not len(self.roots) or not _within(self.roots, 0, n_nodes):
            raise ValueError("trees must start at a node")
        if not _within(self.column, LEAF, n_columns):
            raise ValueError(f"trees must compare one of {n_columns} columns")
        children = np.concatenate([self.left[~is_leaf], self.right[~is_leaf]])
        parents = np.tile(np.flatnonzero(~is_leaf), 2)
        if not (children > parents).all() or not _within(children, 0, n_nodes):
            raise ValueError("the children of a node must follow it")
        if not _within(self.left[is_leaf], 0, len(self.values)):
            raise ValueError("every leaf of a tree must have values")

    def _used_columns(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the columns that trees compare, and the place of each node's among them."""
        is_inner = self.column != LEAF
        used, places = np.unique(self.column[is_inner], return_inverse=True)
        column = np.full(len(self.column), LEAF, dtype=np.int64)
        column[is_inner] = places
        return (used if len(used) else np.zeros(1, dtype=np.int64)), column

    def _walk(self, block: np.ndarray, column: np.ndarray) -> np.ndarray:
        nodes = np.tile(self.roots, len(block))
        of_rows = np.repeat(np.arange(len(block)), len(self.roots))
        walking = np.flatnonzero(column[nodes] != LEAF)
        has_nan = bool(np.isnan(block).any())
        while len(walking):
            at = nodes[walking]
            values = block[of_rows[walking], column[at]]
            goes_left = values <= self.threshold[at]
            if has_nan:
                goes_left |= np.isnan(values) & self.nan_left[at]
            at = np.where(goes_left, self.left[at], self.right[at])
            nodes[walking] = at
            walking = walking[column[at] != LEAF]
        return np.asarray(self.left[nodes].reshape(len(block), len(self.roots)))


def join_trees(trees: Sequence[Nodes]) -> TreeEnsemble:
    """Join trees: number their nodes, and the leaves among them, one after the other."""
    threshold = np.concatenate([tree.threshold for tree in trees])
    roots = np.cumsum([0, *(len(tree.column) for tree in trees)])[:-1]
    column = np.concatenate([tree.column for tree in trees]).astype(np.int32)
    is_leaf = column == LEAF
    leaf_rows = np.cumsum(is_leaf) - 1
    left, right = (
        np.where(
            is_leaf,
            leaf_rows,
            np.concatenate([start + own for start, own in zip(roots, side, strict=True)]),
        ).astype(np.int32)
        for side in ([tree.left for tree in trees], [tree.right for tree in trees])
    )
    return TreeEnsemble(
        roots=roots.astype(np.int32),
        column=column,
        # between known and missing values it is infinite, which a model file cannot hold
        threshold=np.where(is_leaf, 0.0, np.clip(threshold, -LARGEST, LARGEST)),
        left=left,
        right=right,
        nan_left=np.concatenate([tree.nan_left for tree in trees]).astype(bool) & ~is_leaf,
        values=np.concatenate([tree.values for tree in trees])[is_leaf],
    )


def dense_block(table: View, rows: slice, columns: np.ndarray | slice = ALL) -> np.ndarray:
    """Return some rows and columns of a table in float32, dense."""
    block: Any = table[rows]
    block = block[:, columns]
    if isinstance(block, sparse.csr_array):
        block = block.toarray()
    return np.asarray(block, dtype=np.float32)


def _within(numbers: np.ndarray, low: int, below: int) -> bool:
    return not len(numbers) or bool(numbers.min() >= low and numbers.max() < below)
