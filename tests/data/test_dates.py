"""Dates in texts: the format of a column is found by all its cells."""

from datetime import datetime

import numpy as np
import pytest

from manyview.data.dates import FORMATS, ISO, date_formats, parse_dates


@pytest.mark.parametrize("form", FORMATS[1:])
def test_every_format_reads_what_it_writes(form):
    moments = [datetime(1999, 12, 31, 13, 45, 10), datetime(2024, 2, 29, 1, 2, 3)]
    texts = [moment.strftime(form) for moment in moments]
    found = date_formats(texts)
    assert found, texts
    dates, wrong = parse_dates(np.array([texts[0], None, texts[1]], dtype=object), found[0])
    expected = [datetime.strptime(text, form) for text in texts]
    assert dates.tolist() == [expected[0], None, expected[1]]
    assert wrong == []


def test_month_and_day_are_told_apart_by_any_cell():
    assert date_formats(["01/02/2020", "05/06/2020"]) == ["%m/%d/%Y", "%d/%m/%Y"]
    assert date_formats(["01/02/2020", "13/06/2020"]) == ["%d/%m/%Y"]
    assert date_formats(["01/02/2020", "12/31/2020"]) == ["%m/%d/%Y"]


@pytest.mark.parametrize(
    "texts",
    [
        ["red"],
        ["2020-01-01", "later"],
        ["12"],
        ["1.5", "2.5"],
        [],
        ["31/02/2020"],
        ["p1", "p22222"],
    ],
)
def test_other_texts_are_no_dates(texts):
    assert date_formats(texts) == []


def test_iso_dates_of_several_precisions():
    texts = ["2020-01-01", "2020-01-01T10:00", "2020-01-01 10:00:00", "2020-01-01T12:00:00+02:00"]
    assert date_formats(texts) == [ISO]
    dates, _ = parse_dates(np.array(texts, dtype=object), ISO)
    assert dates[1] == dates[2] == dates[3]


def test_cells_that_a_format_does_not_read_are_named():
    dates, wrong = parse_dates(np.array(["2020-01-01", "soon", None], dtype=object), ISO)
    assert wrong == [1]
    assert np.isnat(dates[1:]).all()
