"""Read one CSV, TSV or Parquet file, or data frame, as named columns."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from manyview.data.frames import (
    column_at,
    column_names,
    is_blank,
    is_nested,
    nested_columns_message,
    with_index_column,
)
from manyview.data.io.reading import import_extra, missing_name, unreadable
from manyview.data.label_values import UNKNOWN_WORDS, is_number, parse_labels, shown_names
from manyview.errors import DataFileError

TEXT_SUFFIXES = (".csv", ".tsv", ".tab")
PARQUET_SUFFIXES = (".parquet", ".pq")
ID_NAMES = frozenset(
    {"id", "sample", "sample_id", "sampleid", "name", "barcode", "index", "", "unnamed: 0"}
)
ID_NAMES_ANYWHERE = ("sample_id", "sampleid", "barcode", "id")  # unusual names for features
LABEL_NAMES = frozenset({"label", "labels", "class", "target", "y"})
BLANKS = UNKNOWN_WORDS - {"-1"}

Column = list[str] | np.ndarray  # texts, or numbers as Parquet stores them


@dataclass(frozen=True)
class SourceTable:
    """Named columns of equal length, one row per sample."""

    source: str  # name in errors: that of the file
    view: str  # name of the view that its features form
    header: list[str]
    columns: list[Column]

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
        return [str(cell).strip() for cell in self.columns[position]]

    def id_position(self, id_column: str | None, label_column: str | None) -> int | None:
        """Find the column of sample ids: by the option, by its name, or by unique texts."""
        if id_column is not None:
            return self.find(id_column)
        names = [name.casefold() for name in self.header]
        if names[0] in ID_NAMES:
            return 0
        for name in ID_NAMES_ANYWHERE:
            if names.count(name) == 1:
                return names.index(name)
        if names[0] in LABEL_NAMES or self.header[0] == label_column:
            return None
        first = self.texts(0)
        is_text = _numbers(first) is None
        return 0 if is_text and len(set(first)) == len(first) else None

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
        self, positions: Sequence[int], sample_names: Sequence[str], *, may_lack_values: bool
    ) -> np.ndarray:
        """Return columns as one float matrix, NaN for blank cells.

        A blank row is a sample that lacks the view. Text is refused, and so are single blank cells
        without `may_lack_values`.
        """
        if not positions:
            return np.empty((self.n_rows, 0))
        values = [_numbers(self.columns[position]) for position in positions]
        wrong = [
            self.header[position]
            for position, column in zip(positions, values, strict=True)
            if column is None
        ]
        if wrong:
            raise DataFileError(
                f"{self.source} has {len(wrong)} column(s) that are not numeric: "
                f"{shown_names([repr(name) for name in wrong])}. Drop them, encode them as "
                "numbers, or pass id_column= or label_column= if they hold ids or labels."
            )
        matrix = np.column_stack([column for column in values if column is not None])
        is_blank = np.isnan(matrix)
        broken = np.flatnonzero(is_blank.any(axis=1) & ~is_blank.all(axis=1))
        if len(broken) and not may_lack_values:
            raise DataFileError(
                f"view {self.view!r} has blank cells in {len(broken)} of {self.n_rows} rows, "
                f"the first is sample {sample_names[broken[0]]!r}. Fill or remove these rows, or "
                "read and fit with missing='impute' to fill single cells with their column's mean."
            )
        return matrix


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


def read_table(
    path: Path, samples_in: str | None = None, id_column: str | None = None
) -> SourceTable:
    """Read one table; with `samples_in="columns"`, its first row holds the sample ids."""
    if path.suffix.casefold() in PARQUET_SUFFIXES:
        return _read_parquet(path, samples_in)
    lines = read_lines(path)
    rows = [row for _, row in lines]
    if rows and samples_in == "columns":
        rows = [list(row) for row in zip(*rows, strict=True)]
    if len(rows) < 2:
        raise DataFileError(
            f"{path.name} must have a header and at least one row; it has no samples."
        )
    header = [name.strip() for name in rows[0]]
    _refuse_headerless(path, header, id_column)
    columns: list[Column] = [list(column) for column in zip(*rows[1:], strict=True)]
    return SourceTable(path.name, path.stem, header, columns)


def read_lines(path: Path) -> list[tuple[int, list[str]]]:
    """Read the rows of a text table with their line numbers; all have the same length."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise unreadable(path, "UTF-8 text", error) from error
    text = text.rstrip("\r\n\t ,;") if not text.strip("\r\n\t ,;") else text.rstrip("\r\n")
    first_line = text.split("\n", 1)[0]
    preferred = "\t,;" if path.suffix.casefold() in (".tsv", ".tab", ".txt") else ",;\t"
    delimiter = next((mark for mark in preferred if mark in first_line), preferred[0])
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        lines = [(reader.line_num, row) for row in reader]
    except csv.Error as error:
        raise unreadable(path, "a table", error) from error
    if not lines:
        raise DataFileError(f"{path.name} is empty.")
    width = len(lines[0][1])
    # In a table of one column a blank line is a blank cell; elsewhere it is skipped.
    lines = [(number, row or [""]) for number, row in lines if row or width == 1]
    for number, row in lines:
        if len(row) != width:
            raise DataFileError(
                f"{path.name}: line {number} has {len(row)} cells but the first line has {width}. "
                "The file may be truncated."
            )
    return lines


def _refuse_headerless(path: Path, header: list[str], id_column: str | None) -> None:
    """Refuse a first line of numbers: as a header it would drop a sample."""
    first, *rest = header
    names_samples = first == id_column or first.casefold() in ID_NAMES
    if all(is_number(cell) for cell in rest or [first]) and not names_samples:
        raise DataFileError(
            f"{path.name} has no header: its first line holds numbers "
            f"({shown_names(header)}). Add a line of column names"
            f"{'.' if is_number(first) else f', or pass id_column={first!r} if it is one.'}"
        )


def _read_parquet(path: Path, samples_in: str | None) -> SourceTable:
    pandas = import_extra("pandas", path.name)
    import_extra("pyarrow", path.name)
    try:
        frame = pandas.read_parquet(path)
    except Exception as error:  # pyarrow raises many kinds on damaged files
        raise unreadable(path, "a Parquet table", error) from error
    if samples_in == "columns":
        frame = with_index_column(frame)
        first = frame.columns[0]
        frame = frame.set_index(first).T.rename_axis(index=str(first), columns=None).reset_index()
    return frame_table(frame, path.name, path.stem)


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
    return SourceTable(source, view, header, [_frame_column(one) for one in series])


def _frame_column(series: Any) -> Column:
    values = np.asarray(series.to_numpy())
    if values.dtype.kind in "fiub":
        return values
    return ["" if is_blank(cell) else str(cell) for cell in values.tolist()]
