"""Read several tables as one data set: one view per table, joined on sample ids."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from manyview.data.io.reading import Reading, ReadOptions, missing_name
from manyview.data.io.tables import SourceTable, read_table
from manyview.data.label_values import (
    LabelColumn,
    check_unique,
    is_known,
    parse_labels,
    shown_names,
)
from manyview.data.views import View
from manyview.errors import DataFileError


@dataclass(frozen=True)
class _TableParts:
    """Sample ids, labels and features of one table."""

    table: SourceTable
    sample_ids: list[str] | None
    label_columns: dict[str, LabelColumn]  # by the column's name
    view: np.ndarray
    feature_names: list[str]

    @property
    def file(self) -> str:
        return self.table.source


def read_tables(
    paths: Sequence[Path], options: ReadOptions, given_labels: LabelColumn | None = None
) -> Reading:
    """Read each table as one view named after its file, and join them on sample ids."""
    _check_distinct_stems(paths)
    tables = [read_table(path, options.samples_in, options.id_column) for path in paths]
    return join_tables(tables, options, given_labels)


def join_tables(
    tables: Sequence[SourceTable], options: ReadOptions, given_labels: LabelColumn | None = None
) -> Reading:
    """Join tables on sample ids, one view per table.

    A sample that a table does not name lacks that view. A table without features is not a view.
    With `given_labels`, from another source, label columns in the tables are left out.
    """
    if given_labels is None:
        _check_label_column(tables, options.label_column)
    parts = [_split_columns(table, options) for table in tables]
    with_features = [part for part in parts if part.view.shape[1]]
    if not with_features:
        raise DataFileError(f"{_source(tables)}: no table has a feature column.")
    notes: list[str] = []
    sample_ids = _common_ids(with_features, notes)
    views = {part.table.view: _in_order(part, sample_ids) for part in with_features}
    source = _source([part.table for part in with_features])
    reading = Reading(
        views,
        source,
        columns={part.table.view: part.feature_names for part in with_features},
        sample_ids=sample_ids,
        notes=notes,
    )
    label_columns = [item for part in parts for item in part.label_columns.items()]
    chosen = []
    for name, column in label_columns:
        if given_labels is None and options.label_column in (None, name):
            chosen.append((name, column))
        else:
            notes.append(f"{column.source} is not used: other labels were passed.")
    if chosen:
        _join_labels(reading, chosen)
    return reading


def _check_distinct_stems(paths: Sequence[Path]) -> None:
    path_of: dict[str, Path] = {}
    for path in paths:
        other = path_of.setdefault(path.stem, path)
        if other is not path:
            raise DataFileError(
                f"every table must have its own name; {other} and {path} would both be view "
                f"{path.stem!r}. Rename one of them."
            )


def _check_label_column(tables: Sequence[SourceTable], label_column: str | None) -> None:
    names = list(dict.fromkeys(name for table in tables for name in table.header))
    if label_column is not None and label_column not in names:
        raise DataFileError(missing_name(_source(tables), "column", label_column, names))


def _split_columns(table: SourceTable, options: ReadOptions) -> _TableParts:
    id_position = table.id_position(options.id_column, options.label_column)
    ids = None
    if id_position is not None:
        ids = table.texts(id_position)
        check_unique(ids, table.source)
    label_positions = table.label_positions(options.label_column)
    columns = {}
    for position in label_positions:
        source = f"{table.source} column {table.header[position]}"
        labels = parse_labels(table.columns[position], source)
        columns[table.header[position]] = LabelColumn(source, labels, ids)
    positions = [
        position
        for position in range(len(table.header))
        if position != id_position and position not in label_positions
    ]
    names = ids or [f"row {row}" for row in range(1, table.n_rows + 1)]
    features = [table.header[position] for position in positions]
    view = table.features(positions, names, may_lack_values=options.may_lack_values)
    return _TableParts(table, ids, columns, view, features)


def _common_ids(tables: Sequence[_TableParts], notes: list[str]) -> list[str] | None:
    """Return the ids of all tables, those of the first table first."""
    first = tables[0]
    without = [part.file for part in tables if part.sample_ids is None]
    if len(without) == len(tables):
        _check_equal_lengths(tables)
        if len(tables) > 1:
            notes.append("The tables have no sample ids; they are joined by row order.")
        return None
    if without:
        raise DataFileError(
            f"{shown_names(without)} has no column of sample ids, but other tables have one. "
            "Pass id_column= to name it."
        )
    n_tables_of = Counter(sample for part in tables for sample in part.sample_ids or ())
    for part in tables:
        own = part.sample_ids or []
        if len(tables) > 1 and all(n_tables_of[sample] == 1 for sample in own):
            other = next(one for one in tables if one is not part)
            raise DataFileError(
                f"{part.file} has no sample id in common with the other tables: it has "
                f"{own[0]!r}, {other.file} has {(other.sample_ids or [''])[0]!r}. Pass id_column= "
                "if another column holds the ids."
            )
    if any(part.sample_ids != first.sample_ids for part in tables):
        notes.append(f"The tables are joined on sample ids, in the order of {first.file}.")
    return list(n_tables_of)


def _check_equal_lengths(tables: Sequence[_TableParts]) -> None:
    first = tables[0]
    for part in tables:
        if part.table.n_rows != first.table.n_rows:
            raise DataFileError(
                f"{part.file} has {part.table.n_rows} rows but {first.file} has "
                f"{first.table.n_rows}. Add a column of sample ids, or put the same samples in "
                "the same order into every table."
            )


def _in_order(part: _TableParts, sample_ids: Sequence[str] | None) -> View:
    """Return one row per sample; NaN for samples that the table does not name."""
    if sample_ids is None or part.sample_ids is None or part.sample_ids == sample_ids:
        return part.view
    row_of = {sample: row for row, sample in enumerate(part.sample_ids)}
    rows = np.array([row_of.get(sample, -1) for sample in sample_ids])
    return np.where((rows < 0)[:, None], np.nan, part.view[rows])


def _join_labels(reading: Reading, columns: Sequence[tuple[str, LabelColumn]]) -> None:
    first_name, first = columns[0]
    for name, column in columns:
        labels, notes = column.align(reading.n_samples, reading.sample_ids)
        if reading.labels is None:
            reading.labels, reading.labels_source = labels, column.source
        elif _differ(labels, reading.labels):
            way_out = (
                f"Pass label_column={first_name!r} or label_column={name!r}."
                if name != first_name
                else "Remove one of the columns, or pass the right labels as labels=."
            )
            raise DataFileError(f"labels in {first.source} and {column.source} differ. {way_out}")
        else:
            reading.labels = _combined(reading.labels, labels)
            reading.notes.append(f"{column.source} holds the same labels as {first.source}.")
        if column.sample_ids is not None:
            reading.notes.extend(notes)


def _differ(one: np.ndarray, other: np.ndarray) -> bool:
    """Return whether two label vectors disagree on a sample."""
    both = is_known(one) & is_known(other)
    return not np.array_equal(one[both], other[both])


def _combined(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return each label from the vector that knows it."""
    if is_known(one).all():
        return one
    combined = np.where(is_known(one), one, other)
    return combined if combined.dtype == one.dtype else combined.astype(object)


def _source(tables: Sequence[SourceTable]) -> str:
    return shown_names([table.source for table in tables])
