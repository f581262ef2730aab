"""MixedTable: a view whose columns are not all numbers, kept as read until it is encoded."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from numbers import Number
from typing import Any

import numpy as np

from manyview.data.frames import (
    column_at,
    column_names,
    is_blank,
    is_categorical,
    is_nested,
    nested_columns_message,
)
from manyview.data.label_values import UNKNOWN_WORDS, shown_names
from manyview.errors import InputError

BLANK_WORDS = UNKNOWN_WORDS - {"-1"}  # texts of a cell without a value
DAY = np.timedelta64(1, "D")


@dataclass(frozen=True, eq=False)
class MixedTable:
    """Named columns of equal length, one row per sample.

    Attributes
    ----------
    names
        Column names, each once.
    columns
        [sample] per column: float64 with NaN for a blank cell, datetime64 with NaT, or texts with
        None.
    kinds
        Kinds of columns that are known, by name (see `manyview.data.column_kinds`).
    """

    names: tuple[str, ...]
    columns: tuple[np.ndarray, ...]
    kinds: Mapping[str, str] = field(default_factory=dict)

    dtype = np.dtype(object)
    ndim = 2

    @property
    def shape(self) -> tuple[int, int]:
        """(samples, columns)."""
        return len(self.columns[0]) if self.columns else 0, len(self.columns)

    def __getitem__(self, rows: Any) -> "MixedTable":
        """Return the table of some rows."""
        return replace(self, columns=tuple(column[rows] for column in self.columns))

    def column(self, name: str) -> np.ndarray:
        """Return one column by its name."""
        return self.columns[self.names.index(name)]

    def select(self, names: Sequence[str]) -> "MixedTable":
        """Return the named columns, in this order."""
        return replace(self, names=tuple(names), columns=tuple(map(self.column, names)))

    def is_blank(self) -> np.ndarray:
        """Return booleans [sample, column]: whether a cell has no value."""
        return np.column_stack([blank_cells(column) for column in self.columns])

    def with_blank_rows(self, rows: np.ndarray) -> "MixedTable":
        """Return rows by position, blank ones for -1."""
        taken = self[np.maximum(rows, 0)]
        for column in taken.columns:
            column[rows < 0] = _blank_of(column)
        return taken

    def to_frame(self) -> Any:
        """Return the table as a pandas data frame."""
        import pandas as pd

        return pd.DataFrame(dict(zip(self.names, self.columns, strict=True)))


def mixed_table(
    names: Sequence[str],
    columns: Sequence[Any],
    source: str,
    kinds: Mapping[str, str] | None = None,
) -> MixedTable:
    """Make a table of columns of any type; `source` names it in errors.

    Examples
    --------
    >>> table = mixed_table(["age", "sex"], [[31, None], ["f", "?"]], "clinical.csv")
    >>> table.column("age"), table.column("sex")
    (array([31., nan]), array(['f', None], dtype=object))
    """
    check_column_names(names, source)
    read = tuple(as_column(column) for column in columns)
    return MixedTable(tuple(names), read, dict(kinds or {}))


def check_column_names(names: Sequence[str], source: str) -> None:
    """Refuse column names that occur more than once: columns are matched by name."""
    twice = [repr(name) for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(
            f"{source} must name every column once; {shown_names(twice)} "
            f"{'repeats' if len(twice) == 1 else 'repeat'}. Rename or drop the others."
        )


def frame_mixed_table(frame: Any, source: str) -> MixedTable:
    """Make a table of a data frame; categorical and boolean types determine kinds."""
    names = column_names(frame)
    series = [column_at(frame, position) for position in range(len(names))]
    nested = [name for name, one in zip(names, series, strict=True) if is_nested(one)]
    if nested:
        raise InputError(nested_columns_message(source, nested))
    kinds = {}
    for name, one in zip(names, series, strict=True):
        if is_categorical(one):
            kinds[name] = "category"
        elif str(one.dtype).casefold() in ("bool", "boolean"):
            kinds[name] = "boolean"
    return mixed_table(names, [one.to_numpy() for one in series], source, kinds)


def as_column(values: Any) -> np.ndarray:
    """Return cells as float64, datetime64 or texts, whichever keeps them all."""
    array = np.asarray(values)
    if array.dtype.kind in "fiub":
        return array.astype(np.float64)
    if array.dtype.kind == "M":
        return array.astype("datetime64[us]")
    if array.dtype.kind == "m":
        days: np.ndarray = array / DAY
        return days
    cells = [None if is_blank(cell) else cell for cell in array.tolist()]
    known = [cell for cell in cells if cell is not None]
    if known and all(isinstance(cell, (Number, Decimal)) for cell in known):
        return np.array([np.nan if cell is None else float(cell) for cell in cells])
    if known and all(isinstance(cell, (date, datetime)) for cell in known):
        return np.array(
            [None if cell is None else _naive(cell) for cell in cells], "datetime64[us]"
        )
    texts = np.empty(len(cells), dtype=object)
    texts[:] = [None if cell is None else _text(cell) for cell in cells]
    return texts


def blank_cells(column: np.ndarray) -> np.ndarray:
    """Return booleans [sample]: whether a cell of one column has no value."""
    if column.dtype.kind == "f":
        return np.asarray(np.isnan(column))
    if column.dtype.kind == "M":
        return np.asarray(np.isnat(column))
    return np.array([cell is None for cell in column], dtype=bool)


def _text(cell: Any) -> str | None:
    text = str(cell).strip()
    return None if text.casefold() in BLANK_WORDS else text


def _naive(cell: date) -> date:
    if isinstance(cell, datetime) and cell.tzinfo is not None:
        return cell.astimezone(UTC).replace(tzinfo=None)
    return cell


def _blank_of(column: np.ndarray) -> Any:
    if column.dtype.kind == "f":
        return np.nan
    return np.datetime64("NaT") if column.dtype.kind == "M" else None
