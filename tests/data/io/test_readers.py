import hashlib
import os
from pathlib import Path

import numpy as np
import pytest
import scipy.io

from manyview.data.io.readers import read_views
from manyview.errors import DataFileError, InputError

RNG = np.random.default_rng(0)


@pytest.fixture
def archive(tmp_path):
    np.savez(tmp_path / "shapes.npz", view1=RNG.random((4, 3)), y=[1, 2, 1, 2])
    return tmp_path / "shapes.npz"


@pytest.fixture
def data_folder():
    return Path(os.environ["MANYVIEW_DATA"])


def test_missing_file_is_refused_with_a_near_name(archive):
    with pytest.raises(DataFileError) as caught:
        read_views(archive.with_name("shape.npz"))
    missing = archive.with_name("shape.npz")
    assert str(caught.value) == (
        f"There is no file or folder {missing}. Did you mean 'shapes.npz'?"
    )
    with pytest.raises(DataFileError, match="There is no file or folder"):
        read_views("/no/such/folder/at/all.mat")


def test_unknown_ending_is_refused(tmp_path):
    (tmp_path / "a.xlsx").write_bytes(b"")
    with pytest.raises(DataFileError, match=r"must end in one of .*\.mat.*; got a\.xlsx"):
        read_views(tmp_path / "a.xlsx")


def test_empty_folder_is_refused(tmp_path):
    with pytest.raises(DataFileError, match=r"has no data file .* it has nothing"):
        read_views(tmp_path)
    (tmp_path / "README.md").write_text("hello")
    with pytest.raises(DataFileError, match=r"it has README\.md"):
        read_views(tmp_path)


def test_folder_with_one_file_is_that_file_and_its_labels(archive):
    (archive.parent / "labels.txt").write_text("a\nb\na\nb\n")
    (archive.parent / "README.md").write_text("hello")
    data = read_views(archive.parent)
    assert data.labels.tolist() == ["a", "b", "a", "b"]
    assert "Not read: README.md." in data.notes
    assert "Labels in labels.txt are joined to the views by row order." in data.notes


def test_folder_with_two_data_sets_is_refused(archive):
    (archive.parent / "a.csv").write_text("x\n1\n")
    with pytest.raises(DataFileError, match=r"more than one data set: shapes\.npz, a\.csv"):
        read_views(archive.parent)


def test_folder_with_two_files_of_labels_is_refused_until_told(archive):
    (archive.parent / "labels.txt").write_text("a\nb\na\nb\n")
    (archive.parent / "y.csv").write_text("1\n2\n2\n2\n")
    with pytest.raises(DataFileError, match=r"has 2 files of labels: labels\.txt and y\.csv"):
        read_views(archive.parent)
    data = read_views(archive.parent, labels=archive.parent / "y.csv")
    assert data.labels.tolist() == [1, 2, 2, 2]


def test_list_of_paths_is_checked(archive):
    table = archive.with_name("a.csv")
    table.write_text("x\n1\n")
    with pytest.raises(InputError, match="path must name at least one file"):
        read_views([])
    with pytest.raises(DataFileError, match=r"must name tables, one per view; got shapes\.npz"):
        read_views([table, archive])
    with pytest.raises(DataFileError, match="must name files; got the folder"):
        read_views([table, archive.parent])
    assert read_views([archive]).name == "shapes"


def test_labels_must_be_a_file_that_exists(archive):
    with pytest.raises(DataFileError, match="There is no file or folder"):
        read_views(archive, labels=archive.with_name("y.csv"))
    with pytest.raises(DataFileError, match="labels must be a file; got the folder"):
        read_views(archive, labels=archive.parent)


def test_label_file_follows_ids_of_an_archive(tmp_path):
    np.savez(tmp_path / "a.npz", view1=RNG.random((3, 2)), ids=np.array(["p", "q", "r"]))
    (tmp_path / "truth.csv").write_text("id,label\nr,1\np,2\n")
    data = read_views(tmp_path / "a.npz", labels=tmp_path / "truth.csv")
    assert data.labels.tolist() == [2, -1, 1]


def test_label_file_of_another_length_is_refused(archive):
    (archive.parent / "truth.txt").write_text("1\n2\n")
    with pytest.raises(DataFileError, match=r"truth\.txt has 2 labels"):
        read_views(archive, labels=archive.parent / "truth.txt")


def test_samples_in_is_rows_or_columns(archive):
    with pytest.raises(InputError, match=r"samples_in must be one of .*Did you mean 'rows'"):
        read_views(archive, samples_in="row")


@pytest.mark.parametrize("option", ["id_column", "label_column"])
def test_options_of_tables_are_refused_elsewhere(archive, option):
    with pytest.raises(InputError, match=rf"{option} is for tables; got 'a' with shapes\.npz"):
        read_views(archive, **{option: "a"})


def test_file_that_may_not_be_opened_is_refused(archive, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(DataFileError, match=r"shapes\.npz cannot be opened: Permission denied"):
        read_views(archive)


def test_checksum_is_that_of_the_files_by_name(tmp_path):
    (tmp_path / "b.csv").write_text("id,x\na,1\n")
    (tmp_path / "a.csv").write_text("id,z\na,2\n")
    expected = hashlib.sha256(b"id,z\na,2\nid,x\na,1\n").hexdigest()
    assert read_views(tmp_path).sha256 == expected
    assert read_views([tmp_path / "b.csv", tmp_path / "a.csv"]).sha256 == expected


@pytest.mark.data
@pytest.mark.parametrize("name", ["BBCnews.mat", "BBCsports.mat"])
def test_real_file_with_two_equal_readings_is_read(data_folder, name):
    data = read_views(data_folder / "paper" / name)
    assert "data holds the same views as X and is not used." in data.notes


@pytest.mark.data
def test_real_copy_of_a_view_is_noted(data_folder):
    data = read_views(data_folder / "paper" / "MNIST.mat")
    assert "Views view2 and view3 are identical." in data.notes


@pytest.mark.data
def test_real_file_cut_short_is_refused(data_folder, tmp_path):
    content = (data_folder / "paper" / "BBCsports.mat").read_bytes()
    (tmp_path / "cut.mat").write_bytes(content[: len(content) // 2])
    with pytest.raises(DataFileError, match=r"cut\.mat could not be read as a \.mat file"):
        read_views(tmp_path / "cut.mat")


@pytest.mark.data
def test_real_views_in_columns_equal_those_in_rows(data_folder):
    file = data_folder / "paper" / "BBCnews.mat"
    rows = read_views(file, views_key="X")
    columns = read_views(file, views_key="data", labels_key="truelabel")
    for one, other in zip(rows.views, columns.views, strict=True):
        np.testing.assert_array_equal(one, other.toarray())
    assert scipy.io.loadmat(file)["data"][0, 0].shape[1] == len(columns.views)
