"""Find the column of sample ids in each of several tables."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from manyview.data.io.decimal_marks import looks_numeric
from manyview.data.io.tables import ID_NAMES, LABEL_NAMES, SourceTable
from manyview.data.label_columns import LabelColumn
from manyview.data.label_values import shown_names

ID_NAMES_ANYWHERE = ("sample_id", "sampleid", "barcode", "id")  # unusual names for features
INDEX_NAME = re.compile(r"|index|level_0|unnamed: \d+(\.\d+)*")  # as pandas names its index
NEARLY_ALL = 0.9  # distinct texts per row from which a first column is taken for ids
MAX_WORDS = 3  # of an id on average; more are free text
N_GLANCED = 20  # cells that rule out most features quickly
N_COUNTED = 5  # rows from which a named column that counts them is worth a note


@dataclass(frozen=True)
class IdColumn:
    """Position of the sample ids of a table, if it has them, and of columns that count rows.

    `is_sure` is False for numbers that may be ids: an index, or a column without a usual name.
    `is_matched` means that numbers are taken for ids because other files hold the same ones.
    """

    position: int | None
    left_out: tuple[int, ...] = ()
    is_sure: bool = True
    is_matched: bool = False


def find_id_columns(
    tables: Sequence[SourceTable],
    id_column: str | Mapping[str, str] | None,
    label_column: str | None,
    given_labels: LabelColumn | None,
    notes: list[str],
) -> list[IdColumn]:
    """Find the ids of each table, and add notes on choices that no name decided.

    In this order: the option, the column of a fit (`id_column` by view), a usual name, a first
    column of texts that are nearly all distinct, a column whose cells are ids of other tables or
    of the labels, a first column of distinct whole numbers with one name in all tables, and an
    index as pandas writes it.
    """
    if isinstance(id_column, str):
        return [_named(table, id_column) for table in tables]
    fitted = _fitted_names(tables, id_column or {})
    found = [
        own_id_column(table, label_column) if name is None else _named(table, name)
        for table, name in zip(tables, fitted, strict=True)
    ]
    for place, table in enumerate(tables):
        if not found[place].is_sure:
            found[place] = _matched(table, place, tables, found, label_column, given_labels)
    if len(tables) > 1 and all(one.position is None for one in found):
        found = _agreed(tables, found, label_column)
    if any(one.position is None for one in found) and not any(one.is_sure for one in found):
        found = [_without_index(one) for one in found]
    notes += _notes_on_ids(tables, found)
    return found


def _named(table: SourceTable, name: str) -> IdColumn:
    return IdColumn(table.find(name), _row_counts(table, name))


def _fitted_names(tables: Sequence[SourceTable], id_columns: Mapping[str, str]) -> list[str | None]:
    """Return the column of each table that held the ids in a fit, None if it has no such one."""
    names = [id_columns.get(table.view) for table in tables]
    if len(id_columns) == len(tables) == 1:  # a single view may have another name than in the fit
        names = list(id_columns.values())
    return [
        name if name in table.header else None for table, name in zip(tables, names, strict=True)
    ]


def own_id_column(table: SourceTable, label_column: str | None = None) -> IdColumn:
    """Find the ids of one table by itself."""
    counts = _row_counts(table)
    names = [name.casefold() for name in table.header]
    is_index = 0 in index_columns(table)
    if names[0] in ID_NAMES and not is_index:
        return IdColumn(0, counts)
    for name in ID_NAMES_ANYWHERE:
        if names.count(name) == 1:
            position = names.index(name)
            return IdColumn(position, (*counts, *_index_before(is_index, position, counts)))
    first = _first_column(table, is_index)
    may_be_ids = first is not None and not _may_be_label(table, first, label_column)
    if first is not None and may_be_ids and has_distinct_texts(table, first):
        return IdColumn(first, (*counts, *_index_before(is_index, first, counts)))
    if is_index:
        return IdColumn(0, tuple(one for one in counts if one), is_sure=False)
    return IdColumn(None, counts, is_sure=False)


def _index_before(is_index: bool, position: int, counts: Sequence[int]) -> tuple[int, ...]:
    """Return the index column in front, which is no feature beside ids."""
    return (0,) if is_index and position and 0 not in counts else ()


def _without_index(found: IdColumn) -> IdColumn:
    """Leave out an index that was to be the ids: other tables have none to join it on."""
    index = () if found.position is None else (found.position,)
    return IdColumn(None, (*index, *found.left_out), is_sure=False)


def _first_column(table: SourceTable, is_index: bool) -> int | None:
    """Return the first column that is no index; None if there is none."""
    first = 1 if is_index else 0
    return first if first < len(table.header) else None


def _may_be_label(table: SourceTable, position: int, label_column: str | None) -> bool:
    name = table.header[position]
    return name == label_column or name.casefold() in LABEL_NAMES


def has_distinct_texts(table: SourceTable, position: int) -> bool:
    """Return whether the cells of a column are texts of few words, and nearly all distinct."""
    texts = table.texts(position)
    if len(set(texts)) < NEARLY_ALL * len(texts) or looks_numeric(texts):
        return False
    return sum(len(text.split()) for text in texts) <= MAX_WORDS * len(texts)


def is_index_name(name: str) -> bool:
    """Return whether pandas names an index, or a column without a name, like this."""
    return INDEX_NAME.fullmatch(name.casefold()) is not None


def index_columns(table: SourceTable) -> tuple[int, ...]:
    """Return the columns that are an index: named like one, and counting the rows.

    A first column may also hold other whole numbers, as after sorting or selecting rows.
    """
    first = (0,) if is_index_name(table.header[0]) and is_whole(table.texts(0)) else ()
    return (*first, *(place for place in _row_counts(table) if place not in first))


def _row_counts(table: SourceTable, id_column: str | None = None) -> tuple[int, ...]:
    """Return the columns that are named as an index and count the rows."""
    return tuple(
        position
        for position, name in enumerate(table.header)
        if name != id_column and is_index_name(name) and counts_rows(table.texts(position))
    )


def counts_rows(texts: Sequence[str]) -> bool:
    """Return whether cells count 0, 1, 2, ... or 1, 2, 3, ..."""
    if texts[0] not in ("0", "1") or len(texts) < 2:
        return False
    start = int(texts[0])
    return all(text == str(row) for row, text in enumerate(texts, start=start))


def is_whole(texts: Sequence[str]) -> bool:
    """Return whether all cells are whole numbers, without sign or blanks."""
    return all(text.isdecimal() for text in texts)


def _matched(
    table: SourceTable,
    place: int,
    tables: Sequence[SourceTable],
    found: Sequence[IdColumn],
    label_column: str | None,
    given_labels: LabelColumn | None,
) -> IdColumn:
    """Return the column whose cells are ids of other tables or of the labels."""
    known: set[str] = set()
    for other, one in zip(tables, found, strict=True):
        if other is not table and one.is_sure and one.position is not None:
            known.update(other.texts(one.position))
    label_ids = given_labels.sample_ids if given_labels is not None else None
    id_name = "" if given_labels is None else given_labels.id_name.casefold()
    known.update(label_ids or ())
    known.discard("")
    own = found[place]
    for position, name in enumerate(table.header):
        if position == own.position or _may_be_label(table, position, label_column):
            continue
        leads = position == 0 or (position == 1 and own.position == 0)
        if not leads and looks_numeric(table.cells(position, N_GLANCED)):
            continue
        texts = table.texts(position)
        if not _overlaps(texts, known):
            continue
        numeric = looks_numeric(texts)
        same_name = bool(id_name) and name.casefold() == id_name
        if numeric and not (leads and (same_name or (is_whole(texts) and _distinct(texts)))):
            continue
        if not numeric and not (leads or len(set(texts)) >= len(texts) / 2):
            continue
        index = () if own.position is None else (own.position,)
        left_out = tuple(sorted({*own.left_out, *index} - {position}))
        return IdColumn(position, left_out, is_matched=numeric)
    if own.position is not None and known and _overlaps(table.texts(own.position), known):
        return IdColumn(own.position, own.left_out)
    return own


def _overlaps(texts: Collection[str], known: Collection[str]) -> bool:
    """Return whether at least half of the cells are known ids, or half of these are cells."""
    values = set(texts) - {""}
    n_common = len(values.intersection(known))
    return n_common > 0 and 2 * n_common >= min(len(values), len(known))


def _distinct(texts: Sequence[str]) -> bool:
    return len(set(texts)) == len(texts)


def _agreed(
    tables: Sequence[SourceTable],
    found: list[IdColumn],
    label_column: str | None,
) -> list[IdColumn]:
    """Use a first column of distinct whole numbers with the same name in all tables."""
    name = tables[0].header[0]
    ids = [table.texts(0) for table in tables]
    fits = (
        all(table.header[0] == name for table in tables)
        and not _may_be_label(tables[0], 0, label_column)
        and all(is_whole(texts) and _distinct(texts) for texts in ids)
        and all(_overlaps(texts, ids[0]) for texts in ids)
    )
    if not fits:
        return found
    return [IdColumn(0, one.left_out, is_matched=True) for one in found]


def _notes_on_ids(tables: Sequence[SourceTable], found: Sequence[IdColumn]) -> list[str]:
    """Return notes on choices that no usual name decided, one for all tables alike."""
    files_by_note: dict[str, list[str]] = {}
    for table, one in zip(tables, found, strict=True):
        for note in _notes_on_table(table, one):
            files_by_note.setdefault(note, []).append(table.source)
    return [f"{shown_names(files)}: {note}" for note, files in files_by_note.items()]


def _notes_on_table(table: SourceTable, found: IdColumn) -> list[str]:
    notes = [
        f"column {table.header[place]!r} is an index of the rows and is left out."
        for place in found.left_out
    ]
    name = table.header[found.position or 0]
    if found.is_matched:
        notes.append(
            f"column {name!r} is used as sample ids, since other files hold the same numbers; the "
            "option id_column names another."
        )
    if found.position is not None and not found.is_sure:
        notes.append(f"column {name!r} is an index of the rows and is used as sample ids.")
    may_be_ids = found.position is None and 0 not in found.left_out
    if (
        may_be_ids
        and name.casefold() not in LABEL_NAMES
        and table.n_rows >= N_COUNTED
        and counts_rows(table.texts(0))
    ):
        notes.append(
            f"column {name!r} counts the rows and is used as a feature; the option "
            f"id_column={name} makes it the sample ids."
        )
    return notes
