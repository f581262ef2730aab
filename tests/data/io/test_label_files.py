"""Labels in a separate file, with and without header and ids."""

import numpy as np
import pandas as pd
import pytest

from manyview.data.io.label_files import read_label_file
from manyview.data.io.readers import read_views
from manyview.errors import DataFileError, InputError


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


@pytest.mark.parametrize(
    ("text", "ids", "labels"),
    [
        ("who,what\np1,ill\np1,ill\np2,well\n", ["p1", "p1", "p2"], ["ill", "ill", "well"]),
        ("who,what\n11,1\n12,2\n", ["11", "12"], [1, 2]),
        ("what,who\nill,p1\nill,p2\nwell,p3\n", ["p1", "p2", "p3"], ["ill", "ill", "well"]),
        ("label,patient\n1,11\n2,12\n", ["11", "12"], [1, 2]),
        (",who,what\n0,p1,ill\n1,p2,well\n", ["p1", "p2"], ["ill", "well"]),
        (",who,what\n0,11,ill\n1,12,well\n", ["11", "12"], ["ill", "well"]),
        (",what\n0,ill\n1,well\n", ["0", "1"], ["ill", "well"]),
    ],
)
def test_of_two_columns_one_holds_ids_whatever_its_name(tmp_path, text, ids, labels):
    (tmp_path / "truth.csv").write_text(text)
    column = read_label_file(tmp_path / "truth.csv")
    assert column.sample_ids == ids
    assert column.labels.tolist() == labels


def test_numbers_among_more_columns_are_ids_if_the_tables_have_them(tmp_path):
    (tmp_path / "a.csv").write_text("patient,x\n1,0.5\n2,0.25\n3,7\n")
    (tmp_path / "clinic.csv").write_text("patient,age,class\n3,40,ill\n1,50,well\n")
    data = read_views(tmp_path / "a.csv", labels=tmp_path / "clinic.csv")
    assert data.labels.tolist() == ["well", None, "ill"]
    assert data.views.columns["a"] == ("x",)


def test_texts_among_more_columns_are_ids_wherever_they_stand(tmp_path):
    file = tmp_path / "clinic.csv"
    file.write_text("visit,patient,grade\n1,p1,2\n2,p2,1\n")
    column = read_label_file(file, label_column="grade")
    assert (column.sample_ids, column.labels.tolist()) == (["p1", "p2"], [2, 1])


def test_labels_of_an_archive_are_joined_by_row_if_numbers_are_no_ids(tmp_path, rng):
    np.savez(tmp_path / "a.npz", view1=rng.random((3, 5)))
    (tmp_path / "y.csv").write_text("age,label\n40,1\n40,2\n50,1\n")
    assert read_views(tmp_path / "a.npz", labels=tmp_path / "y.csv").labels.tolist() == [1, 2, 1]


@pytest.fixture
def table(tmp_path):
    rows = "".join(f"p{row},{row / 4}\n" for row in range(10))
    (tmp_path / "mean.csv").write_text("patient,x\n" + rows)
    return tmp_path / "mean.csv"


def test_several_files_are_merged(table):
    one, other = table.with_name("one.csv"), table.with_name("other.csv")
    one.write_text("patient,label\np1,ill\np2,\np3,well\n")
    other.write_text("who;what\np2;ill\np1;ill\np3;\n")
    data = read_views(table, labels=[one, str(other)])
    assert data.labels.tolist() == [None, "ill", "ill", "well", *[None] * 6]
    assert "labels in one.csv column label, other.csv column what: 2 classes" in data.notes[0]
    assert data.sha256 != read_views(table, labels=one).sha256
    other.write_text("who;what\np1;well\n")
    with pytest.raises(DataFileError) as caught:
        read_views(table, labels=[one, other])
    assert str(caught.value) == (
        "sample 'p1' has label 'ill' in one.csv column label and 'well' in other.csv column what. "
        "Remove or correct one of them."
    )


def test_frames_and_files_are_merged(table):
    table.with_name("one.csv").write_text("patient,label\np1,ill\n")
    frame = pd.DataFrame({"label": ["well"]}, index=["p2"])
    data = read_views(table, labels=[table.with_name("one.csv"), frame])
    assert data.labels.tolist()[:3] == [None, "ill", "well"]
    with pytest.raises(InputError, match=r"labels must be a file or frame .*got ndarray"):
        read_views(table, labels=np.ones(10))


def test_repeated_rows_of_labels_are_named(table):
    file = table.with_name("truth.csv")
    file.write_text("patient,diagnosis\np1,ill\np2,well\np1,ill\n")
    data = read_views(table, labels=file)
    assert data.labels.tolist()[:3] == [None, "ill", "well"]
    note = "truth.csv column diagnosis names 1 sample more than once, with the same label: p1."
    assert note in data.notes
    file.write_text("patient,diagnosis\np1,ill\np2,well\np1,well\n")
    with pytest.raises(
        DataFileError,
        match=r"truth\.csv column diagnosis gives sample 'p1' two labels: 'ill' \(row 2\) and "
        r"'well' \(row 4\)\. Remove or correct one of the rows",
    ):
        read_views(table, labels=file)


def test_samples_that_no_table_has_are_named(table):
    file = table.with_name("truth.csv")
    file.write_text("patient,diagnosis\np1,ill\nq7,well\nq8,well\np2,well\n")
    note = "truth.csv column diagnosis names 2 samples that are in no view: q7, q8; not used."
    assert note in read_views(table, labels=file).notes


def test_labels_with_ids_need_ids_in_the_tables(tmp_path):
    (tmp_path / "a.csv").write_text("x,z\n1.5,2\n2.5,3\n3.5,4\n")
    (tmp_path / "y.csv").write_text("patient,diagnosis\np1,ill\np2,well\n")
    with pytest.raises(
        DataFileError, match=r"names samples, such as 'p1', but the views have no sample ids"
    ):
        read_views(tmp_path / "a.csv", labels=tmp_path / "y.csv")


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
