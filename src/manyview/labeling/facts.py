"""The columns of a sample, the unusual ones first: against its class and against its neighbors."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy import sparse

from manyview.data.mixed_table import MixedTable
from manyview.data.views import MultiView

N_COLUMNS = 6  # per view
MAX_TEXT = 2000  # letters of a text that are shown
LONG_TEXT = 60  # letters from which on a text is shown as text
SMALLEST = 1e-12  # deviation of a column that varies
MIN_CLASS = 3  # samples of a class that a column is compared with


@dataclass(frozen=True)
class ColumnFact:
    """A column of a sample.

    Attributes
    ----------
    name, value
        As text.
    kind
        "number", "word" or "text".
    from_class, from_neighbors
        How far the value is from the mean of the sample's class and of its neighbors, in standard
        deviations of the column; for words, the fraction that has another value. None if there is
        nothing to compare with.
    at
        Where a number lies between the smallest and the largest, from 0 to 1.
    """

    name: str
    value: str
    kind: str
    from_class: float | None = None
    from_neighbors: float | None = None
    at: float | None = None

    @property
    def unusual(self) -> float:
        """How unusual the value is; texts come first."""
        if self.kind == "text":
            return np.inf
        return max(abs(self.from_class or 0.0), abs(self.from_neighbors or 0.0))


@dataclass(frozen=True)
class ViewFact:
    """A view of a sample: its most unusual columns, and how many more there are."""

    name: str
    is_present: bool
    columns: tuple[ColumnFact, ...] = ()
    n_more: int = 0

    def document(self) -> dict[str, Any]:
        """Return the JSON document."""
        return asdict(self)


class SampleColumns:
    """Describes the columns of samples; means and deviations of a view are computed once.

    Parameters
    ----------
    views
        As read, tables with their texts.
    """

    def __init__(self, views: MultiView) -> None:
        self.views = views
        self._spreads: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}

    def describe(
        self, row: int, of_class: np.ndarray, neighbors: Sequence[int]
    ) -> tuple[ViewFact, ...]:
        """Describe a sample; `of_class` are the rows of the class that it is compared with."""
        near = np.array([one for one in neighbors if one >= 0], dtype=np.int64)
        others = of_class[of_class != row]
        found = []
        for number, name in enumerate(self.views.names):
            if name in self.views.graph_names:
                continue
            if not self.views.present[row, number]:
                found.append(ViewFact(name, is_present=False))
                continue
            has_view = self.views.present[:, number]
            compared = others[has_view[others]], near[has_view[near]]
            view = self.views[name]
            if isinstance(view, MixedTable):
                columns = self._mixed(view, row, *compared)
            else:
                columns = self._numbers(name, view, row, *compared)
            columns.sort(key=lambda one: -one.unusual)
            n_more = max(len(columns) - N_COLUMNS, 0)
            found.append(ViewFact(name, True, tuple(columns[:N_COLUMNS]), n_more))
        return tuple(found)

    def _numbers(
        self, name: str, view: Any, row: int, of_class: np.ndarray, near: np.ndarray
    ) -> list[ColumnFact]:
        values = _dense(view, np.array([row]))[0]
        spread, low, high = self._spread(name, view)
        names = self.views.columns.get(name) or [str(one + 1) for one in range(len(values))]
        is_sparse = isinstance(view, sparse.csr_array)
        places = np.flatnonzero(values) if is_sparse else np.arange(len(values))
        from_class, from_neighbors = (
            _difference(values, view, rows, spread) if len(rows) >= least else None
            for rows, least in ((of_class, MIN_CLASS), (near, 1))
        )
        extent = np.where(high > low, high - low, 1)
        at = np.clip((values - low) / extent, 0, 1)
        return [
            ColumnFact(
                str(names[place]),
                _number(values[place]),
                "number",
                None if from_class is None else _finite(from_class[place]),
                None if from_neighbors is None else _finite(from_neighbors[place]),
                _finite(at[place]),
            )
            for place in places.tolist()
        ]

    def _spread(self, name: str, view: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the deviation, the smallest and the largest value of each column."""
        if name not in self._spreads:
            if isinstance(view, sparse.csr_array):
                mean = np.asarray(view.mean(axis=0)).ravel()
                square = np.asarray(view.multiply(view).mean(axis=0)).ravel()
                ends = view.min(axis=0), view.max(axis=0)
                low, high = (np.asarray(one.todense()).ravel() for one in ends)
                self._spreads[name] = np.sqrt(np.maximum(square - mean**2, 0)), low, high
            else:
                rows = self.views.rows_with(name)
                present = np.asarray(view if rows is None else view[rows], dtype=np.float64)
                self._spreads[name] = (
                    np.nanstd(present, axis=0),
                    np.nanmin(present, axis=0),
                    np.nanmax(present, axis=0),
                )
        return self._spreads[name]

    def _mixed(
        self, table: MixedTable, row: int, of_class: np.ndarray, near: np.ndarray
    ) -> list[ColumnFact]:
        found = []
        for name, column in zip(table.names, table.columns, strict=True):
            value = column[row]
            if column.dtype.kind == "f":
                spread = float(np.nanstd(column)) if np.isfinite(column).any() else 0.0
                differences = [
                    _finite((value - np.nanmean(column[rows])) / spread)
                    if spread and len(rows) >= least and np.isfinite(column[rows]).any()
                    else None
                    for rows, least in ((of_class, MIN_CLASS), (near, 1))
                ]
                found.append(ColumnFact(name, _number(value), "number", *differences))
                continue
            text = "" if value is None or str(value) == "NaT" else str(value)
            if len(text) > LONG_TEXT:
                shown = text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}…"
                found.append(ColumnFact(name, shown, "text"))
                continue
            fractions = [
                float(np.mean(column[rows] != value)) if len(rows) >= least else None
                for rows, least in ((of_class, MIN_CLASS), (near, 1))
            ]
            found.append(ColumnFact(name, text, "word", *fractions))
        return found


def _difference(values: np.ndarray, view: Any, rows: np.ndarray, spread: np.ndarray) -> np.ndarray:
    differences = values - _mean(view, rows)
    return np.asarray(
        np.divide(differences, spread, out=np.zeros_like(values), where=spread > SMALLEST)
    )


def _mean(view: Any, rows: np.ndarray) -> np.ndarray:
    if isinstance(view, sparse.csr_array):
        return np.asarray(view[rows].mean(axis=0), dtype=np.float64).ravel()
    return np.asarray(np.asarray(view[rows], dtype=np.float64).mean(axis=0))


def _dense(view: Any, rows: np.ndarray) -> np.ndarray:
    taken = view[rows]
    if isinstance(taken, sparse.csr_array):
        taken = taken.toarray()
    return np.asarray(taken, dtype=np.float64)


def _number(value: float) -> str:
    return "" if not np.isfinite(value) else f"{value:.4g}"


def _finite(value: float) -> float | None:
    return round(float(value), 3) if np.isfinite(value) else None
