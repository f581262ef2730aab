"""Numbers with decimal commas and thousands separators, decided column by column."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from manyview.data.label_values import UNKNOWN_WORDS, is_number, shown_names
from manyview.errors import DataFileError

BLANKS = UNKNOWN_WORDS - {"-1"}
_EXPONENT = r"(?:[eE][+-]?\d+)?"
_SPACES = "[ \u00a0\u202f'\u2019]"  # separators that no decimal mark looks like
_COMMA = re.compile(  # decimal comma: 1,5  1.234,5  1 234,5
    rf"[+-]?(?:\d+|\d{{1,3}}(?:\.\d{{3}})+|\d{{1,3}}(?:{_SPACES}\d{{3}})+)?(?:,\d*)?{_EXPONENT}"
)
_POINT = re.compile(  # decimal point and thousands with commas: 1,234.5
    rf"[+-]?(?:\d+|\d{{1,3}}(?:,\d{{3}})+|\d{{1,3}}(?:{_SPACES}\d{{3}})+)?(?:\.\d*)?{_EXPONENT}"
)
_GROUPED_POINT = re.compile(r"[+-]?[1-9]\d{0,2}\.\d{3}")  # 1.234: a number, or 1234 with a point
_TWO_POINTS = re.compile(r"\.[^\0]*\.")  # in one cell


class Mark(Enum):
    """What the commas and points of a column of numbers mean."""

    PLAIN = auto()  # nothing to change
    COMMA = auto()  # a comma is decimal, points separate thousands
    POINT = auto()  # a point is decimal, commas separate thousands
    OPEN = auto()  # both readings fit
    MIXED = auto()  # cells of both readings
    TEXT = auto()


@dataclass(frozen=True)
class DecimalMarks:
    """Columns with decimal points and no separators, and what was changed."""

    columns: list[list[str]]
    notes: list[str]


def looks_numeric(cells: Iterable[str]) -> bool:
    """Return whether all cells that are not blank are numbers, decimal commas included."""
    return all(
        is_number(cell) or _fits(_COMMA, cell) or _fits(_POINT, cell) for cell in _filled(cells)
    )


def with_decimal_points(
    source: str, header: Sequence[str], columns: Sequence[list[str]]
) -> DecimalMarks:
    """Rewrite numbers with decimal commas or thousands separators, for Python to read.

    Each column decides by itself: '1,5' is unambiguous, and so are '1,234,567' and '0,125'. A
    column of cells such as '1,234' follows the other columns of the table if these have decimal
    commas, and is refused otherwise.
    """
    marks = [_mark(column) for column in columns]
    has_commas = Mark.COMMA in marks and Mark.POINT not in marks
    changed: list[list[str]] = []
    names: dict[Mark, list[str]] = {Mark.COMMA: [], Mark.POINT: []}
    for name, column, mark in zip(header, columns, marks, strict=True):
        if mark is Mark.MIXED:
            cells = _filled(column)
            one = next(cell for cell in cells if not _fits(_POINT, cell))
            other = next(cell for cell in cells if not _fits(_COMMA, cell))
            raise DataFileError(
                f"{source} column {name!r} mixes decimal commas and points: {one!r} and "
                f"{other!r}. Write its numbers alike."
            )
        if mark is Mark.OPEN and not has_commas:
            raise _ambiguous(source, name, _example(column, ","))
        if mark is Mark.PLAIN and has_commas and _is_grouped(column):
            raise _ambiguous(source, name, _example(column, "."))
        decided = Mark.COMMA if mark is Mark.OPEN else mark
        if decided in names:
            names[decided].append(repr(name))
            changed.append([_plain(cell, decided) for cell in column])
        else:
            changed.append(column)
    notes = []
    if names[Mark.COMMA]:
        notes.append(f"{source}: decimal commas in {shown_names(names[Mark.COMMA])}.")
    if names[Mark.POINT]:
        notes.append(
            f"{source}: commas that separate thousands in {shown_names(names[Mark.POINT])}."
        )
    return DecimalMarks(changed, notes)


def _mark(column: Sequence[str]) -> Mark:
    joined = "\0".join(column)  # one search instead of one per cell
    if "," not in joined and not _TWO_POINTS.search(joined):
        return Mark.PLAIN
    cells = _filled(column)
    comma = [_fits(_COMMA, cell) for cell in cells]
    point = [_fits(_POINT, cell) for cell in cells]
    if all(comma):
        return Mark.OPEN if all(point) else Mark.COMMA
    if all(point):
        return Mark.POINT
    if all(one or other for one, other in zip(comma, point, strict=True)):
        return Mark.MIXED
    return Mark.TEXT


def _fits(pattern: re.Pattern[str], cell: str) -> bool:
    return any(sign.isdigit() for sign in cell) and pattern.fullmatch(cell) is not None


def _filled(cells: Iterable[str]) -> list[str]:
    stripped = (cell.strip() for cell in cells)
    return [cell for cell in stripped if cell.casefold() not in BLANKS]


def _is_grouped(column: Sequence[str]) -> bool:
    """Return whether a column may be whole numbers with points between thousands."""
    cells = _filled(column)
    with_points = [cell for cell in cells if "." in cell]
    all_grouped = all(_GROUPED_POINT.fullmatch(cell) for cell in with_points)
    return bool(with_points) and all_grouped and all(is_number(cell) for cell in cells)


def _plain(cell: str, mark: Mark) -> str:
    if cell.strip().casefold() in BLANKS:
        return cell
    cell = re.sub(_SPACES, "", cell.strip())
    if mark is Mark.COMMA:
        return cell.replace(".", "").replace(",", ".")
    return cell.replace(",", "")


def _example(column: Sequence[str], sign: str) -> str:
    return next(cell.strip() for cell in column if sign in cell)


def _ambiguous(source: str, name: str, cell: str) -> DataFileError:
    one, other = cell.replace(",", "."), cell.replace(",", "").replace(".", "")
    return DataFileError(
        f"{source} column {name!r} is ambiguous: {cell!r} may be {one} or {other}. Write its "
        "numbers with a decimal point and without separators of thousands."
    )
