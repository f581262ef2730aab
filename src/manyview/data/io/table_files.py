"""Read the tables of a file: text, Parquet, Feather, an Excel workbook, or a zip archive."""

import importlib
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from manyview.data.frames import with_index_column
from manyview.data.io.compression import ZIP_SUFFIX, TableFile, zip_members
from manyview.data.io.decimal_marks import BLANKS, looks_numeric
from manyview.data.io.reading import import_extra, quoted, unreadable
from manyview.data.io.tables import ID_NAMES, Column, SourceTable, frame_table
from manyview.data.io.text_tables import read_text_table
from manyview.data.io.workbooks import EXCEL_SUFFIXES, read_sheets, refuse_old_excel
from manyview.data.label_values import is_number, shown_names
from manyview.data.views import check_n_views
from manyview.errors import DataFileError

TEXT_SUFFIXES = (".csv", ".tsv", ".tab")
PARQUET_SUFFIXES = (".parquet", ".pq")
FEATHER_SUFFIXES = (".feather", ".arrow")
FRAME_SUFFIXES = (*PARQUET_SUFFIXES, *FEATHER_SUFFIXES)
TABLE_SUFFIXES = (*TEXT_SUFFIXES, *FRAME_SUFFIXES, *EXCEL_SUFFIXES, ZIP_SUFFIX)
LABEL_STEMS = ("labels", "label", "y", "classes")


@dataclass(frozen=True)
class FileTables:
    """Tables of one file: one, or several if it is a workbook or an archive."""

    tables: list[SourceTable]
    label_tables: list[SourceTable] = field(default_factory=list)  # named labels, y, ...
    left_out: list[str] = field(default_factory=list)  # parts that were to be ignored


def read_file(
    path: Path,
    samples_in: str | None = None,
    id_column: str | None = None,
    ignore: Sequence[str] = (),
) -> FileTables:
    """Read all tables of a file: the sheets of a workbook, the members of a zip archive.

    Each table of several is named after its sheet or member. One named labels, label, y or classes
    holds labels. `ignore` names parts to leave out, such as `book.xlsx/Notes`.
    """
    file = TableFile(path)
    if file.suffix == ZIP_SUFFIX:
        members = zip_members(path)
        left_out = [member.name for member in members if member.name in ignore]
        members = [member for member in members if member.name not in ignore]
        if members or not left_out:
            _check_members(path, members)
        check_n_views(sum(member.stem.casefold() not in LABEL_STEMS for member in members))
        tables = [
            table
            for member in members
            for table in _tables_of(member, samples_in, id_column, ignore, left_out)
        ]
    else:
        left_out = []
        tables = _tables_of(file, samples_in, id_column, ignore, left_out)
    if not tables:
        raise DataFileError(f"{path.name} has no table left: all of its parts are ignored.")
    if len(tables) == 1:
        return FileTables(tables, [], left_out)
    is_label = [table.view.casefold() in LABEL_STEMS for table in tables]
    return FileTables(
        [table for table, yes in zip(tables, is_label, strict=True) if not yes],
        [table for table, yes in zip(tables, is_label, strict=True) if yes],
        left_out,
    )


def read_table(
    path: Path, samples_in: str | None = None, id_column: str | None = None
) -> SourceTable:
    """Read a file of one table; with `samples_in="columns"`, its first row holds the ids."""
    found = read_file(path, samples_in, id_column)
    tables = [*found.tables, *found.label_tables]
    if len(tables) > 1:
        raise DataFileError(
            f"{path.name} must hold one table; it holds {quoted([one.view for one in tables])}."
        )
    return tables[0]


def _check_members(path: Path, members: Sequence[TableFile]) -> None:
    """Refuse an archive with a member that is no table."""
    kinds = [suffix for suffix in TABLE_SUFFIXES if suffix != ZIP_SUFFIX]
    others = [member.name for member in members if member.suffix not in kinds]
    if not members or len(others) == len(members):
        held = shown_names(others) or "nothing"
        raise DataFileError(
            f"{path.name} has no table ({', '.join(kinds)}); it has {held}. Unpack it, and pass "
            "the folder."
        )
    if others:
        raise DataFileError(
            f"{path.name} has {len(others)} file(s) that cannot be read as tables "
            f"({', '.join(kinds)}): {shown_names(others)}. Leave a file out: pass "
            f"ignore={others[0]!r}."
        )


def _tables_of(
    file: TableFile,
    samples_in: str | None,
    id_column: str | None,
    ignore: Sequence[str],
    left_out: list[str],
) -> list[SourceTable]:
    refuse_old_excel(file)
    if file.suffix in FRAME_SUFFIXES:
        return [_read_frame(file, samples_in)]
    if file.suffix not in EXCEL_SUFFIXES:
        text = read_text_table(file)
        head, *rows = text.rows
        columns: list[Column] = [list(column) for column in zip(*rows, strict=True)]
        return [_table(file.name, file.stem, head, columns, samples_in, id_column, text.notes)]
    sheets = read_sheets(file)
    left_out += [f"{file.name}/{one.name}" for one in sheets if f"{file.name}/{one.name}" in ignore]
    sheets = [one for one in sheets if f"{file.name}/{one.name}" not in ignore]
    if len(sheets) == 1:
        (one,) = sheets
        return [_table(file.name, file.stem, one.header, one.columns, samples_in, id_column)]
    return [
        _table(f"{file.name}/{one.name}", one.name, one.header, one.columns, samples_in, id_column)
        for one in sheets
    ]


def _table(
    source: str,
    view: str,
    header: Sequence[str],
    columns: list[Column],
    samples_in: str | None,
    id_column: str | None,
    notes: tuple[str, ...] = (),
) -> SourceTable:
    if samples_in == "columns":
        rows = [[str(cell) for cell in row] for row in zip(*columns, strict=True)]
        header, *turned = zip(header, *rows, strict=True)
        columns = [list(column) for column in zip(*turned, strict=True)]
    if not columns or not len(columns[0]):
        raise DataFileError(f"{source} must have a header and at least one row; it has no samples.")
    header = [name.strip() for name in header]
    _refuse_headerless(source, header, id_column)
    return SourceTable(source, view, header, columns, notes)


def _refuse_headerless(source: str, header: list[str], id_column: str | None) -> None:
    """Refuse a first line of numbers: as a header it would drop a sample."""
    first, *rest = header
    names_samples = first == id_column or first.casefold() in ID_NAMES
    if all(_is_numeric_name(name) for name in rest or [first]) and not names_samples:
        raise DataFileError(
            f"{source} has no header: its first line holds numbers "
            f"({shown_names(header)}). Add a line of column names"
            f"{'.' if is_number(first) else f', or pass id_column={first!r} if it is one.'}"
        )


def _is_numeric_name(name: str) -> bool:
    return is_number(name) or (name.casefold() not in BLANKS and looks_numeric([name]))


def _read_frame(file: TableFile, samples_in: str | None) -> SourceTable:
    is_parquet = file.suffix in PARQUET_SUFFIXES
    extra = "io" if is_parquet else "tables"
    import_extra("pandas", file.name, extra)
    import_extra("pyarrow", file.name, extra)
    library = importlib.import_module(f"pyarrow.{'parquet' if is_parquet else 'feather'}")
    try:
        table = library.read_table(io.BytesIO(file.read()))
        table.validate(full=True)  # damaged lengths of texts would read memory of others
        frame = table.to_pandas()
    except DataFileError:
        raise
    except Exception as error:  # pyarrow raises many kinds on damaged files
        kind = "a Parquet table" if is_parquet else "a Feather table"
        raise unreadable(file, kind, error) from error
    if samples_in == "columns":
        frame = with_index_column(frame)
        first = frame.columns[0]
        frame = frame.set_index(first).T.rename_axis(index=str(first), columns=None).reset_index()
    return frame_table(frame, file.name, file.stem)
