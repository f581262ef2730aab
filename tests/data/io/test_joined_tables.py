"""Several tables joined on sample ids, with labels from any of them."""

import numpy as np
import pytest

from manyview.data.io.readers import read_views
from manyview.errors import DataFileError, InputError

RNA = "id,g1,g2\na,1,2\nb,3,4\nc,5,6\n"
DNA = "id,m1\nc,30\na,10\nb,20\n"


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "omics"
    folder.mkdir()
    (folder / "rna.csv").write_text(RNA)
    (folder / "dna.tsv").write_text(DNA.replace(",", "\t"))
    return folder


def test_folder_of_tables_is_joined_on_ids_in_any_order(folder):
    data = read_views(folder)
    assert data.name == "omics"
    assert data.views.names == ("dna", "rna")
    assert data.sample_ids.tolist() == ["c", "a", "b"]
    np.testing.assert_array_equal(data.views["rna"], [[5, 6], [1, 2], [3, 4]])
    np.testing.assert_array_equal(data.views["dna"], [[30], [10], [20]])
    assert data.notes[0] == (
        "dna.tsv, rna.csv: 2 views of 3 samples (1, 2 features); no labels found."
    )
    assert "The tables are joined on sample ids, in the order of dna.tsv." in data.notes


def test_list_of_tables_keeps_the_order_it_is_given_in(folder):
    data = read_views([folder / "rna.csv", str(folder / "dna.tsv")])
    assert data.name == "rna+dna"
    assert data.views.names == ("rna", "dna")
    assert data.sample_ids.tolist() == ["a", "b", "c"]


def test_tables_without_ids_are_joined_by_row_order_and_it_says_so(tmp_path):
    (tmp_path / "one.csv").write_text("x,w\n1,1\n2,2\n")
    (tmp_path / "two.csv").write_text("z\n3\n4\n")
    data = read_views([tmp_path / "one.csv", tmp_path / "two.csv"])
    assert "The tables have no sample ids; they are joined by row order." in data.notes
    assert data.sample_ids.tolist() == ["0", "1"]


def test_tables_without_ids_must_be_of_one_length(tmp_path):
    (tmp_path / "one.csv").write_text("x\n1\n2\n")
    (tmp_path / "two.csv").write_text("z\n3\n")
    with pytest.raises(
        DataFileError, match=r"two\.csv has 1 rows but one\.csv has 2\. Add a column"
    ):
        read_views([tmp_path / "one.csv", tmp_path / "two.csv"])


def test_ids_in_some_tables_only_are_refused(folder):
    (folder / "dna.tsv").write_text("m1\n1\n2\n3\n")
    with pytest.raises(DataFileError, match=r"dna\.tsv has no column of sample ids.*id_column="):
        read_views(folder)


def test_samples_absent_from_a_table_lack_its_view_and_are_kept(folder):
    (folder / "rna.csv").write_text(RNA + "d,7,8\n")
    data = read_views(folder)
    assert data.sample_ids.tolist() == ["c", "a", "b", "d"]
    assert data.views.present.tolist() == [[True, True]] * 3 + [[False, True]]
    np.testing.assert_array_equal(data.views["rna"][3], [7, 8])
    assert "1 of 4 samples lack view dna; they are kept and use their other views." in data.notes


def test_a_row_that_is_blank_throughout_is_a_sample_without_the_view(folder):
    (folder / "rna.csv").write_text("id,g1,g2\na,1,2\nb,,\nc,5,NA\n")
    with pytest.raises(DataFileError, match=r"blank cells in 1 of 3 rows, the first is sample 'c'"):
        read_views(folder)
    data = read_views(folder, missing="impute")
    assert data.views.present[:, 1].tolist() == [True, True, False]  # c, a, b
    assert data.notes[1:3] == (
        "1 of 3 samples lack view rna; they are kept and use their other views.",
        "Single values are missing in 1 row of view rna; they will be imputed.",
    )


def test_a_sample_that_is_blank_in_every_table_is_refused_by_its_id(folder):
    (folder / "rna.csv").write_text("id,g1,g2\na,1,2\nb,,\nc,5,6\n")
    (folder / "dna.tsv").write_text("id\tm1\nc\t30\na\t10\nb\t\n")
    with pytest.raises(InputError, match="the first is sample 'b'"):
        read_views(folder)


def test_tables_without_a_common_sample_are_refused(folder):
    (folder / "dna.tsv").write_text("id\tm1\nP1\t1\nP2\t2\n")
    with pytest.raises(DataFileError, match=r"dna\.tsv has no sample id in common with the other"):
        read_views(folder)


def test_labels_of_samples_that_a_table_lacks_are_taken_from_another(folder):
    (folder / "rna.csv").write_text("id,g1,label\na,1,x\nb,2,y\n")
    (folder / "dna.tsv").write_text("id\tm1\tlabel\na\t1\tx\nc\t3\tz\n")
    data = read_views(folder)
    assert dict(zip(data.sample_ids, data.labels, strict=True)) == {"a": "x", "c": "z", "b": "y"}
    (folder / "dna.tsv").write_text("id\tm1\tlabel\na\t1\tq\nc\t3\tz\n")
    with pytest.raises(DataFileError, match="differ"):
        read_views(folder)


def test_missing_must_be_error_or_impute(folder):
    with pytest.raises(InputError, match="missing must be one of 'error', 'impute'; got 'mean'"):
        read_views(folder, missing="mean")


def test_doubled_ids_are_refused(folder):
    (folder / "rna.csv").write_text(RNA + "a,7,8\n")
    with pytest.raises(DataFileError, match=r"rna\.csv names sample 'a' twice \(rows 2 and 5\)"):
        read_views(folder)


@pytest.mark.parametrize("name", ["label", "Labels", "CLASS", "target", "y"])
def test_label_column_is_found_by_its_name(folder, name):
    (folder / "rna.csv").write_text(f"id,g1,{name}\na,1,ill\nb,2,well\nc,3,NA\n")
    data = read_views(folder)
    assert data.labels.tolist() == [None, "ill", "well"]  # in the order of dna.tsv
    assert data.views["rna"].shape == (3, 1)
    assert f"labels in rna.csv column {name}: 2 classes (ill, well), 1 sample" in data.notes[0]


def test_label_column_may_be_given(folder):
    (folder / "rna.csv").write_text("id,g1,grade\na,1,3\nb,2,4\nc,3,\n")
    data = read_views(folder, label_column="grade")
    assert data.labels.tolist() == [-1, 3, 4]
    with pytest.raises(DataFileError, match=r"has no column 'grad'; .*Did you mean 'grade'"):
        read_views(folder, label_column="grad")


def test_feature_that_happens_to_be_called_y_stays_a_feature(tmp_path):
    (tmp_path / "points.csv").write_text("x,y\n0.5,0.25\n1.5,2.5\n")
    data = read_views(tmp_path / "points.csv")
    assert data.labels is None
    assert data.views.shape == (2, 2)


def test_equal_label_columns_are_one_reading(folder):
    (folder / "rna.csv").write_text("id,g1,label\na,1,p\nb,2,q\nc,3,q\n")
    (folder / "dna.tsv").write_text("id\tm1\tlabel\nc\t1\tq\nb\t2\tq\na\t3\tp\n")
    data = read_views(folder)
    assert data.labels.tolist() == ["q", "q", "p"]
    assert "rna.csv column label holds the same labels as dna.tsv column label." in data.notes


def test_label_columns_that_differ_are_refused(folder):
    (folder / "rna.csv").write_text("id,g1,label,class\na,1,p,x\nb,2,q,y\nc,3,q,x\n")
    with pytest.raises(DataFileError, match="Pass label_column='label' or label_column='class'"):
        read_views(folder)
    data = read_views(folder, label_column="class")
    assert data.labels.tolist() == ["x", "x", "y"]
    assert data.views["rna"].shape == (3, 1)
    assert "rna.csv column label is not used: other labels were passed." in data.notes


def test_equally_named_label_columns_that_differ_are_refused(folder):
    (folder / "rna.csv").write_text("id,g1,label\na,1,p\nb,2,q\nc,3,q\n")
    (folder / "dna.tsv").write_text("id\tm1\tlabel\nc\t1\tp\nb\t2\tp\na\t3\tp\n")
    with pytest.raises(DataFileError, match=r"differ. Remove one of the columns, or pass"):
        read_views(folder)


def test_table_of_labels_alone_is_no_view_and_may_name_a_few_samples(folder):
    (folder / "clinic.csv").write_text("id,class\nb,ill\na,well\n")
    data = read_views(folder)
    assert data.views.names == ("dna", "rna")
    assert data.labels.tolist() == [None, "well", "ill"]


def test_label_file_in_the_folder_is_joined_on_ids(folder):
    (folder / "labels.csv").write_text("id,diagnosis\nb,2\nc,1\na,2\n")
    data = read_views(folder)
    assert data.labels.tolist() == [1, 2, 2]
    assert data.views.names == ("dna", "rna")


def test_label_column_next_to_a_label_file_does_not_leak_into_the_features(folder):
    (folder / "rna.csv").write_text("id,g1,label\na,1,1\nb,2,2\nc,3,2\n")
    (folder / "labels.csv").write_text("id,label\na,5\nb,6\nc,6\n")
    data = read_views(folder)
    assert data.labels.tolist() == [6, 5, 6]
    assert data.views["rna"].shape == (3, 1)
    assert "rna.csv column label is not used: other labels were passed." in data.notes


def test_tables_without_features_are_refused(tmp_path):
    (tmp_path / "a.csv").write_text("id,label\na,1\nb,2\n")
    with pytest.raises(DataFileError, match=r"a\.csv: no table has a feature column"):
        read_views(tmp_path / "a.csv")


def test_equal_names_of_two_tables_are_refused(folder):
    (folder / "rna.tsv").write_text(DNA.replace(",", "\t"))
    with pytest.raises(DataFileError, match="would both be view 'rna'"):
        read_views(folder)


def test_identical_tables_are_noted(folder):
    (folder / "rna2.csv").write_text(RNA)
    assert "Views rna and rna2 are identical." in read_views(folder).notes


@pytest.mark.parametrize("option", ["views_key", "labels_key", "graphs_key"])
def test_options_of_other_formats_are_refused(folder, option):
    with pytest.raises(InputError, match=rf"{option} is for \.mat and \.npz files; got 'X'"):
        read_views(folder, **{option: "X"})
