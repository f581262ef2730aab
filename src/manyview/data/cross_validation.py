"""Cross-validation over labels: `TransductiveViews` keep all samples, `LabelHidingSplit` splits."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import BaseCrossValidator

from manyview.data.alignment import align_labels
from manyview.data.checksums import views_checksum
from manyview.data.label_values import is_known, mark_unknown
from manyview.data.views import MultiView, Rows
from manyview.errors import InputError
from manyview.validation import RandomState, check_number, check_whole_number, draw_seed


class TransductiveViews:
    """Views for cross-validation over labels: all samples stay in the graph.

    scikit-learn's `cross_validate` and `GridSearchCV` fit on some rows and score on others.
    Indexing a `MultiView` drops the other rows. Indexing `TransductiveViews` keeps them: `fit`
    learns from all samples, those outside the rows without a label, and `predict` returns the
    predictions of that fit for the rows. `fit` never gets the labels of the other rows, so they
    cannot leak.

    Parameters
    ----------
    views
        Same as for `fit`: a `MultiView`, a list or dict of views, or one 2-D array.

    Examples
    --------
    >>> samples = TransductiveViews({"shape": np.eye(4)})
    >>> some = samples[[0, 2]]
    >>> len(samples), len(some), len(some.views)
    (4, 2, 4)
    >>> some.expand_labels([7, 8])
    array([ 7, -1,  8, -1])
    """

    def __init__(self, views: Any) -> None:
        self.views = views if isinstance(views, MultiView) else MultiView(views)
        self.rows = np.arange(len(self.views))
        # Results that several fits on these samples reuse; common to all selections of rows.
        self.shared: dict[Any, Any] = {}

    @property
    def shape(self) -> tuple[int, int]:
        """(selected rows, columns of all feature views together)."""
        return len(self), self.views.shape[1]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, key: Rows) -> "TransductiveViews":
        """Select rows; the others stay in `views`."""
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
            key = key[0]  # scikit-learn indexes rows as X[rows, ...]
        taken = object.__new__(TransductiveViews)
        taken.views, taken.shared = self.views, self.shared
        taken.rows = np.atleast_1d(self.rows[key])
        return taken

    def with_views(self, views: MultiView) -> "TransductiveViews":
        """Select the same rows of other views of the same samples."""
        changed = TransductiveViews(views)
        changed.rows = self.rows
        return changed

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "shared": {}}  # cheaper to compute again than to send

    def __repr__(self) -> str:
        return f"TransductiveViews({len(self)} of {self.views!r})"

    def checksum(self) -> str:
        """Return the checksum of all samples, whichever rows are selected."""
        if "checksum" not in self.shared:
            self.shared["checksum"] = views_checksum(self.views)
        return str(self.shared["checksum"])

    def expand_labels(self, labels: Any) -> np.ndarray:
        """Expand the labels of the rows to all samples, unknown elsewhere."""
        ids = self.views.sample_ids
        values = np.asarray(align_labels(labels, None if ids is None else ids[self.rows]))
        if len(values) != len(self):
            raise InputError(
                f"labels must hold one label per row; got {len(values)} labels for {len(self)} "
                "rows."
            )
        if len(values) == 0:
            raise InputError("labels must hold at least one label; got no rows.")
        n_samples = len(self.views)
        expanded = mark_unknown(np.repeat(values[:1], n_samples), np.ones(n_samples, dtype=bool))
        expanded[self.rows] = values
        return expanded


class LabelHidingSplit(BaseCrossValidator):
    """Hide some of the known labels, for scikit-learn's `cv=`.

    The test rows of a split are the samples whose label is hidden; all others, labeled or not,
    are training rows. With `TransductiveViews`, hidden samples stay in the graph without a label;
    with a plain `MultiView`, they leave it and are predicted as new samples.

    Every class keeps at least one label: a class with a single label is never hidden.

    Parameters
    ----------
    n_splits
        Splits per repeat, at least 2.
    n_repeats
        Number of repeats, each with its own random folds.
    hidden
        None splits the labels of each class into folds, so that every repeat hides each label
        once. A fraction between 0 and 1 hides that fraction of each class at random in every
        split.
    random_state
        Seed or generator; the same seed gives the same splits.

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
        random_state: RandomState = None,
    ) -> None:
        self.n_splits = n_splits
        self.n_repeats = n_repeats
        self.hidden = hidden
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits over all repeats."""
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
            raise InputError("LabelHidingSplit needs labels to hide; y is None. Pass y to split.")
        by_class = [rows for rows in labels_by_class(np.asarray(y)).values() if len(rows) > 1]
        n_hideable = sum(map(len, by_class))
        if n_hideable == 0:
            raise InputError(
                "no label can be hidden: every class has one label at most, and each class keeps "
                "one. Label more samples."
            )
        if self.hidden is None and n_hideable < self.n_splits:
            raise InputError(
                "n_splits must be at most the number of labels in classes of two or more, "
                f"{n_hideable}; got {self.n_splits}.",
                parameter="n_splits",
            )
        rng = np.random.default_rng(draw_seed(self.random_state))
        for _ in range(self.n_repeats):
            if self.hidden is None:
                yield from _folds(by_class, self.n_splits, rng)
            else:
                for _ in range(self.n_splits):
                    yield _draw(by_class, self.hidden, rng)


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


def _folds(
    by_class: list[np.ndarray], n_splits: int, rng: np.random.Generator
) -> Iterator[np.ndarray]:
    """Assign the shuffled labels, class after class, to folds of equal size."""
    shuffled = np.concatenate([rng.permutation(rows) for rows in by_class])
    for number in range(n_splits):
        yield np.sort(shuffled[number::n_splits])


def _draw(by_class: list[np.ndarray], fraction: float, rng: np.random.Generator) -> np.ndarray:
    """Draw a fraction of each class, at least one label, and leave at least one."""
    drawn = [
        rng.permutation(rows)[: min(max(round(fraction * len(rows)), 1), len(rows) - 1)]
        for rows in by_class
    ]
    return np.sort(np.concatenate(drawn))
