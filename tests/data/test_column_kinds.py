"""Kinds of columns, told by their cells or by the user."""

import numpy as np
import pytest

from manyview.data.column_kinds import (
    column_kind,
    date_notes,
    kinds_note,
    parse_kinds,
    rows_lacking_values,
    with_kinds,
)
from manyview.data.mixed_table import as_column, mixed_table
from manyview.errors import InputError

WORDS = [f"comment number {number} is long" for number in range(60)]


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([1.5, None, 3], "number"),
        (["1.5", "", "1e3"], "number"),
        (["yes", "no", "Yes", None], "boolean"),
        (["TRUE", "FALSE"], "boolean"),
        (["t", "f", "t", "f"], "boolean"),
        (["f", "m", "f", "m"], "category"),
        (["yes", "yes"], "category"),
        (["0", "1", "2", "3+"] * 3, "category"),
        (["2020-01-01", None, "2021-05-06"], "date"),
        (["31.12.2020", "01.05.2021"], "date"),
        (np.array(["2020-01-01"], dtype="datetime64[D]"), "date"),
        (WORDS, "text"),
        (["a", "b", "c"], "text"),  # no two samples share a level
        ([f"zip{number}" for number in range(41)] * 9, "category"),
        ([f"zip{number}" for number in range(5_000)] * 2, "category"),  # however many levels
        ([*WORDS, *WORDS[:30]], "text"),  # most do not repeat
        (WORDS * 2, "category"),  # long texts that repeat
        (["none"] * 500 + WORDS, "text"),  # one frequent text is not a repetition of the others
        (["none"] * 500 + WORDS[:20], "category"),
        (["a"], "text"),
        ([None, None], "category"),
    ],
)
def test_kind_of_a_column(cells, kind):
    assert column_kind(as_column(cells), "c", "t.csv") == kind


def test_numbers_with_a_few_other_cells_are_refused_by_name():
    cells = [str(number) for number in range(99)] + ["<5"]
    with pytest.raises(InputError) as refusal:
        column_kind(as_column(cells), "crp", "lab.csv", [f"p{row}" for row in range(100)])
    assert str(refusal.value) == (
        "lab.csv: column 'crp' holds numbers except in 1 of 100 cells, the first is '<5' (sample "
        "'p99'). Correct or empty these cells, or read it as text with columns='crp=text'."
    )


def test_repeated_numbers_with_a_few_other_cells_are_refused_as_well():
    cells = [str(number) for number in range(20, 90)] * 3 + ["about 50"]
    with pytest.raises(InputError, match="read it as category with columns='age=category'"):
        column_kind(as_column(cells), "age", "clinic.csv")


def test_known_kinds_stay():
    table = mixed_table(["n", "s"], [[1, 2], ["a", "a"]], "t", {"n": "category"})
    assert with_kinds(table, "t").kinds == {"n": "category", "s": "category"}


def test_only_blank_numbers_and_dates_count_as_missing():
    columns = {
        "n": [1, None, 3, None, 5],
        "d": ["2020-01-01", "2020-01-02", None, None, "2020-01-03"],
        "c": ["a", "a", "b", None, None],
    }
    table = with_kinds(mixed_table(list(columns), list(columns.values()), "t"), "t")
    assert rows_lacking_values(table).tolist() == [False, True, True, False, False]


def test_notes_say_what_was_read_as_what():
    columns = {"n": [1, 2, 3, 4], "c": ["a", "b"] * 2, "s": ["yes", "no"] * 2,
               "d": ["01/02/2020", "03/04/2020"] * 2}  # fmt: skip
    table = with_kinds(mixed_table(list(columns), list(columns.values()), "t"), "t")
    assert (
        kinds_note("v", table) == "View v: 1 number (n), 1 category (c), 1 boolean (s), 1 date (d)."
    )
    assert date_notes("v", table) == [
        "View v: the dates in d are read as %m/%d/%Y, and could be %d/%m/%Y. Write them as "
        "2021-12-31 to be sure."
    ]


def test_kinds_are_parsed_from_options():
    assert parse_kinds("zip=text") == {"zip": "text"}
    assert parse_kinds({"zip": "text"}) == {"zip": "text"}
    for text in ("zip", "=text"):
        with pytest.raises(InputError, match="must be given as NAME=KIND"):
            parse_kinds([text])
