"""Tables as named columns, with their labels and features."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np

from manyview.data.column_kinds import CATEGORY, NUMBER, rows_lacking_values, with_kinds
from manyview.data.frames import (
    column_at,
    column_names,
    is_blank,
    is_categorical,
    is_nested,
    nested_columns_message,
    with_index_column,
)
from manyview.data.io.decimal_marks import BLANKS
from manyview.data.io.reading import missing_name
from manyview.data.label_values import parse_labels
from manyview.data.mixed_table import MixedTable, check_column_names, mixed_table
from manyview.errors import DataFileError, InputError, MissingValuesError

ID_NAMES = frozenset(
    {"id", "sample", "sample_id", "sampleid", "name", "barcode", "index", "", "unnamed: 0"}
)
LABEL_NAMES = frozenset({"label", "labels", "class", "target", "y"})

Column = list[str] | np.ndarray  # texts, or numbers as Parquet stores them


@dataclass(frozen=True)
class SourceTable:
    """Named columns of equal length, one row per sample."""

    source: str  # name in errors: that of the file
    view: str  # name of the view that its features form
    header: list[str]
    columns: list[Column]
    notes: tuple[str, ...] = ()  # of the reader, such as an encoding that was guessed
    kinds: dict[str, str] = field(default_factory=dict)  # by column, where its type determines it

    @property
    def n_rows(self) -> int:
        """Number of samples."""
        return len(self.columns[0]) if self.columns else 0

    def find(self, column: str) -> int:
        """Return the position of a column by its name; refuse one that is absent or repeated."""
        count = self.header.count(column)
        if count == 0:
            raise DataFileError(missing_name(self.source, "column", column, self.header))
        if count > 1:
            raise DataFileError(f"{self.source} has {count} columns named {column!r}.")
        return self.header.index(column)

    def texts(self, position: int) -> list[str]:
        """Return the cells of a column as text."""
        return self.cells(position, self.n_rows)

    def cells(self, position: int, n_cells: int) -> list[str]:
        """Return the first cells of a column as text."""
        return [str(cell).strip() for cell in self.columns[position][:n_cells]]

    def without_blank_rows(self, id_position: int) -> "SourceTable":
        """Drop rows without an id or any other cell, as spreadsheets write them below a table."""
        unnamed = [row for row, sample in enumerate(self.texts(id_position)) if not sample]
        blank = {row for row in unnamed if all(_is_blank_cell(one[row]) for one in self.columns)}
        if not blank:
            return self
        kept = [row for row in range(self.n_rows) if row not in blank]
        columns: list[Column] = [
            column[kept] if isinstance(column, np.ndarray) else [column[row] for row in kept]
            for column in self.columns
        ]
        return replace(self, columns=columns)

    def label_positions(self, label_column: str | None = None) -> list[int]:
        """Find the columns that may hold labels: by the option or by their names."""
        return [
            position
            for position, name in enumerate(self.header)
            if name == label_column
            or (name.casefold() in LABEL_NAMES and self._can_be_labels(position))
        ]

    def _can_be_labels(self, position: int) -> bool:
        try:
            parse_labels(self.columns[position], self.header[position])
        except DataFileError:
            return False  # a feature that is named y
        return True

    def features(
        self,
        positions: Sequence[int],
        sample_names: Sequence[str],
        *,
        may_lack_values: bool,
        kinds: Mapping[str, str] | None = None,
    ) -> np.ndarray | MixedTable:
        """Return columns as one float matrix, NaN for blank cells, or as a table of mixed columns.

        A blank row is a sample that lacks the view. Other blank cells of numbers and dates are
        refused without `may_lack_values`. `kinds` are those that the user or the columns' types
        determine; the others are found out.
        """
        if not positions:
            return np.empty((self.n_rows, 0))
        names = [self.header[position] for position in positions]
        try:
            check_column_names(names, self.source)
        except InputError as error:
            raise DataFileError(str(error)) from error
        own = {name: kind for name, kind in (kinds or {}).items() if name in names}
        values = [_numbers(self.columns[position]) for position in positions]
        if set(own.values()) <= {NUMBER} and all(column is not None for column in values):
            view: Any = np.column_stack(cast("list[np.ndarray]", values))
            is_blank = np.isnan(view)
            lacks = is_blank.any(axis=1) & ~is_blank.all(axis=1)
        else:
            columns = [self.columns[position] for position in positions]
            try:
                table = mixed_table(names, columns, self.source, own)
                view = with_kinds(table, self.source, sample_names)
            except InputError as error:
                raise DataFileError(str(error)) from error
            lacks = rows_lacking_values(view)
        broken = np.flatnonzero(lacks)
        if len(broken) and not may_lack_values:
            raise MissingValuesError(
                f"view {self.view!r} has blank cells in {len(broken)} of {self.n_rows} rows, "
                f"the first is sample {sample_names[broken[0]]!r}."
            )
        return cast("np.ndarray | MixedTable", view)


def _is_blank_cell(cell: Any) -> bool:
    return not cell.strip() if isinstance(cell, str) else bool(cell != cell)


def _numbers(column: Column) -> np.ndarray | None:
    """Return a column as floats, NaN for blank cells, or None if it holds text."""
    if isinstance(column, np.ndarray):
        return column.astype(np.float64)
    cells = ["nan" if cell.strip().casefold() in BLANKS else cell for cell in column]
    try:
        numbers = np.array([float(cell) for cell in cells])
    except ValueError:
        return None
    return None if any("_" in cell for cell in cells) else numbers


def frame_table(frame: Any, source: str, view: str) -> SourceTable:
    """Convert a data frame to a table; a pandas index that names rows becomes a column."""
    frame = with_index_column(frame)
    header = list(column_names(frame))
    if not header or not len(frame):
        raise DataFileError(f"{source} must have columns and at least one row; it has no samples.")
    series = [column_at(frame, position) for position in range(len(header))]
    nested = [name for name, one in zip(header, series, strict=True) if is_nested(one)]
    if nested:
        raise DataFileError(nested_columns_message(source, nested))
    kinds = {
        name: CATEGORY for name, one in zip(header, series, strict=True) if is_categorical(one)
    }
    return SourceTable(source, view, header, [_frame_column(one) for one in series], kinds=kinds)


def _frame_column(series: Any) -> Column:
    values = np.asarray(series.to_numpy())
    if values.dtype.kind in "fiub":
        return values
    if values.dtype.kind == "M":
        return _iso_dates(values)
    return ["" if is_blank(cell) else _cell_text(cell) for cell in values.tolist()]


def _iso_dates(values: np.ndarray) -> list[str]:
    """Return dates as ISO text, with the time of day if a value has one; NaT is blank."""
    known = values[~np.isnat(values)]
    for unit in ("datetime64[D]", "datetime64[s]"):
        if (known == known.astype(unit)).all():
            values = values.astype(unit)
            break
    texts: Any = np.datetime_as_string(values)
    return ["" if text == "NaT" else str(text) for text in texts]


def _cell_text(cell: Any) -> str:
    return cell.isoformat() if isinstance(cell, datetime.date) else str(cell)
