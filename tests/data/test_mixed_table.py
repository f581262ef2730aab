"""Mixed tables: cells of any type become floats, dates or texts, blank ones included."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from manyview.data.mixed_table import as_column, frame_mixed_table, mixed_table
from manyview.errors import InputError


def table():
    return mixed_table(["n", "t"], [[1, None, 3], ["a", "", "NA"]], "t.csv")


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([1, None, 2.5], [1, np.nan, 2.5]),
        ([True, False], [1, 0]),
        ([Decimal("1.5"), None], [1.5, np.nan]),
        (np.array([36, 12], dtype="timedelta64[h]"), [1.5, 0.5]),
    ],
)
def test_numbers_become_floats(cells, expected):
    column = as_column(cells)
    assert column.dtype == np.float64
    np.testing.assert_array_equal(column, expected)


def test_dates_become_utc_moments():
    summer = timezone(timedelta(hours=2))
    column = as_column([date(2020, 1, 2), None, datetime(2020, 7, 1, 2, tzinfo=summer)])
    assert column.tolist() == [datetime(2020, 1, 2), None, datetime(2020, 7, 1, 0)]
    zoned = pd.Series(pd.to_datetime(["2020-07-01 02:00+02:00"], utc=True))
    assert as_column(zoned.to_numpy()).tolist() == [datetime(2020, 7, 1)]
    assert as_column([datetime(2020, 1, 1, tzinfo=UTC)]).tolist() == [datetime(2020, 1, 1)]


def test_blank_words_are_no_texts():
    assert (
        as_column(["a ", "", " NA", "?", None, float("nan"), pd.NA]).tolist() == ["a"] + [None] * 6
    )


def test_rows_are_taken_and_blank_rows_inserted():
    assert table()[[2, 0]].column("n").tolist() == [3, 1]
    assert table().shape == (3, 2)
    spread = table().with_blank_rows(np.array([2, -1, 0]))
    np.testing.assert_array_equal(spread.column("n"), [3, np.nan, 1])
    assert spread.column("t").tolist() == [None, None, "a"]
    np.testing.assert_array_equal(table().is_blank(), [[False, False], [True, True], [False, True]])
    assert table().column("n").tolist()[0] == 1  # the table itself is unchanged


def test_a_repeated_name_is_refused():
    with pytest.raises(InputError, match=r"t\.csv must name every column once; 'a' repeats"):
        mixed_table(["a", "b", "a"], [[1], [2], [3]], "t.csv")


@pytest.mark.parametrize("library", [pd, pl])
def test_frames_determine_kinds_by_their_types(library):
    frame = library.DataFrame({"c": ["x", "y"], "b": [True, False], "n": [1, 2]})
    if library is pd:
        frame["c"] = frame["c"].astype("category")
    else:
        frame = frame.with_columns(pl.col("c").cast(pl.Categorical))
    assert frame_mixed_table(frame, "t").kinds == {"c": "category", "b": "boolean"}


def test_a_table_is_a_frame_again():
    frame = table().to_frame()
    assert list(frame.columns) == ["n", "t"]
    assert frame["t"].tolist() == ["a", None, None]
