"""Labels in a separate file, with and without header and ids."""

import numpy as np
import pandas as pd
import pytest

from manyview.data.io.label_files import read_label_file
from manyview.errors import DataFileError


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("1\n2\n2\n", [1, 2, 2]),
        ("y\n1\n2\n2\n", [1, 2, 2]),
        ("grade\n1\n\n2\n", [1, -1, 2]),
        ("cat\ndog\ncat\n", ["cat", "dog", "cat"]),
        ("class\ncat\ndog\n?\n", ["cat", "dog", None]),
    ],
    ids=["numbers", "named", "text above numbers", "words", "named words"],
)
@pytest.mark.parametrize("name", ["truth.txt", "truth.csv", "truth.tsv"])
def test_one_column_may_go_without_a_header(tmp_path, name, text, labels):
    (tmp_path / name).write_text(text)
    column = read_label_file(tmp_path / name)
    assert column.labels.tolist() == labels
    assert column.sample_ids is None


def test_two_columns_are_ids_and_labels(tmp_path):
    (tmp_path / "truth.csv").write_text("patient,diagnosis\np1,ill\np2,well\n")
    column = read_label_file(tmp_path / "truth.csv")
    assert column.labels.tolist() == ["ill", "well"]
    assert column.sample_ids == ["p1", "p2"]


def test_one_of_many_columns_is_found_or_given(tmp_path):
    file = tmp_path / "clinic.csv"
    file.write_text("id,age,class,stage\np1,40,ill,2\np2,50,well,1\n")
    assert read_label_file(file).labels.tolist() == ["ill", "well"]
    assert read_label_file(file, label_column="stage").labels.tolist() == [2, 1]
    with pytest.raises(DataFileError, match=r"no column 'stages'; .*Did you mean 'stage'"):
        read_label_file(file, label_column="stages")


def test_unclear_column_is_refused(tmp_path):
    (tmp_path / "clinic.csv").write_text("id,age,stage\np1,40,2\np2,50,1\n")
    with pytest.raises(DataFileError, match=r"must have one column of labels.*Pass label_column="):
        read_label_file(tmp_path / "clinic.csv")


def test_absent_column_of_a_one_column_file_is_refused(tmp_path):
    (tmp_path / "y.txt").write_text("label\n1\n2\n")
    assert read_label_file(tmp_path / "y.txt", label_column="label").labels.tolist() == [1, 2]
    with pytest.raises(DataFileError, match=r"y\.txt has no column 'stage'; it has 'label'"):
        read_label_file(tmp_path / "y.txt", label_column="stage")


@pytest.mark.parametrize("values", [np.array([1, 2]), np.array([[1], [2]]), np.array(["a", "b"])])
def test_npy_holds_one_label_a_sample(tmp_path, values):
    np.save(tmp_path / "y.npy", values)
    assert read_label_file(tmp_path / "y.npy").labels.tolist() == values.ravel().tolist()


def test_npy_of_other_shape_or_objects_is_refused(tmp_path):
    np.save(tmp_path / "y.npy", np.ones((2, 2)))
    with pytest.raises(DataFileError, match=r"y\.npy must hold one label per sample"):
        read_label_file(tmp_path / "y.npy")
    np.save(tmp_path / "y.npy", np.array(["a", None], dtype=object))
    with pytest.raises(DataFileError, match=r"y\.npy could not be read as an \.npy array"):
        read_label_file(tmp_path / "y.npy")


def test_truncated_npy_is_refused(tmp_path):
    np.save(tmp_path / "y.npy", np.arange(50))
    content = (tmp_path / "y.npy").read_bytes()
    (tmp_path / "y.npy").write_bytes(content[:200])
    with pytest.raises(DataFileError, match=r"y\.npy could not be read"):
        read_label_file(tmp_path / "y.npy")


def test_parquet_holds_ids_and_labels(tmp_path):
    pd.DataFrame({"id": ["a", "b"], "label": [1.0, None]}).to_parquet(tmp_path / "y.parquet")
    column = read_label_file(tmp_path / "y.parquet")
    assert column.labels.tolist() == [1, -1]
    assert column.sample_ids == ["a", "b"]


def test_unknown_ending_is_refused(tmp_path):
    (tmp_path / "y.doc").write_text("1\n2\n")
    with pytest.raises(DataFileError, match=r"must end in one of \.csv.*; got y\.doc"):
        read_label_file(tmp_path / "y.doc")
