"""TransductiveViews: views of which rows are taken without the others leaving."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import BaseCrossValidator

from manyview.data.checksums import views_checksum
from manyview.data.label_values import is_known, mark_unknown
from manyview.data.views import MultiView, Rows
from manyview.errors import InputError
from manyview.validation import check_number, check_whole_number, draw_seed


class TransductiveViews:
    """Views for cross-validation over labels: all samples stay in the graph.

    scikit-learn's `cross_validate` and `GridSearchCV` fit on some rows and score on others. Rows
    taken from a `MultiView` leave the others behind. Rows taken from this remember them: `fit` of
    every method then learns from all samples, those outside the rows without a label, and
    `predict` gives the predictions of that fit for the rows it is asked about. The labels of the
    others are never handed to `fit`, so nothing can leak from them.

    Parameters
    ----------
    views
        What `fit` takes: a `MultiView`, a list or dict of views, or one 2-D array.

    Examples
    --------
    >>> samples = TransductiveViews({"shape": np.eye(4)})
    >>> some = samples[[0, 2]]
    >>> len(samples), len(some), len(some.views)
    (4, 2, 4)
    >>> some.spread([7, 8])
    array([ 7, -1,  8, -1])
    """

    def __init__(self, views: Any) -> None:
        self.views = views if isinstance(views, MultiView) else MultiView(views)
        self.rows = np.arange(len(self.views))
        # What several fits on these samples can share; common to all selections of rows.
        self.shared: dict[Any, Any] = {}

    @property
    def shape(self) -> tuple[int, int]:
        """(rows taken, columns of all feature views together)."""
        return len(self), self.views.shape[1]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, key: Rows) -> "TransductiveViews":
        """Take rows; the others are remembered."""
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
            key = key[0]  # scikit-learn indexes rows as X[rows, ...]
        taken = object.__new__(TransductiveViews)
        taken.views, taken.shared = self.views, self.shared
        taken.rows = np.atleast_1d(self.rows[key])
        return taken

    def with_views(self, views: MultiView) -> "TransductiveViews":
        """Take the same rows of other views of the same samples."""
        changed = TransductiveViews(views)
        changed.rows = self.rows
        return changed

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "shared": {}}  # cheaper made again than sent to another process

    def __repr__(self) -> str:
        return f"TransductiveViews({len(self)} of {self.views!r})"

    def checksum(self) -> str:
        """Return the checksum of all samples, whichever rows are taken."""
        if "checksum" not in self.shared:
            self.shared["checksum"] = views_checksum(self.views)
        return str(self.shared["checksum"])

    def spread(self, labels: Any) -> np.ndarray:
        """Lay the labels of the rows out over all samples, unknown elsewhere."""
        values = np.asarray(labels)
        if len(values) != len(self):
            raise InputError(
                f"labels must hold one label a row; got {len(values)} labels for {len(self)} rows."
            )
        n_samples = len(self.views)
        if len(values) == 0:
            raise InputError("labels must hold at least one label; got no rows.")
        laid = mark_unknown(np.repeat(values[:1], n_samples), np.ones(n_samples, dtype=bool))
        laid[self.rows] = values
        return laid


class LabelHidingSplit(BaseCrossValidator):
    """Hide some of the known labels, for scikit-learn's `cv=`.

    The test rows of a split are the samples whose label is hidden; all others, with a label or
    without, are training rows. With the views in `TransductiveViews`, the hidden samples stay in
    the graph without a label; with a plain `MultiView` they leave it and come back as new samples.

    Every class keeps at least one label: a class with a single one is never hidden.

    Parameters
    ----------
    n_splits
        Splits in a round, at least 2.
    n_repeats
        Rounds, each with its own deal.
    hidden
        None deals the labels of each class to the splits of a round, so that a round hides each
        once. A share between 0 and 1 hides that share of each class's labels at random in every
        split.
    random_state
        Seed; the same seed gives the same splits.

    Examples
    --------
    >>> labels = [0, 0, -1, 1, 1, -1]
    >>> for train, test in LabelHidingSplit(2, random_state=0).split(labels, labels):
    ...     print(train, test)
    [1 2 4 5] [0 3]
    [0 2 3 5] [1 4]
    """

    def __init__(
        self,
        n_splits: int = 5,
        *,
        n_repeats: int = 1,
        hidden: float | None = None,
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
    ) -> None:
        self.n_splits = n_splits
        self.n_repeats = n_repeats
        self.hidden = hidden
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits, all rounds together."""
        check_whole_number("n_splits", self.n_splits, at_least=2)
        check_whole_number("n_repeats", self.n_repeats, at_least=1)
        return self.n_splits * self.n_repeats

    def _iter_test_indices(
        self, X: Any = None, y: Any = None, groups: Any = None
    ) -> Iterator[np.ndarray]:
        self.get_n_splits()
        if self.hidden is not None:
            check_number("hidden", self.hidden, above=0, below=1)
        if y is None:
            raise InputError("labels are missing: LabelHidingSplit hides labels, and y is None.")
        members = _hideable(np.asarray(y))
        n_hideable = sum(map(len, members))
        if n_hideable == 0:
            raise InputError(
                "no label can be hidden: every class has one label at most, and keeps it. "
                "Label more samples."
            )
        if self.hidden is None and n_hideable < self.n_splits:
            raise InputError(
                "n_splits must be at most the number of labels in classes of two or more, "
                f"{n_hideable}; got {self.n_splits}."
            )
        rng = np.random.default_rng(draw_seed(self.random_state))
        for _ in range(self.n_repeats):
            if self.hidden is None:
                yield from _deal(members, self.n_splits, rng)
            else:
                for _ in range(self.n_splits):
                    yield _draw(members, self.hidden, rng)


def labels_by_class(labels: np.ndarray) -> dict[object, np.ndarray]:
    """Return the labeled samples of each class, classes in order of their names.

    Examples
    --------
    >>> labels_by_class(np.array([7, -1, 8, 7]))
    {7: array([0, 3]), 8: array([2])}
    """
    rows: dict[Any, list[int]] = {}
    for row in np.flatnonzero(is_known(labels)).tolist():
        rows.setdefault(labels[row : row + 1].tolist()[0], []).append(row)
    return {label: np.array(rows[label]) for label in sorted(rows, key=lambda one: (str(one), one))}


def _hideable(labels: np.ndarray) -> list[np.ndarray]:
    return [rows for rows in labels_by_class(labels).values() if len(rows) > 1]


def _deal(
    members: list[np.ndarray], n_splits: int, rng: np.random.Generator
) -> Iterator[np.ndarray]:
    """Deal shuffled labels class after class, like cards, so that splits are of one size."""
    dealt = np.concatenate([rng.permutation(rows) for rows in members])
    for number in range(n_splits):
        yield np.sort(dealt[number::n_splits])


def _draw(members: list[np.ndarray], share: float, rng: np.random.Generator) -> np.ndarray:
    drawn = [
        rng.permutation(rows)[: min(max(round(share * len(rows)), 1), len(rows) - 1)]
        for rows in members
    ]
    return np.sort(np.concatenate(drawn))
