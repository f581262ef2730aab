"""Tables: dialects, ids, labels, blank cells, and what is refused."""

import sys

import numpy as np
import pandas as pd
import pytest

from manyview.data.io.readers import read_views
from manyview.data.io.table_files import read_table
from manyview.errors import DataFileError

PLAIN = "id,height,width\na,1,2\nb,3,4.5\n"


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", PLAIN),
        ("a.csv", PLAIN.replace(",", ";")),
        ("a.tsv", PLAIN.replace(",", "\t")),
        ("a.csv", "\ufeff" + PLAIN.replace("\n", "\r\n") + "\r\n\r\n"),
        ("a.csv", '"id","height","width"\n"a", 1 ,2\n\n"b",3,4.5'),
    ],
    ids=["csv", "semicolons", "tsv", "windows", "quoted"],
)
def test_table_is_read_in_its_dialects(tmp_path, name, text):
    data = read_views(write(tmp_path / name, text))
    assert data.views.names == ("a",)
    np.testing.assert_array_equal(data.views["a"], [[1, 2], [3, 4.5]])
    assert data.sample_ids.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    "name", ["id", "ID", "sample", "Sample_ID", "sampleid", "name", "barcode", "index", ""]
)
def test_first_column_of_a_usual_name_holds_ids_even_if_numeric(tmp_path, name):
    data = read_views(write(tmp_path / "a.csv", f"{name},x\n10,1\n20,2\n"))
    assert data.sample_ids.tolist() == ["10", "20"]
    assert data.views.shape == (2, 1)


def test_first_column_of_unique_texts_holds_ids(tmp_path):
    data = read_views(write(tmp_path / "a.csv", "patient,x,z\np1,1,1\np2,2,3\n"))
    assert data.sample_ids.tolist() == ["p1", "p2"]


def test_sample_id_column_is_no_feature_wherever_it_stands(tmp_path):
    data = read_views(write(tmp_path / "a.csv", "x,sample_id\n1,7\n2,8\n"))
    assert data.sample_ids.tolist() == ["7", "8"]
    assert data.views.shape == (2, 1)


def test_id_column_may_be_given(tmp_path):
    file = write(tmp_path / "a.csv", "x,code\n1,7\n2,8\n")
    assert read_views(file, id_column="code").sample_ids.tolist() == ["7", "8"]
    with pytest.raises(DataFileError, match=r"a\.csv has no column 'codes'; .*Did you mean 'code'"):
        read_views(file, id_column="codes")


def test_numeric_first_column_with_a_blank_is_not_taken_for_ids(tmp_path):
    file = write(tmp_path / "a.csv", "x,z\n1,1\n,2\n3,3\n")
    with pytest.raises(DataFileError) as caught:
        read_views(file)
    assert str(caught.value) == (
        "view 'a' has blank cells in 1 of 3 rows, the first is sample 'row 2'. "
        "Fill or remove these rows, or read and fit with missing='impute' to fill single cells "
        "with their column's mean."
    )


@pytest.mark.parametrize("blank", ["", "NA", "nan", "?"])
def test_blank_cells_are_refused_with_their_sample(tmp_path, blank):
    file = write(tmp_path / "rna.csv", f"id,x,z\na,1,{blank}\nb,{blank},2\nc,1,1\n")
    with pytest.raises(DataFileError, match=r"view 'rna' has blank cells in 2 of 3 rows.*'a'"):
        read_views(file)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,2\n3,4\n", "has no header: its first line holds numbers"),
        ("s1,0.5,3\ns2,1,2\n", "has no header: its first line holds numbers"),
        ("1\n2\n", "has no header: its first line holds numbers"),
        ("id,x,x\na,1,2\nb,2,3\n", "must name every column once; 'x' repeats"),
        ("id,x,town,town\na,1,m,Ulm\nb,2,f,Bonn\n", "must name every column once; 'town' repeats"),
        (PLAIN + "c,1\n", ": line 4 has 2 cells but the first line has 3"),
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("id,x\n", "must have a header and at least one row"),
    ],
)
def test_table_that_breaks_a_rule_is_refused(tmp_path, text, message):
    with pytest.raises(DataFileError) as error:
        read_views(write(tmp_path / "a.csv", text))
    assert f"a.csv {message}".replace(" :", ":") in str(error.value)


def test_numbers_may_name_columns_next_to_ids(tmp_path):
    data = read_views(write(tmp_path / "a.csv", ",0,1\ns1,0.5,3\ns2,1,2\n"))
    assert data.views.shape == (2, 2)
    file = write(tmp_path / "b.csv", "patient,101,102\ns1,0.5,3\ns2,1,2\n")
    with pytest.raises(DataFileError, match="or pass id_column='patient' if it is one"):
        read_views(file)
    assert read_views(file, id_column="patient").views.shape == (2, 2)


def test_samples_in_columns_are_turned(tmp_path):
    data = read_views(
        write(tmp_path / "rna.csv", "gene,s1,s2,s3\ng1,1,2,3\ng2,4,5,6\n"), samples_in="columns"
    )
    assert data.sample_ids.tolist() == ["s1", "s2", "s3"]
    np.testing.assert_array_equal(data.views["rna"], [[1, 4], [2, 5], [3, 6]])


def test_bytes_that_are_no_text_are_refused(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"id,x\n\xff\xfe\x00,1\n")
    with pytest.raises(DataFileError, match=r"a\.csv could not be read as UTF-8 text"):
        read_views(tmp_path / "a.csv")


def test_cell_beyond_all_limits_is_refused(tmp_path):
    file = write(tmp_path / "a.csv", "id,x\n" + "a" * 200_000 + ",1\n")
    with pytest.raises(DataFileError, match=r"a\.csv could not be read as a table"):
        read_views(file)


def test_doubled_id_column_is_refused(tmp_path):
    file = write(tmp_path / "a.csv", "code,code,x\na,b,1\n")
    with pytest.raises(DataFileError, match="has 2 columns named 'code'"):
        read_views(file, id_column="code")


def test_parquet_table_equals_the_same_csv(tmp_path):
    frame = pd.DataFrame({"id": ["a", "b"], "x": [1, 2], "z": [0.5, 1.5], "class": ["p", None]})
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_csv(tmp_path / "t.csv", index=False)
    one, other = read_views(tmp_path / "t.parquet"), read_views(tmp_path / "t.csv")
    np.testing.assert_array_equal(one.views["t"], other.views["t"])
    assert one.sample_ids.tolist() == other.sample_ids.tolist() == ["a", "b"]
    assert one.labels.tolist() == other.labels.tolist() == ["p", None]


def test_parquet_index_holds_the_ids(tmp_path):
    frame = pd.DataFrame({"x": [1.0, 2.0]}, index=["a", "b"])
    frame.to_parquet(tmp_path / "t.parquet")
    assert read_views(tmp_path / "t.parquet").sample_ids.tolist() == ["a", "b"]


def test_parquet_samples_in_columns_are_turned(tmp_path):
    pd.DataFrame({"gene": ["g1", "g2"], "s1": [1, 2], "s2": [3, 4]}).to_parquet(
        tmp_path / "t.parquet"
    )
    data = read_views(tmp_path / "t.parquet", samples_in="columns")
    assert data.sample_ids.tolist() == ["s1", "s2"]
    np.testing.assert_array_equal(data.views["t"], [[1, 2], [3, 4]])


@pytest.mark.parametrize("module", ["pandas", "pyarrow"])
def test_missing_parquet_library_names_the_extra(tmp_path, monkeypatch, module):
    pd.DataFrame({"x": [1]}).to_parquet(tmp_path / "t.parquet")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(DataFileError, match=rf"needs {module}.*pip install 'manyview\[io\]'"):
        read_table(tmp_path / "t.parquet")


def test_damaged_or_empty_parquet_is_refused(tmp_path):
    file = tmp_path / "t.parquet"
    pd.DataFrame({"x": [1.0, 2.0]}).to_parquet(file)
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])
    with pytest.raises(DataFileError, match=r"t\.parquet could not be read as a Parquet table"):
        read_views(file)
    pd.DataFrame({"x": []}).to_parquet(file)
    with pytest.raises(DataFileError, match="must have columns and at least one row"):
        read_views(file)
