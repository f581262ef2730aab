"""Read several tables as one data set: one view per table, joined on sample ids."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from manyview.data.column_kinds import date_notes, kinds_note
from manyview.data.io.column_options import kinds_by_view
from manyview.data.io.decimal_marks import with_decimal_points
from manyview.data.io.label_files import labels_in_table
from manyview.data.io.reading import Reading, ReadOptions, missing_name, quoted
from manyview.data.io.sample_ids import IdColumn, find_id_columns
from manyview.data.io.table_files import FileTables, read_file
from manyview.data.io.tables import SourceTable
from manyview.data.label_columns import LabelColumn, merge_labels
from manyview.data.label_values import check_unique, is_known, parse_labels, shown_names
from manyview.data.mixed_table import MixedTable
from manyview.data.views import View
from manyview.errors import DataFileError, did_you_mean


@dataclass(frozen=True)
class _TableParts:
    """Sample ids, labels and features of one table."""

    table: SourceTable
    sample_ids: list[str] | None
    label_columns: dict[str, LabelColumn]  # by the column's name
    view: np.ndarray | MixedTable
    feature_names: list[str]
    notes: list[str]

    @property
    def file(self) -> str:
        return self.table.source


def read_tables(
    paths: Sequence[Path], options: ReadOptions, given_labels: LabelColumn | None = None
) -> Reading:
    """Read each table as one view named after its file, sheet or member; join them on ids.

    Without `given_labels`, from another source, a sheet or member named labels holds the labels.
    """
    ignore = options.ignore or ()
    files = [read_file(path, options.samples_in, options.given_id_column, ignore) for path in paths]
    tables = [table for file in files for table in file.tables]
    _check_ignored_parts(ignore, files)
    _check_distinct_views(tables)
    label_tables = [table for file in files for table in file.label_tables]
    if given_labels is not None or not label_tables:
        reading = join_tables(tables, options, given_labels)
        reading.notes += [
            f"{table.source} is not used: other labels were passed." for table in label_tables
        ]
        return reading
    found = [
        labels_in_table(one, options.given_id_column, options.label_column) for one in label_tables
    ]
    labels = merge_labels(found)
    reading = join_tables(tables, options, labels)
    reading.labels, notes = labels.align(reading.n_samples, reading.sample_ids)
    reading.labels_source = labels.source
    reading.notes += notes
    return reading


def join_tables(
    tables: Sequence[SourceTable], options: ReadOptions, given_labels: LabelColumn | None = None
) -> Reading:
    """Join tables on sample ids, one view per table.

    A sample that a table does not name lacks that view. A table without features is not a view.
    With `given_labels`, from another source, label columns in the tables are left out.
    """
    if given_labels is None:
        _check_label_column(tables, options.label_column)
    notes = [note for table in tables for note in table.notes]
    id_columns = find_id_columns(
        tables, options.id_column, options.label_column, given_labels, notes
    )
    kinds = kinds_by_view(tables, options.columns or {})
    parts = [
        _split_columns(table, options, ids, kinds[table.view])
        for table, ids in zip(tables, id_columns, strict=True)
    ]
    with_features = [part for part in parts if part.view.shape[1]]
    if not with_features:
        raise DataFileError(
            f"{_source(tables)}: no table has a feature column; {tables[0].source} has "
            f"{quoted(tables[0].header)}. Cells must be separated by commas, semicolons, tabs or |."
        )
    for part in parts:
        if not part.view.shape[1] and not part.label_columns:
            raise DataFileError(
                f"{part.file} has no column of features or labels; it has "
                f"{quoted(part.table.header)}. Leave it out; in a folder, pass "
                f"ignore={part.file!r}."
            )
    notes += [note for part in parts for note in part.notes]
    sample_ids = _common_ids(with_features, notes)
    views = {part.table.view: _in_order(part, sample_ids) for part in with_features}
    source = _source([part.table for part in with_features])
    reading = Reading(
        views,
        source,
        columns={part.table.view: part.feature_names for part in with_features},
        sample_ids=sample_ids,
        id_columns={
            table.view: table.header[ids.position]
            for table, ids in zip(tables, id_columns, strict=True)
            if ids.position is not None and table.view in views
        },
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


def _check_ignored_parts(ignore: Sequence[str], files: Sequence[FileTables]) -> None:
    """Refuse a part of a workbook or archive to ignore that is not there."""
    left_out = [name for file in files for name in file.left_out]
    present = [table.source for file in files for table in (*file.tables, *file.label_tables)]
    for name in ignore:
        if "/" in name and name not in left_out:
            raise DataFileError(f"There is no {name!r} to ignore.{did_you_mean(name, present)}")


def _check_distinct_views(tables: Sequence[SourceTable]) -> None:
    table_of: dict[str, SourceTable] = {}
    for table in tables:
        other = table_of.setdefault(table.view, table)
        if other is not table:
            raise DataFileError(
                f"every table must have its own name; {other.source} and {table.source} would "
                f"both be view {table.view!r}. Rename one of them."
            )


def _check_label_column(tables: Sequence[SourceTable], label_column: str | None) -> None:
    names = list(dict.fromkeys(name for table in tables for name in table.header))
    if label_column is not None and label_column not in names:
        raise DataFileError(missing_name(_source(tables), "column", label_column, names))


def _split_columns(
    table: SourceTable, options: ReadOptions, id_column: IdColumn, kinds: Mapping[str, str]
) -> _TableParts:
    id_position = id_column.position
    ids = None
    if id_position is not None:
        table = table.without_blank_rows(id_position)
        ids = table.texts(id_position)
        check_unique(ids, table.source, first_row=2)  # below the header
    label_positions = table.label_positions(options.label_column)
    columns = {}
    for position in label_positions:
        source = f"{table.source} column {table.header[position]}"
        labels = parse_labels(table.columns[position], source)
        columns[table.header[position]] = LabelColumn(source, labels, ids)
    positions = [
        position
        for position in range(len(table.header))
        if position not in (id_position, *id_column.left_out, *label_positions)
    ]
    table, notes = _with_decimal_points(table, positions)
    names = ids or [f"row {row}" for row in range(1, table.n_rows + 1)]
    features = [table.header[position] for position in positions]
    view = table.features(positions, names, may_lack_values=options.may_lack_values, kinds=kinds)
    if isinstance(view, MixedTable):
        notes = [*notes, kinds_note(table.view, view), *date_notes(table.view, view)]
    return _TableParts(table, ids, columns, view, features, notes)


def _with_decimal_points(
    table: SourceTable, positions: Sequence[int]
) -> tuple[SourceTable, list[str]]:
    """Rewrite features with decimal commas; ids and labels stay as they are."""
    texts = {
        position: column
        for position in positions
        if isinstance(column := table.columns[position], list)
    }
    header = [table.header[position] for position in texts]
    marks = with_decimal_points(table.source, header, list(texts.values()))
    columns = list(table.columns)
    for position, column in zip(texts, marks.columns, strict=True):
        columns[position] = column
    return replace(table, columns=columns), marks.notes


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


def _in_order(part: _TableParts, sample_ids: Sequence[str] | None) -> View | MixedTable:
    """Return one row per sample; blank for samples that the table does not name."""
    if sample_ids is None or part.sample_ids is None or part.sample_ids == sample_ids:
        return part.view
    row_of = {sample: row for row, sample in enumerate(part.sample_ids)}
    rows = np.array([row_of.get(sample, -1) for sample in sample_ids])
    if isinstance(part.view, MixedTable):
        return part.view.with_blank_rows(rows)
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
