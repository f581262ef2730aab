"""Read the sheets of an Excel workbook (`.xlsx`) as tables."""

import datetime
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np

from manyview.data.io.compression import TableFile, check_archive_size, check_unpacked_size
from manyview.data.io.reading import import_extra, unreadable
from manyview.data.views import check_n_views
from manyview.errors import DataFileError, InputError

EXCEL_SUFFIXES = (".xlsx", ".xlsm")
OLD_EXCEL_SUFFIX = ".xls"
NOT_AVAILABLE = "#N/A"
MAX_ROWS = 2**20  # of a sheet in Excel
BYTES_PER_CELL = 8  # at least, in memory


@dataclass(frozen=True)
class Sheet:
    """Cells of one sheet as text, blank cells as ''; a column of booleans is an array."""

    name: str
    header: list[str]
    columns: list[list[str] | np.ndarray]


def read_sheets(file: TableFile) -> list[Sheet]:
    """Read the sheets that hold cells; the first row of each holds the column names.

    Dates become ISO text. Cells are the values that Excel stored; a formula without one, and a
    cell with an error other than #N/A, is refused.
    """
    openpyxl = import_extra("openpyxl", file.name, "tables")
    content = file.read()
    try:
        check_archive_size(file, io.BytesIO(content))
        with catch_warnings():
            simplefilter("ignore")  # about styles and validations, which no cell depends on
            book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True)
            check_n_views(len(book.worksheets))
            cells = {sheet.title: _trimmed(file, sheet) for sheet in book.worksheets}
            book.close()
            filled = {name: rows for name, rows in cells.items() if rows}
            _refuse_formulas(openpyxl, file, content, filled)
    except (DataFileError, InputError):
        raise
    except Exception as error:  # zipfile, XML and openpyxl raise many kinds on damaged files
        raise unreadable(file, "an Excel workbook", error) from error
    if not filled:
        raise DataFileError(f"{file.name} is empty: none of its sheets holds a cell.")
    return [_as_sheet(file.name, name, rows) for name, rows in filled.items()]


def refuse_old_excel(file: TableFile) -> None:
    """Refuse a workbook in the binary format of old versions of Excel."""
    if file.suffix == OLD_EXCEL_SUFFIX:
        raise DataFileError(
            f"{file.name} is in the format of Excel 97 to 2003, which is not read. Save it as "
            ".xlsx or CSV."
        )


@dataclass(frozen=True)
class _Row:
    number: int  # in the sheet, from 1
    cells: list[Any]


def _trimmed(file: TableFile, sheet: Any) -> list[_Row]:
    """Return the rows that are not blank, of equal length, with their numbers."""
    sheet.reset_dimensions()  # the stored size may be that of the whole sheet
    rows = []
    width, n_checked = 0, 2**20  # cells
    for number, cells in enumerate(sheet.iter_rows(), start=1):
        if number > MAX_ROWS:
            raise DataFileError(
                f"{file.name} sheet {sheet.title!r} has more rows than Excel allows, {MAX_ROWS:,}: "
                "it is damaged. Save it again."
            )
        values = [_value(cell) for cell in cells]
        if n_cells := _last(values):
            rows.append(_Row(number, values[:n_cells]))
            width = max(width, n_cells)
            if len(rows) * width > 2 * n_checked:
                n_checked = len(rows) * width
                check_unpacked_size(file, n_checked * BYTES_PER_CELL)
    return [_Row(row.number, row.cells + [None] * (width - len(row.cells))) for row in rows]


def _value(cell: Any) -> Any:
    if cell.data_type == "e":
        return None if cell.value == NOT_AVAILABLE else _Error(cell.value)
    return None if isinstance(cell.value, str) and not cell.value.strip() else cell.value


@dataclass(frozen=True)
class _Error:
    text: str  # such as #DIV/0!


def _last(cells: Sequence[Any]) -> int:
    return max((place for place, cell in enumerate(cells, start=1) if cell is not None), default=0)


def _refuse_formulas(
    openpyxl: Any, file: TableFile, content: bytes, sheets: dict[str, list[_Row]]
) -> None:
    """Refuse formulas without a stored value: the cells would seem to be blank."""
    if all(cell is not None for rows in sheets.values() for row in rows for cell in row.cells):
        return
    book = openpyxl.load_workbook(io.BytesIO(content), read_only=True)
    for sheet in book.worksheets:
        blanks = {
            row.number: [place for place, cell in enumerate(row.cells) if cell is None]
            for row in sheets.get(sheet.title, [])
        }
        for number, cells in enumerate(sheet.iter_rows(), start=1):
            for place in blanks.get(number, []):
                if place < len(cells) and cells[place].data_type == "f":
                    raise DataFileError(
                        f"{file.name} sheet {sheet.title!r}: cell {cells[place].coordinate} holds "
                        "a formula without a stored value. Open the workbook in Excel or "
                        "LibreOffice, save it, and read it again."
                    )
    book.close()


def _as_sheet(file: str, name: str, rows: Sequence[_Row]) -> Sheet:
    source = f"{file} sheet {name!r}"
    for row in rows:
        for place, cell in enumerate(row.cells):
            if isinstance(cell, _Error):
                raise DataFileError(
                    f"{source}: row {row.number}, column {place + 1} holds the error {cell.text}. "
                    "Correct or clear the cell."
                )
    head, *body = rows
    unnamed = [place for place, cell in enumerate(head.cells) if cell is None and place]
    if unnamed:
        raise DataFileError(
            f"{source}: column {unnamed[0] + 1} has cells but no name in row {head.number}. The "
            "first row must hold the column names: remove titles above and notes beside the table."
        )
    columns = [_column([row.cells[place] for row in body]) for place in range(len(head.cells))]
    return Sheet(name, [_text(cell).strip() for cell in head.cells], columns)


def _column(cells: Sequence[Any]) -> list[str] | np.ndarray:
    if cells and all(isinstance(cell, bool) for cell in cells):
        return np.array(cells)
    return [_text(cell) for cell in cells]


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, datetime.datetime) and cell.time() == datetime.time():
        return cell.date().isoformat()
    if isinstance(cell, (datetime.date, datetime.time)):
        return cell.isoformat()
    return str(cell)
