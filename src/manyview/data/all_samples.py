"""AllSamples: views of which rows are taken without the others leaving."""

from typing import Any

import numpy as np

from manyview.data.checksums import views_checksum
from manyview.data.label_values import mark_unknown
from manyview.data.views import MultiView, Rows
from manyview.errors import InputError


class AllSamples:
    """Views for cross-validation over labels: all samples stay in the graph.

    scikit-learn's `cross_validate` and `GridSearchCV` fit on some rows and score on others. Rows
    taken from a `MultiView` leave the others behind. Rows taken from this remember them: `fit` of
    every method then learns from all samples, those outside the rows without a label, and
    `predict` gives the answers of that fit for the rows it is asked about. The labels of the
    others are never handed to `fit`, so nothing can leak from them.

    Parameters
    ----------
    views
        What `fit` takes: a `MultiView`, a list or dict of views, or one 2-D array.

    Examples
    --------
    >>> samples = AllSamples({"shape": np.eye(4)})
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

    def __getitem__(self, key: Rows) -> "AllSamples":
        """Take rows; the others are remembered."""
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
            key = key[0]  # scikit-learn indexes rows as X[rows, ...]
        taken = object.__new__(AllSamples)
        taken.views, taken.shared = self.views, self.shared
        taken.rows = np.atleast_1d(self.rows[key])
        return taken

    def with_views(self, views: MultiView) -> "AllSamples":
        """Take the same rows of other views of the same samples."""
        changed = AllSamples(views)
        changed.rows = self.rows
        return changed

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "shared": {}}  # cheaper made again than sent to another process

    def __repr__(self) -> str:
        return f"AllSamples({len(self)} of {self.views!r})"

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
