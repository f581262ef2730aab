"""Decimal commas and thousands separators: read where they are clear, refused where not."""

import numpy as np
import pytest

from manyview.data.io.decimal_marks import looks_numeric
from manyview.data.io.readers import read_views
from manyview.errors import DataFileError


def read(tmp_path, *columns, **options):
    rows = ["id;" + ";".join(f"x{number}" for number in range(len(columns)))]
    rows += [f"s{row};" + ";".join(cells) for row, cells in enumerate(zip(*columns, strict=True))]
    (tmp_path / "a.csv").write_text("\n".join(rows), encoding="utf-8")
    return read_views(tmp_path / "a.csv", **options)


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["1,5", "2", "-3,25"], [1.5, 2, -3.25]),
        (["0,125", "1,234", "12,5e-3"], [0.125, 1.234, 0.0125]),
        (["1.234,5", "7", "1.234.567,25"], [1234.5, 7, 1234567.25]),
        (["1 234,5", "1\u202f234", ",5"], [1234.5, 1234, 0.5]),
        (["1.234.567", "1.234", "5"], [1234567, 1234, 5]),
        (["1,234,567", "1,234", "5"], [1234567, 1234, 5]),
        (["1,234.5", "1,234", "0.5"], [1234.5, 1234, 0.5]),
        (["1.5", "2", "1e3"], [1.5, 2, 1000]),
        (["1.234", "5.678", "9.012"], [1.234, 5.678, 9.012]),
    ],
)
def test_clear_numbers_are_read(tmp_path, cells, numbers):
    np.testing.assert_array_equal(read(tmp_path, cells).views["a"].ravel(), numbers)


def test_what_was_changed_is_noted(tmp_path):
    data = read(tmp_path, ["1,5", "2"], ["1,234,567", "1"], ["3", "4"])
    assert "a.csv: decimal commas in 'x0'." in data.notes
    assert "a.csv: commas that separate thousands in 'x1'." in data.notes


def test_quoted_commas_in_a_comma_separated_table_are_read(tmp_path):
    (tmp_path / "a.csv").write_text('id,x,z\na,"1,5",2\nb,"2,5",3\n')
    np.testing.assert_array_equal(read_views(tmp_path / "a.csv").views["a"], [[1.5, 2], [2.5, 3]])


def test_first_column_with_decimal_commas_is_not_taken_for_ids(tmp_path):
    (tmp_path / "a.csv").write_text("x;z\n1,5;2\n2,5;3\n")
    data = read_views(tmp_path / "a.csv")
    assert data.views.shape == (2, 2)
    (tmp_path / "a.csv").write_text("1,5;2,5\n2,5;3,5\n")
    with pytest.raises(DataFileError, match="has no header: its first line holds numbers"):
        read_views(tmp_path / "a.csv")


def test_blank_cells_beside_decimal_commas_stay_blank(tmp_path):
    data = read(tmp_path, ["1,5", "NA"], ["1", "2"], missing="impute")
    np.testing.assert_array_equal(data.views["a"], [[1.5, 1], [np.nan, 2]])


def test_ambiguous_commas_are_refused_by_column(tmp_path):
    with pytest.raises(DataFileError) as caught:
        read(tmp_path, ["1,234", "5,678"], ["1", "2"])
    assert str(caught.value) == (
        "a.csv column 'x0' is ambiguous: '1,234' may be 1.234 or 1234. Write its numbers with a "
        "decimal point and without separators of thousands."
    )


def test_ambiguous_commas_follow_clear_ones_of_the_table(tmp_path):
    data = read(tmp_path, ["1,234", "5,678"], ["1,5", "2"])
    np.testing.assert_array_equal(data.views["a"], [[1.234, 1.5], [5.678, 2]])
    assert "a.csv: decimal commas in 'x0', 'x1'." in data.notes


def test_points_that_may_separate_thousands_beside_decimal_commas_are_refused(tmp_path):
    with pytest.raises(DataFileError, match=r"column 'x0' is ambiguous: '1\.234' may be 1\.234 or"):
        read(tmp_path, ["1.234", "500"], ["1,5", "2"])
    clear = read(tmp_path, ["1.234", "0.5"], ["1,5", "2"])
    np.testing.assert_array_equal(clear.views["a"], [[1.234, 1.5], [0.5, 2]])


@pytest.mark.parametrize("cells", [["1.5", "2,5"], ["1,234,567", "2,5"]])
def test_commas_and_points_in_one_column_are_refused(tmp_path, cells):
    with pytest.raises(DataFileError, match=r"column 'x0' mixes decimal commas and points: '2,5'"):
        read(tmp_path, cells, ["1", "2"])


def test_ids_and_labels_keep_their_commas(tmp_path):
    (tmp_path / "a.csv").write_text("id;x;label\n1,5;1;1,5\n2,5;2;b\n")
    data = read_views(tmp_path / "a.csv")
    assert data.sample_ids.tolist() == ["1,5", "2,5"]
    assert data.labels.tolist() == ["1,5", "b"]


@pytest.mark.parametrize("cell", ["1,2,3", "a,b", "01.02.2024", "1,", ",", "-", "1.2.3", "1,5 m"])
def test_text_with_commas_and_points_is_no_number(cell):
    assert looks_numeric([cell]) == (cell == "1,")
