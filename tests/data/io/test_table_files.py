"""Feather and Parquet tables: the same cells as in the same CSV."""

import gzip
import sys
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pytest

from manyview.data.io.readers import read_views
from manyview.data.io.table_files import read_file, read_table
from manyview.errors import DataFileError, InputError

FRAME = pd.DataFrame({"id": ["a", "b"], "x": [1, 2], "z": [0.5, 1.5], "class": ["p", None]})


@pytest.mark.parametrize("suffix", [".feather", ".arrow"])
def test_feather_table_equals_the_same_csv(tmp_path, suffix):
    FRAME.to_feather(tmp_path / f"t{suffix}")
    FRAME.to_csv(tmp_path / "t.csv", index=False)
    one, other = read_views(tmp_path / f"t{suffix}"), read_views(tmp_path / "t.csv")
    np.testing.assert_array_equal(one.views["t"], other.views["t"])
    assert one.sample_ids.tolist() == other.sample_ids.tolist() == ["a", "b"]
    assert one.labels.tolist() == other.labels.tolist() == ["p", None]


def test_compressed_parquet_is_read(tmp_path):
    FRAME.to_parquet(tmp_path / "t.parquet")
    (tmp_path / "u.parquet.gz").write_bytes(gzip.compress((tmp_path / "t.parquet").read_bytes()))
    np.testing.assert_array_equal(
        read_views(tmp_path / "u.parquet.gz").views["u"], [[1, 0.5], [2, 1.5]]
    )


@pytest.mark.parametrize("module", ["pandas", "pyarrow"])
def test_missing_feather_library_names_the_extra(tmp_path, monkeypatch, module):
    FRAME.to_feather(tmp_path / "t.feather")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(DataFileError, match=rf"needs {module}.*pip install 'manyview\[tables\]'"):
        read_table(tmp_path / "t.feather")


def test_damaged_feather_is_refused(tmp_path):
    (tmp_path / "t.feather").write_bytes(b"ARROW1 and no more")
    with pytest.raises(DataFileError, match=r"t\.feather could not be read as a Feather table"):
        read_views(tmp_path / "t.feather")


@pytest.mark.parametrize("write", ["to_parquet", "to_feather"])
def test_dates_are_iso_text_and_booleans_stay(tmp_path, write):
    frame = pd.DataFrame(
        {
            "id": ["a", "b"],
            "day": pd.to_datetime(["2024-03-01", None]),
            "time": pd.to_datetime(["2024-03-01 12:30:00", "2024-03-02 00:00:00"]),
            "fine": pd.to_datetime(["2024-03-01 12:30:00.25", None]).astype("datetime64[us]"),
            "zone": pd.to_datetime(["2024-03-01 12:30:00", None]).tz_localize("UTC"),
            "date": [pd.Timestamp("2024-03-01").date(), None],
            "flag": [True, False],
            "maybe": [True, None],
        }
    )
    getattr(frame, write)(tmp_path / ("t" + write.replace("to_", ".")))
    (table,) = read_file(tmp_path / ("t" + write.replace("to_", "."))).tables
    columns = dict(zip(table.header, table.columns, strict=True))
    assert columns["day"] == ["2024-03-01", ""]
    assert columns["time"] == ["2024-03-01T12:30:00", "2024-03-02T00:00:00"]
    assert columns["fine"] == ["2024-03-01T12:30:00.250000", ""]
    assert columns["zone"] == ["2024-03-01T12:30:00+00:00", ""]
    assert columns["date"] == ["2024-03-01", ""]
    assert columns["flag"].dtype == bool
    assert columns["maybe"] == ["True", ""]


def test_file_of_one_table_is_wanted(tmp_path):
    with pd.ExcelWriter(tmp_path / "t.xlsx") as book:
        FRAME.to_excel(book, sheet_name="one", index=False)
        FRAME.to_excel(book, sheet_name="two", index=False)
    with pytest.raises(DataFileError, match=r"must hold one table; it holds 'one' and 'two'"):
        read_table(tmp_path / "t.xlsx")


@pytest.mark.parametrize("kind", ["folder", "zip", "xlsx"])
def test_more_views_than_allowed_are_refused_before_they_are_read(tmp_path, kind, monkeypatch):
    monkeypatch.setattr("manyview.data.views.MAX_VIEWS", 3)
    names, text = "abcd", "not,a\ntable"
    data = tmp_path / "data"
    if kind == "folder":
        data.mkdir()
        for name in names:
            (data / f"{name}.csv").write_text(text)
    elif kind == "zip":
        data = tmp_path / "data.zip"
        with zipfile.ZipFile(data, "w") as archive:
            for name in names:
                archive.writestr(f"{name}.csv", text)
    else:
        openpyxl = pytest.importorskip("openpyxl")
        data, book = tmp_path / "data.xlsx", openpyxl.Workbook()
        for name in names[1:]:
            book.create_sheet(name)
        book.save(data)
    with pytest.raises(InputError, match=r"data must have at most 3 views.*; got 4\."):
        read_views(data)


def test_feather_table_with_lengths_of_texts_beyond_its_end_is_refused(tmp_path):
    texts = pa.array(["one", "two"])
    lengths = np.frombuffer(texts.buffers()[1], dtype=np.int32).copy()
    lengths[1] = 2**30
    wrong = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(lengths.tobytes()), texts.buffers()[2]]
    )
    table = pa.table({"id": wrong, "x": [1.0, 2.0]})
    pyarrow.feather.write_feather(table, tmp_path / "t.feather", compression="uncompressed")
    with pytest.raises(DataFileError, match=r"t\.feather could not be read as a Feather table"):
        read_views(tmp_path / "t.feather")
