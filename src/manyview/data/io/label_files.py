"""Read labels from a separate file: CSV, TSV, text, Parquet or `.npy`."""

from pathlib import Path

import numpy as np

from manyview.data.io.reading import quoted, unreadable
from manyview.data.io.tables import (
    LABEL_NAMES,
    PARQUET_SUFFIXES,
    TEXT_SUFFIXES,
    SourceTable,
    read_lines,
    read_table,
)
from manyview.data.label_values import LabelColumn, is_number, parse_labels
from manyview.errors import DataFileError

LABEL_SUFFIXES = (*TEXT_SUFFIXES, ".txt", *PARQUET_SUFFIXES, ".npy")
LABEL_STEMS = ("labels", "label", "y", "classes")


def read_label_file(
    path: Path, *, id_column: str | None = None, label_column: str | None = None
) -> LabelColumn:
    """Read one label per sample, with sample ids if the file has them.

    A file of one column needs no header. Its first line is a header if it is label, labels, class,
    target or y, the name of the file, or text above numbers.
    """
    suffix = path.suffix.casefold()
    if suffix == ".npy":
        return LabelColumn(path.name, parse_labels(_load_npy(path), path.name))
    if suffix not in LABEL_SUFFIXES:
        raise DataFileError(
            f"a file of labels must end in one of {', '.join(LABEL_SUFFIXES)}; got {path.name}."
        )
    if suffix not in PARQUET_SUFFIXES:
        cells = [row for _, row in read_lines(path)]
        if len(cells[0]) == 1:
            return _one_column(path, [row[0].strip() for row in cells], label_column)
    table = read_table(path, id_column=id_column)
    return labels_in_table(table, id_column, label_column)


def _load_npy(path: Path) -> np.ndarray:
    try:
        with path.open("rb") as file:
            values = np.load(file, allow_pickle=False)
    except Exception as error:  # numpy raises many kinds on damaged files
        raise unreadable(path, "an .npy array of numbers or text", error) from error
    if not isinstance(values, np.ndarray) or values.size != max(values.shape, default=0):
        raise DataFileError(f"{path.name} must hold one label per sample, in one dimension.")
    return values.ravel()


def _one_column(path: Path, cells: list[str], label_column: str | None) -> LabelColumn:
    first, *rest = cells
    has_header = (
        first == label_column
        or first.casefold() in {*LABEL_NAMES, path.stem.casefold()}
        or (not is_number(first) and bool(rest) and all(is_number(cell) for cell in rest if cell))
    )
    if label_column is not None and first != label_column:
        raise DataFileError(f"{path.name} has no column {label_column!r}; it has {first!r}.")
    return LabelColumn(path.name, parse_labels(rest if has_header else cells, path.name))


def labels_in_table(
    table: SourceTable, id_column: str | None = None, label_column: str | None = None
) -> LabelColumn:
    """Return the column of labels, with sample ids if the table has them."""
    id_position = table.id_position(id_column, label_column)
    if label_column is not None:
        positions = [table.find(label_column)]
    else:
        others = [position for position in range(len(table.header)) if position != id_position]
        positions = others if len(others) == 1 else table.label_positions()
    if len(positions) != 1:
        raise DataFileError(
            f"{table.source} must have one column of labels; it has {quoted(table.header)}. "
            "Pass label_column= to name it."
        )
    source = f"{table.source} column {table.header[positions[0]]}"
    ids = None if id_position is None else table.texts(id_position)
    return LabelColumn(source, parse_labels(table.columns[positions[0]], source), ids)
