"""Text tables: encodings, delimiters and quotes are detected, or the true cause is named."""

import bz2
import csv
import gzip
import io
import lzma
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manyview.data.io.readers import read_views
from manyview.data.io.text_tables import find_delimiter
from manyview.errors import DataFileError, InputError
from manyview.system.config import config_context

NAMES = "id,größe,prix €\n"
ROWS = "a,1,2\nb,3,4.5\n"
PACKS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
finite = st.floats(-1e100, 1e100)


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"],
)  # fmt: skip
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_encodings_are_detected(tmp_path, encoding, end):
    file = tmp_path / "a.csv"
    file.write_bytes((NAMES + ROWS).replace("\n", end).encode(encoding))
    data = read_views(file)
    assert data.views.columns["a"] == ("größe", "prix €")
    np.testing.assert_array_equal(data.views["a"], [[1, 2], [3, 4.5]])
    note = (
        "a.csv is not UTF-8 and was read as Windows-1252. If letters are wrong, save it as UTF-8."
    )
    assert (note in data.notes) == (encoding == "cp1252")


def test_bytes_without_a_letter_in_windows_are_read_as_latin_1(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"id,\x81\na,1\nb,2\n")
    assert any("was read as Latin-1" in note for note in read_views(tmp_path / "a.csv").notes)


def test_encoding_of_a_label_file_is_noted(tmp_path):
    (tmp_path / "a.csv").write_text("id,x\na,1\nb,2\n")
    (tmp_path / "y.csv").write_bytes("id,befund\na,gesund\nb,Röteln\n".encode("cp1252"))
    data = read_views(tmp_path / "a.csv", labels=tmp_path / "y.csv")
    assert data.labels.tolist() == ["gesund", "Röteln"]
    assert any(note.startswith("y.csv is not UTF-8") for note in data.notes)


def test_utf_16_without_a_mark_and_truncated_utf_16_are_refused(tmp_path):
    (tmp_path / "a.csv").write_bytes((NAMES + ROWS).encode("utf-16-le"))
    with pytest.raises(DataFileError, match=r"a\.csv could not be read as UTF-8 text"):
        read_views(tmp_path / "a.csv")
    (tmp_path / "a.csv").write_bytes((NAMES + ROWS).encode("utf-16")[:-1])
    with pytest.raises(DataFileError, match=r"a\.csv could not be read as UTF-8 text"):
        read_views(tmp_path / "a.csv")


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("a,b\n1,2\n", ","),
        ("a;b\n1,5;2,5\n", ";"),
        ("a|b|c\n1|2|3\n", "|"),
        ("a\tb\n1\t2\n", "\t"),
        ('"a,b,c";d\n1;2\n', ";"),
        ('"x;y",b\n1,2\n', ","),
        ("a;b;c\n1;x, y, z;3\n", ";"),
        ("size, cm;b\n1;2\n", ";"),
        ("1,5;2,5\n2,5;3,5\n", ";"),
        ("one\n1\n", ","),
        ("a,b\n1,2\n3\n", ","),
    ],
)
def test_delimiter_is_decided_on_several_lines(text, delimiter):
    assert find_delimiter(text) == delimiter


def test_delimiter_that_excel_announces_is_used(tmp_path):
    (tmp_path / "a.csv").write_text("sep=;\nid;x, y\na;1\nb;2\n")
    assert read_views(tmp_path / "a.csv").views.columns["a"] == ("x, y",)
    (tmp_path / "a.csv").write_text("sep=;\nid;x\na;1\nb\n")
    with pytest.raises(DataFileError, match=r"a\.csv: line 4 has 1 cells"):
        read_views(tmp_path / "a.csv")


def test_names_that_are_one_short_are_explained(tmp_path):
    (tmp_path / "a.csv").write_text("x,z\na,1,2\nb,3,4\n")
    with pytest.raises(
        DataFileError, match=r"line 2 has 3 cells but .* 2\. Every row has one cell more .*'id'"
    ):
        read_views(tmp_path / "a.csv")


def test_title_above_the_names_is_explained(tmp_path):
    (tmp_path / "a.csv").write_text("# made in May\nid,x\na,1\nb,2\n")
    with pytest.raises(DataFileError, match=r"line 2 has 2 cells but .*remove titles and comm"):
        read_views(tmp_path / "a.csv")


def test_cells_separated_by_spaces_are_explained(tmp_path):
    (tmp_path / "a.csv").write_text("id x z\na 1 2\nb 3 4\n")
    with pytest.raises(
        DataFileError,
        match=r"no table has a feature column; a\.csv has 'id x z'\. Cells must",
    ):
        read_views(tmp_path / "a.csv")


def test_delimiters_at_the_end_of_rows_and_blank_rows_are_skipped(tmp_path):
    (tmp_path / "a.csv").write_text("id,x,,\na,1,,\nb,2,,\n,,,\n,,,\n")
    np.testing.assert_array_equal(read_views(tmp_path / "a.csv").views["a"], [[1], [2]])
    (tmp_path / "a.csv").write_text("id,x\na,1\n,2\n,3\n")
    with pytest.raises(DataFileError, match=r"has 2 rows without a sample id \(rows 3 and 4\)"):
        read_views(tmp_path / "a.csv")


def test_quotation_mark_that_is_never_closed_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text('id,x\n"a,1\nb,2\n')
    with pytest.raises(DataFileError, match=r"a\.csv .*\(a quotation mark is never closed\)"):
        read_views(tmp_path / "a.csv")
    (tmp_path / "a.csv").write_text('id,x 5" tall,"z" \na,1,2\nb,2,3\n')
    assert read_views(tmp_path / "a.csv").views.shape == (2, 2)


@given(
    values=st.lists(st.tuples(finite, st.integers(-(10**15), 10**15), finite), min_size=1),
    delimiter=st.sampled_from(",;\t|"),
    comma=st.booleans(),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]),
    pack=st.sampled_from(list(PACKS)),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    end=st.sampled_from(["\n", "\r\n"]),
)
@settings(max_examples=100, deadline=None)
def test_numbers_are_read_back_exactly(values, delimiter, comma, encoding, pack, quoting, end):
    comma = comma and all("." in repr(number) for row in values for number in (row[0], row[2]))
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, quoting=quoting, lineterminator=end)
    writer.writerow(["id", "größe", "n", "z"])
    for number, row in enumerate(values):
        cells = [repr(cell).replace(".", ",") if comma else repr(cell) for cell in row]
        # One cell that only a decimal comma explains makes each column unambiguous.
        writer.writerow([f"s{number}", *cells])
    unambiguous = "0,5" if comma else "0.5"
    writer.writerow(["last", unambiguous, "7", unambiguous])
    content = PACKS[pack](text.getvalue().encode(encoding))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"a.csv{pack}"
        file.write_bytes(content)
        data = read_views(file)
    expected = np.array([*values, (0.5, 7, 0.5)], dtype=np.float64)
    np.testing.assert_array_equal(data.views["a"], expected)
    assert data.views["a"].dtype == np.float64
    commas = "a.csv" + pack + ": decimal commas in 'größe', 'z'."
    assert (commas in data.notes) == comma


@pytest.mark.parametrize("text", ["id,x\n" + "0" * 400_000, "0\n" * 20_000])
def test_table_whose_cells_memory_cannot_hold_is_refused(tmp_path, text):
    file = tmp_path / "a.csv.gz"
    file.write_bytes(gzip.compress(text.encode()))
    with (
        config_context(max_memory=0.0022),
        pytest.raises(InputError, match=r"a\.csv\.gz, a text of .* Save it as Parquet or \.npy"),
    ):
        read_views(file)
