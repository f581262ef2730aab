"""Kinds of columns: numbers, categories, booleans, dates and free text, found by their cells."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from manyview.data.dates import date_formats
from manyview.data.label_values import is_number, shown_names
from manyview.data.mixed_table import MixedTable, blank_cells
from manyview.errors import InputError

NUMBER, CATEGORY, BOOLEAN, DATE, TEXT = "number", "category", "boolean", "date", "text"
KINDS = (NUMBER, CATEGORY, BOOLEAN, DATE, TEXT)
PLURALS = {NUMBER: "numbers", CATEGORY: "categories", BOOLEAN: "booleans", DATE: "dates",
           TEXT: "texts"}  # fmt: skip
MIN_REPEATS = 2  # samples per distinct text of a category, on average
FEW_TEXTS = 40  # distinct texts above which the most frequent one does not count for the average
MOSTLY = 0.9  # fraction of numbers above which the other cells of a text column are mistakes
BOOLEAN_WORDS = dict.fromkeys(("true", "yes", "t", "y", "1"), "true") | dict.fromkeys(
    ("false", "no", "f", "n", "0"), "false"
)
BOOLEAN_PAIRS = ({"true", "false"}, {"yes", "no"}, {"t", "f"}, {"y", "n"})


def with_kinds(table: MixedTable, source: str, samples: Sequence[str] | None = None) -> MixedTable:
    """Return the table with the kind of every column; known kinds stay.

    `source` and `samples` name the table and its rows in errors.
    """
    kinds = {
        name: table.kinds.get(name) or column_kind(column, name, source, samples)
        for name, column in zip(table.names, table.columns, strict=True)
    }
    return replace(table, kinds=kinds)


def column_kind(
    column: np.ndarray, name: str, source: str, samples: Sequence[str] | None = None
) -> str:
    """Return the kind of a column by its cells.

    Texts are numbers, booleans or dates if all cells are, else categories if they repeat, however
    many there are, else free text. Texts repeat if they occur at least twice on average. The most
    frequent of over 40 texts does not count: a column of notes that are mostly "none" is free text.

    A column of over 40 texts, or of texts that do not repeat, is refused if nine of ten cells hold
    numbers: the other cells are probably mistakes.

    Examples
    --------
    >>> cells = np.array(["red", "blue", "red", None, "blue"], dtype=object)
    >>> column_kind(cells, "color", "cars.csv")
    'category'
    """
    if column.dtype.kind == "f":
        return NUMBER
    if column.dtype.kind == "M":
        return DATE
    known = [cell for cell in column.tolist() if cell is not None]
    distinct = set(known)
    if not known:
        return CATEGORY
    numeric = {text for text in distinct if is_number(text)}
    if len(numeric) == len(distinct):
        return NUMBER
    if _are_booleans(distinct):
        return BOOLEAN
    if date_formats(distinct):
        return DATE
    repeats = _repeat(known)
    if repeats and len(distinct) <= FEW_TEXTS:
        return CATEGORY
    n_numbers = sum(text in numeric for text in known)
    kind = CATEGORY if repeats else TEXT
    if n_numbers >= MOSTLY * len(known):
        row = next(
            row for row, cell in enumerate(column) if cell is not None and cell not in numeric
        )
        raise InputError(
            f"{source}: column {name!r} holds numbers except in {len(known) - n_numbers} of "
            f"{len(known)} cells, the first is {column[row]!r} ({row_name(row, samples)}). Correct "
            f"or empty these cells, or read it as {kind} with columns='{name}={kind}'."
        )
    return kind


def _repeat(texts: Sequence[str]) -> bool:
    """Return whether texts occur at least twice on average, the most frequent of many aside."""
    counts = sorted(Counter(texts).values(), reverse=True)
    if len(counts) > FEW_TEXTS:
        counts = counts[1:]
    return sum(counts) >= MIN_REPEATS * len(counts)


def _are_booleans(texts: set[str]) -> bool:
    """Return whether texts are two opposite words: true and false, yes and no, t and f, ..."""
    words = {text.casefold() for text in texts}
    return any(words == pair for pair in BOOLEAN_PAIRS)


def parse_kinds(columns: Mapping[str, Any] | Sequence[str] | str) -> dict[str, Any]:
    """Return kinds by column name; `name=kind` texts are split at the last equals sign.

    Examples
    --------
    >>> parse_kinds(["zip=category", "a=b=text"])
    {'zip': 'category', 'a=b': 'text'}
    """
    if isinstance(columns, Mapping):
        return dict(columns)
    kinds = {}
    for text in (columns,) if isinstance(columns, str) else columns:
        name, mark, kind = text.rpartition("=")
        if not mark or not name:
            raise InputError(
                f"columns must be given as NAME=KIND, such as zip=category; got {text!r}.",
                parameter="columns",
            )
        kinds[name] = kind
    return kinds


def row_name(row: int, samples: Sequence[str] | None) -> str:
    """Return the name of a row in messages."""
    return f"row {row}" if samples is None else f"sample {samples[row]!r}"


def rows_lacking_values(table: MixedTable) -> np.ndarray:
    """Return booleans [sample]: whether a number or date is blank in a row that is not all blank.

    A blank category, boolean or text is a value of its own.
    """
    is_blank = table.is_blank()
    counts = [table.kinds.get(name) in (NUMBER, DATE) for name in table.names]
    return np.asarray(is_blank[:, counts].any(axis=1) & ~is_blank.all(axis=1))


def kinds_note(view: str, table: MixedTable) -> str:
    """Describe in one line what the columns of a table were read as.

    Examples
    --------
    >>> from manyview.data.mixed_table import mixed_table
    >>> table = mixed_table(["age", "sex"], [[31, 40, 52, 27], ["f", "m", "m", "f"]], "clinical")
    >>> kinds_note("clinical", with_kinds(table, "clinical"))
    'View clinical: 1 number (age), 1 category (sex).'
    """
    parts = []
    for kind in KINDS:
        names = [name for name in table.names if table.kinds.get(name) == kind]
        if names:
            word = kind if len(names) == 1 else PLURALS[kind]
            parts.append(f"{len(names)} {word} ({shown_names(names)})")
    return f"View {view}: {', '.join(parts)}."


def date_notes(view: str, table: MixedTable) -> list[str]:
    """Return one note per date column that may be month first or day first."""
    notes = []
    for name, column in zip(table.names, table.columns, strict=True):
        if table.kinds.get(name) != DATE or column.dtype.kind == "M":
            continue
        formats = date_formats(column[~blank_cells(column)].tolist())
        if len(formats) > 1:
            notes.append(
                f"View {view}: the dates in {name} are read as {formats[0]}, and could be "
                f"{formats[1]}. Write them as 2021-12-31 to be sure."
            )
    return notes
