"""Excel workbooks: one view per sheet, and what is refused."""

import datetime
import io
import sys
import zipfile

import numpy as np
import openpyxl
import pytest

from manyview.data.io.readers import read_views
from manyview.data.io.table_files import read_file
from manyview.errors import DataFileError
from manyview.system.config import config_context

RNA = [["id", "g1", "g2"], ["a", 1, 2.5], ["b", 3, 4], ["c", 5, 6]]
DNA = [["id", "m1"], ["c", 30], ["a", 10], ["b", 20]]
LABELS = [["id", "diagnosis"], ["b", "ill"], ["a", "well"]]


def write(path, **sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def test_workbook_of_one_sheet_is_a_table_named_after_the_file(tmp_path):
    data = read_views(write(tmp_path / "rna.xlsx", Sheet1=RNA, Sheet2=[]))
    assert (data.name, data.views.names) == ("rna", ("rna",))
    np.testing.assert_array_equal(data.views["rna"], [[1, 2.5], [3, 4], [5, 6]])
    assert data.sample_ids.tolist() == ["a", "b", "c"]


def test_each_sheet_is_a_view_and_labels_are_found(tmp_path):
    file = write(tmp_path / "study.xlsx", rna=RNA, dna=DNA, Labels=LABELS)
    data = read_views(file)
    assert (data.name, data.views.names) == ("study", ("rna", "dna"))
    np.testing.assert_array_equal(data.views["dna"], [[10], [20], [30]])
    assert data.labels.tolist() == ["well", "ill", None]
    assert "labels in study.xlsx/Labels column diagnosis: 2 classes" in data.notes[0]
    (tmp_path / "y.csv").write_text("id,y\na,1\nb,1\nc,2\n")
    data = read_views(file, labels=tmp_path / "y.csv")
    assert data.labels.tolist() == [1, 1, 2]
    assert "study.xlsx/Labels is not used: other labels were passed." in data.notes


def test_sheet_may_be_left_out(tmp_path):
    file = write(tmp_path / "study.xlsx", rna=RNA, Notes=[["made by hand"], ["in May"]])
    with pytest.raises(DataFileError) as caught:
        read_views(file)
    assert str(caught.value) == (
        "study.xlsx/Notes has no column of features or labels; it has 'made by hand'. Leave it "
        "out; in a folder, pass ignore='study.xlsx/Notes'."
    )
    data = read_views(file, ignore="study.xlsx/Notes")
    assert data.views.names == ("study",)
    assert "Ignored: study.xlsx/Notes." in data.notes
    book = write(tmp_path / "more.xlsx", rna=RNA, dna=DNA)
    with pytest.raises(
        DataFileError, match=r"no 'more\.xlsx/dnna' to ignore\. Did you mean 'more\.xlsx/dna'"
    ):
        read_views(book, ignore="more.xlsx/dnna")


def test_folder_mixes_workbooks_and_other_tables(tmp_path):
    write(tmp_path / "rna.xlsx", Sheet1=RNA)
    (tmp_path / "dna.csv").write_text("id;m1\na;1,5\nb;2\nc;3\n")
    write(tmp_path / "labels.xlsx", Sheet1=LABELS)
    data = read_views(tmp_path)
    assert data.views.names == ("dna", "rna")
    assert data.labels.tolist() == ["well", "ill", None]


def test_label_file_may_be_a_sheet_among_others(tmp_path):
    (tmp_path / "rna.csv").write_text("id,g\na,1\nb,2\n")
    file = write(tmp_path / "clinic.xlsx", notes=[["x"], ["hm"]], labels=LABELS)
    assert read_views(tmp_path / "rna.csv", labels=file).labels.tolist() == ["well", "ill"]
    file = write(tmp_path / "clinic.xlsx", notes=[["x"], ["hm"]], first=LABELS)
    with pytest.raises(
        DataFileError, match=r"one table of labels; it holds 'notes' and 'first'\. Name the sheet"
    ):
        read_views(tmp_path / "rna.csv", labels=file)


def test_cells_become_text_that_keeps_dates_booleans_and_whole_ids(tmp_path):
    day, noon = datetime.datetime(2024, 3, 1), datetime.datetime(2024, 3, 2, 12, 30)
    rows = [
        ["id", "date", "time", "clock", "flag", "mixed", "blank"],
        [7, day, noon, datetime.time(8, 15), True, True, None],
        [8, day, day, datetime.time(9), False, None, "  "],
    ]
    (table,) = read_file(write(tmp_path / "a.xlsx", one=rows)).tables
    columns = dict(zip(table.header, table.columns, strict=True))
    assert columns["id"] == ["7", "8"]
    assert columns["date"] == ["2024-03-01", "2024-03-01"]
    assert columns["time"] == ["2024-03-02T12:30:00", "2024-03-01"]
    assert columns["clock"] == ["08:15:00", "09:00:00"]
    assert columns["flag"].tolist() == [True, False]
    assert columns["flag"].dtype == bool
    assert columns["mixed"] == ["True", ""]
    assert columns["blank"] == ["", ""]


def test_numbers_are_read_exactly(tmp_path, rng):
    values = rng.normal(size=(20, 3)) * 10.0 ** rng.integers(-9, 9, size=(20, 3))
    values = np.vectorize(lambda value: float(f"{value:.15g}"))(values)  # openpyxl writes 16 digits
    rows = [["id", "a", "b", "c"], *([f"s{n}", *row] for n, row in enumerate(values.tolist()))]
    data = read_views(write(tmp_path / "a.xlsx", one=rows))
    np.testing.assert_array_equal(data.views["a"], values)


def test_samples_in_columns_are_turned(tmp_path):
    rows = [["gene", "s1", "s2"], ["g1", 1, 2], ["g2", 3, 4]]
    data = read_views(write(tmp_path / "a.xlsx", one=rows), samples_in="columns")
    assert data.sample_ids.tolist() == ["s1", "s2"]
    np.testing.assert_array_equal(data.views["a"], [[1, 3], [2, 4]])


def test_blank_rows_and_columns_around_the_table_are_skipped(tmp_path):
    book = openpyxl.Workbook()
    for row in [*RNA[:2], [], *RNA[2:]]:
        book.active.append(row)
    book.active["XFD90000"] = " "  # a stray blank at the far end of the sheet
    book.save(tmp_path / "rna.xlsx")
    assert read_views(tmp_path / "rna.xlsx").views.shape == (3, 2)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            [["Results", None, None], *RNA],
            r"'one': column 2 has cells but no name in row 1\..*ti",
        ),
        ([["id", "x"]], r"a\.xlsx must have a header and at least one row"),
        ([], r"a\.xlsx is empty: none of its sheets holds a cell"),
        ([["id", "x"], ["a", "#DIV/0!"]], r"'one': row 2, column 2 holds the error #DIV/0!\. Corr"),
        (
            [["id", "x"], ["a", "=1+1"]],
            r"'one': cell B2 holds a formula without a stored value",
        ),
        ([[1, 2], [3, 4]], r"has no header: its first line holds numbers"),
        ([*RNA, ["a", 1, 2]], r"a\.xlsx names sample 'a' twice \(rows 2 and 5\)"),
    ],
)
def test_sheet_that_breaks_a_rule_is_refused(tmp_path, rows, message):
    with pytest.raises(DataFileError, match=message):
        read_views(write(tmp_path / "a.xlsx", one=rows))


def test_not_available_is_a_blank_cell(tmp_path):
    rows = [["id", "x", "z"], ["a", "#N/A", 1], ["b", 2, 3]]
    data = read_views(write(tmp_path / "a.xlsx", one=rows), missing="impute")
    np.testing.assert_array_equal(data.views["a"], [[np.nan, 1], [2, 3]])


def test_two_sheets_of_one_name_in_two_files_are_refused(tmp_path):
    write(tmp_path / "one.xlsx", rna=RNA, dna=DNA)
    write(tmp_path / "two.xlsx", rna=RNA, other=DNA)
    with pytest.raises(DataFileError, match=r"one\.xlsx/rna and two\.xlsx/rna would both be view"):
        read_views(tmp_path)


def test_old_excel_is_refused_with_the_way_out(tmp_path):
    (tmp_path / "a.xls").write_bytes(b"\xd0\xcf\x11\xe0")
    for options in ({"data": tmp_path / "a.xls"}, {"data": tmp_path / "b.csv", "labels": "a.xls"}):
        if "labels" in options:
            (tmp_path / "b.csv").write_text("id,x\na,1\n")
            options["labels"] = tmp_path / "a.xls"
        with pytest.raises(DataFileError) as caught:
            read_views(**options)
        assert str(caught.value) == (
            "a.xls is in the format of Excel 97 to 2003, which is not read. Save it as .xlsx or "
            "CSV."
        )


def test_damaged_workbook_is_refused(tmp_path):
    file = write(tmp_path / "a.xlsx", one=RNA)
    file.write_bytes(file.read_bytes()[:-200])
    with pytest.raises(DataFileError, match=r"a\.xlsx could not be read as an Excel workbook"):
        read_views(file)


def test_workbook_that_unpacks_to_more_than_memory_is_refused(tmp_path):
    file = write(tmp_path / "a.xlsx", one=RNA)
    content = io.BytesIO(file.read_bytes())
    with zipfile.ZipFile(content, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/big.xml", b"0" * 3_000_000)
    file.write_bytes(content.getvalue())
    with (
        config_context(max_memory=0.01),
        pytest.raises(
            DataFileError, match=r"a\.xlsx unpacks to more than 2\.56 MB, a quarter of the memory"
        ),
    ):
        read_views(file)


def test_missing_library_names_the_extra(tmp_path, monkeypatch):
    file = write(tmp_path / "a.xlsx", one=RNA)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(
        DataFileError,
        match=r"a\.xlsx needs openpyxl, which is not installed.*pip install 'manyview\[tables\]'",
    ):
        read_views(file)


def with_rows(path, rows):
    """Write a workbook, and replace the rows of its sheet by XML."""
    write(path, Sheet1=RNA)
    with zipfile.ZipFile(path) as book:
        parts = {name: book.read(name) for name in book.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    start, end = parts[sheet].index(b"<sheetData>"), parts[sheet].index(b"</sheetData>")
    parts[sheet] = parts[sheet][: start + 11] + rows + parts[sheet][end:]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        for name, content in parts.items():
            book.writestr(name, content)
    return path


def test_row_number_beyond_those_of_excel_is_refused_and_not_waited_for(tmp_path):
    rows = b'<row r="1"><c r="A1"><v>1</v></c></row><row r="99999999999"><c><v>2</v></c></row>'
    with pytest.raises(DataFileError, match="has more rows than Excel allows, 1,048,576"):
        read_views(with_rows(tmp_path / "far.xlsx", rows))


def test_few_bytes_that_span_many_cells_are_refused(tmp_path):
    rows = b"".join(b'<row r="%d"><c r="XFD%d"><v>1</v></c></row>' % (n, n) for n in range(1, 300))
    file = with_rows(tmp_path / "wide.xlsx", rows)
    with (
        config_context(max_memory=0.1),
        pytest.raises(DataFileError, match=r"wide.xlsx unpacks to more than 25.6 MB"),
    ):
        read_views(file)
