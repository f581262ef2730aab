"""Read labels from separate files: tables, text of one column, or `.npy`."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from manyview.data.io.compression import ZIP_SUFFIX, TableFile
from manyview.data.io.decimal_marks import looks_numeric
from manyview.data.io.npy_format import map_npy
from manyview.data.io.reading import quoted, unreadable
from manyview.data.io.sample_ids import (
    IdColumn,
    has_distinct_texts,
    index_columns,
    is_index_name,
    is_whole,
    own_id_column,
)
from manyview.data.io.table_files import TABLE_SUFFIXES, TEXT_SUFFIXES, read_file
from manyview.data.io.tables import ID_NAMES, LABEL_NAMES, SourceTable
from manyview.data.io.text_tables import read_text_table
from manyview.data.io.workbooks import refuse_old_excel
from manyview.data.label_columns import LabelColumn
from manyview.data.label_values import is_number, parse_labels
from manyview.errors import DataFileError

PLAIN_SUFFIXES = (*TEXT_SUFFIXES, ".txt")  # one column needs no header
TABLES_ONLY = tuple(suffix for suffix in TABLE_SUFFIXES if suffix not in TEXT_SUFFIXES)
LABEL_SUFFIXES = (*PLAIN_SUFFIXES, *TABLES_ONLY, ".npy")


def read_label_file(
    path: Path, *, id_column: str | None = None, label_column: str | None = None
) -> LabelColumn:
    """Read one label per sample, with sample ids if the file has them.

    A file of one column needs no header. Its first line is a header if it is label, labels, class,
    target or y, the name of the file, or text above numbers.
    """
    file = TableFile(path)
    if path.suffix.casefold() == ".npy":
        return LabelColumn(path.name, parse_labels(_load_npy(path), path.name))
    refuse_old_excel(file)
    if file.suffix not in LABEL_SUFFIXES or file.suffix == ".npy":
        raise DataFileError(
            f"a file of labels must end in one of {', '.join(LABEL_SUFFIXES)}; got {path.name}."
        )
    if file.suffix in PLAIN_SUFFIXES:
        text = read_text_table(file)
        if len(text.rows[0]) == 1:
            cells = [row[0].strip() for row in text.rows]
            return replace(_one_column(file, cells, label_column), notes=text.notes)
    return labels_in_table(_label_table(path, id_column), id_column, label_column)


def _label_table(path: Path, id_column: str | None) -> SourceTable:
    """Return the only table of a file, or the one of several that is named labels."""
    found = read_file(path, id_column=id_column)
    tables = found.label_tables or found.tables
    if len(tables) > 1:
        part = "file" if TableFile(path).suffix == ZIP_SUFFIX else "sheet"
        names = quoted([table.view for table in (*found.tables, *found.label_tables)])
        raise DataFileError(
            f"{path.name} must hold one table of labels; it holds {names}. Name the {part} of the "
            "labels 'labels', or save it as a file of its own."
        )
    return tables[0]


def _load_npy(path: Path) -> np.ndarray:
    try:
        values = np.array(map_npy(path))
    except Exception as error:  # numpy raises many kinds on damaged files
        raise unreadable(path, "an .npy array of numbers or text", error) from error
    if not isinstance(values, np.ndarray) or values.size != max(values.shape, default=0):
        raise DataFileError(f"{path.name} must hold one label per sample, in one dimension.")
    return values.ravel()


def _one_column(file: TableFile, cells: list[str], label_column: str | None) -> LabelColumn:
    first, *rest = cells
    has_header = (
        first == label_column
        or first.casefold() in {*LABEL_NAMES, file.stem.casefold()}
        or (not is_number(first) and bool(rest) and all(is_number(cell) for cell in rest if cell))
    )
    if label_column is not None and first != label_column:
        raise DataFileError(f"{file.name} has no column {label_column!r}; it has {first!r}.")
    return LabelColumn(file.name, parse_labels(rest if has_header else cells, file.name))


def labels_in_table(
    table: SourceTable, id_column: str | None = None, label_column: str | None = None
) -> LabelColumn:
    """Return the column of labels, with sample ids if the table has them."""
    ids = _ids_of_labels(table, id_column, label_column)
    if label_column is not None:
        positions = [table.find(label_column)]
    else:
        no_labels = {ids.position, *ids.left_out}
        others = [place for place in range(len(table.header)) if place not in no_labels]
        positions = others if len(others) == 1 else table.label_positions()
    if len(positions) != 1:
        raise DataFileError(
            f"{table.source} must have one column of labels; it has {quoted(table.header)}. "
            "Pass label_column= to name it."
        )
    source = f"{table.source} column {table.header[positions[0]]}"
    labels = parse_labels(table.columns[positions[0]], source)
    if ids.position is None:
        return LabelColumn(source, labels, notes=table.notes)
    return LabelColumn(
        source,
        labels,
        table.texts(ids.position),
        table.header[ids.position],
        ids.is_sure,
        notes=table.notes,
        label_name=table.header[positions[0]],
    )


def _ids_of_labels(table: SourceTable, id_column: str | None, label_column: str | None) -> IdColumn:
    """Return the column of ids of a table of labels.

    Of two columns, one holds ids whatever its name; of more, one of distinct texts, and a first
    column of whole numbers may.
    """
    if id_column is not None:
        return IdColumn(table.find(id_column))
    index = index_columns(table)
    places = [place for place in range(len(table.header)) if place not in index]
    if len(places) < 2:
        index, places = (), list(range(len(table.header)))
    if len(places) == 2:
        return _ids_of_two(table, places, index, label_column)
    found = own_id_column(table, label_column)
    if found.is_sure:
        return found
    others = [place for place in places if not _is_label(table.header[place], label_column)]
    for place in others:
        if has_distinct_texts(table, place):
            return IdColumn(place, index)
    if others[:1] == places[:1] and is_whole(table.texts(places[0])):
        return IdColumn(places[0], index, is_sure=False)
    return found


def _ids_of_two(
    table: SourceTable, places: list[int], index: tuple[int, ...], label_column: str | None
) -> IdColumn:
    """Return the ids of two columns: the first, unless the names or the cells speak for the other.

    Labels repeat, so texts with more distinct cells are ids.
    """
    first, second = places
    names = [table.header[place].casefold() for place in places]
    ids, others = table.texts(first), table.texts(second)
    if names[0] not in ID_NAMES and (
        names[1] in ID_NAMES
        or _is_label(table.header[first], label_column)
        or (not looks_numeric(others) and len(set(others)) > len(set(ids)))
    ):
        first, ids = second, others
    name = table.header[first].casefold()
    is_sure = not looks_numeric(ids) or (name in ID_NAMES and not is_index_name(name))
    return IdColumn(first, index, is_sure)


def _is_label(name: str, label_column: str | None) -> bool:
    return name == label_column or name.casefold() in LABEL_NAMES
