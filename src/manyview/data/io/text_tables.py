"""Read the cells of a text table; its encoding, delimiter and quotes are detected."""

import codecs
import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from manyview.data.io.compression import TableFile
from manyview.data.io.decimal_marks import looks_numeric
from manyview.data.io.reading import unreadable
from manyview.errors import DataFileError
from manyview.system.memory import GB, check_memory

DELIMITERS = ",;\t|"
TAB_SUFFIXES = (".tsv", ".tab", ".txt")  # tabs are tried first
N_SAMPLED = 50  # rows that decide on the delimiter
# Memory of a text that is read: the file, the text, a stream of four bytes per character; then
# Python's lists. Cells of one character take less than others, so a part of the memory stays free.
BYTES_PER_BYTE, BYTES_PER_CELL, BYTES_PER_LINE = 7, 16, 150
FREE_FRACTION = 0.6
BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16: its mark starts with that of UTF-16
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


@dataclass(frozen=True)
class TextRows:
    """Rows of a text table, all of the same length, with their line numbers."""

    lines: list[tuple[int, list[str]]]
    notes: tuple[str, ...] = ()

    @property
    def rows(self) -> list[list[str]]:
        """The cells of each row."""
        return [row for _, row in self.lines]


def read_text_table(file: TableFile) -> TextRows:
    """Read the rows of a text table; refuse rows of different lengths."""
    content = file.read()
    _check_memory(file, content)
    text, notes = decode_text(file, content)
    text = text.rstrip("\r\n\t ,;|") if not text.strip("\r\n\t ,;|") else text.rstrip("\r\n")
    preferred = DELIMITERS
    if file.suffix in TAB_SUFFIXES:
        preferred = "\t" + DELIMITERS.replace("\t", "")
    announced = re.match(r"sep=(.)\r?\n", text)  # a first line that Excel writes and reads
    if announced:
        text, delimiter = text[announced.end() :], announced.group(1)
    else:
        delimiter = find_delimiter(text, preferred)
    try:
        lines = list(_numbered_rows(text, delimiter, first=2 if announced else 1))
    except csv.Error as error:
        raise unreadable(file, "a table", error) from error
    if not lines:
        raise DataFileError(f"{file.name} is empty.")
    width = len(lines[0][1])
    # In a table of one column a blank line is a blank cell; elsewhere it is skipped.
    lines = [(number, row or [""]) for number, row in lines if row or width == 1]
    for number, row in lines:
        if len(row) != width:
            raise DataFileError(
                f"{file.name}: line {number} has {len(row)} cells but the first line has {width}. "
                f"{_ragged_reason({len(row) for _, row in lines[1:]}, width)}"
            )
    return TextRows(_without_blank_end(lines), tuple(notes))


def _check_memory(file: TableFile, content: bytes) -> None:
    """Refuse a table whose cells memory cannot hold, before they are made."""
    n_lines = content.count(b"\n")
    n_cells = n_lines + max(content.count(delimiter.encode()) for delimiter in DELIMITERS)
    n_bytes = BYTES_PER_BYTE * len(content) + BYTES_PER_CELL * n_cells + BYTES_PER_LINE * n_lines
    check_memory(
        n_bytes / GB,
        f"{file.name}, a text of {len(content) / GB:.1f} GB,",
        "Save it as Parquet or .npy, or split it",
        free_fraction=FREE_FRACTION,
    )


def _without_blank_end(lines: list[tuple[int, list[str]]]) -> list[tuple[int, list[str]]]:
    """Drop last columns that are blank, name included: each row ends with a delimiter."""
    width = len(lines[0][1])
    while width > 1 and not any(row[width - 1].strip() for _, row in lines):
        width -= 1
    return [(number, row[:width]) for number, row in lines]


def decode_text(file: TableFile, content: bytes) -> tuple[str, list[str]]:
    """Decode by the byte order mark, or as UTF-8, or else as Windows-1252, with a note."""
    encoding = next(
        (name for mark, name in BYTE_ORDER_MARKS.items() if content.startswith(mark)), "utf-8"
    )
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        if encoding != "utf-8" or b"\0" in content:
            raise unreadable(file, "UTF-8 text", error) from error
    else:
        if "\0" in text:
            raise unreadable(file, "UTF-8 text", ValueError("it holds zero bytes"))
        return text, []
    try:
        text, encoding = content.decode("cp1252"), "Windows-1252"
    except UnicodeDecodeError:  # five bytes have no letter there
        text, encoding = content.decode("latin-1"), "Latin-1"
    note = (
        f"{file.name} is not UTF-8 and was read as {encoding}. If letters are wrong, save it as "
        "UTF-8."
    )
    return text, [note]


def find_delimiter(text: str, preferred: str = DELIMITERS) -> str:
    r"""Return the delimiter that cuts the first rows into equally many cells, quotes respected.

    Of several, the one that leaves more numbers is used, then the one with more cells. If rows
    differ in length with every delimiter, the one that fits the first row most often is used, so
    that the error names the other rows.

    Examples
    --------
    >>> find_delimiter("id;price\na;1,5\nb;2,5\n")
    ';'
    """
    found: dict[str, tuple[float, list[list[str]]]] = {}
    stream = io.StringIO(text, newline="")
    for delimiter in preferred:
        stream.seek(0)
        try:
            reader = csv.reader(stream, delimiter=delimiter)
            rows = [row for row in islice(reader, N_SAMPLED) if row]
        except csv.Error:
            continue
        if rows and len(rows[0]) > 1:
            n_fitting = sum(len(row) == len(rows[0]) for row in rows)
            found[delimiter] = (n_fitting / len(rows), rows)
    best = max((fitting for fitting, _ in found.values()), default=0)
    ties = {delimiter: rows for delimiter, (fitting, rows) in found.items() if fitting == best}
    if len(ties) < 2:
        return next(iter(ties), preferred[0])
    return max(ties, key=lambda one: (_fraction_of_numbers(ties[one]), len(ties[one][0])))


def _fraction_of_numbers(rows: list[list[str]]) -> float:
    cells = [cell for row in rows for cell in row[:N_SAMPLED]]
    return sum(looks_numeric([cell]) for cell in cells) / len(cells)


def _numbered_rows(text: str, delimiter: str, first: int) -> Iterator[tuple[int, list[str]]]:
    """Yield rows with the numbers of their last lines; refuse a quote that is never closed."""
    for strict in (True, False):
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=strict)
        try:
            rows = [(reader.line_num + first - 1, row) for row in reader]
        except csv.Error as error:
            if not strict:
                raise
            if "unexpected end of data" in str(error):
                raise csv.Error("a quotation mark is never closed") from error
            continue  # such as '5"' in a cell, which is read as it stands
        yield from rows
        return


def _ragged_reason(widths: set[int], width: int) -> str:
    if width == 1:
        return "The first line must hold the column names: remove titles and comments above it."
    if widths == {width + 1}:
        return (
            "Every row has one cell more than there are names: name the first column too, such as "
            "'id' (in R: col.names=NA)."
        )
    return "The file may be truncated."
