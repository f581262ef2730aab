"""Paths, lists and folders: the files that are read, and what is refused."""

import gzip
import hashlib
import os
from pathlib import Path

import pytest

from manyview.data.io.readers import read_views
from manyview.errors import DataFileError, InputError


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
    for name in ("a.docx", "a.mat.gz", "a.gz"):
        (tmp_path / name).write_bytes(b"")
        kinds = r"must end in one of .*\.mat.*\.csv.*\.xlsx.*; tables also with \.gz.*; got "
        with pytest.raises(DataFileError, match=kinds + name):
            read_views(tmp_path / name)


def test_empty_folder_is_refused(tmp_path):
    with pytest.raises(DataFileError, match=r"has no data file .* it has nothing"):
        read_views(tmp_path)
    (tmp_path / "README.md").write_text("hello")
    with pytest.raises(DataFileError, match=r"it has README\.md"):
        read_views(tmp_path)


def test_folder_with_one_file_is_that_file_and_its_labels(archive):
    (archive.parent / "labels.txt").write_text("a\nb\na\nb\n")
    (archive.parent / "README.md").write_text("hello")
    data = read_views(archive.parent, ignore="README.md")
    assert data.labels.tolist() == ["a", "b", "a", "b"]
    assert "Ignored: README.md." in data.notes
    assert "Labels in labels.txt are joined to the views by row order." in data.notes


def test_a_file_that_cannot_be_read_is_refused_by_name(archive):
    (archive.parent / "mean.xls").write_bytes(b"PK")
    message = (
        r"has 1 file\(s\) that cannot be read: mean\.xls\. .*\.parquet.*\.xlsx.* "
        r"pass ignore='mean\.xls'"
    )
    with pytest.raises(DataFileError, match=message):
        read_views(archive.parent)
    assert read_views(archive.parent, ignore=["mean.xls"]).views.n_views == 1
    with pytest.raises(DataFileError, match=r"no file 'men\.xls' to ignore\. Did you mean 'mean"):
        read_views(archive.parent, ignore=["men.xls"])


def test_a_folder_of_images_needs_features(tmp_path):
    (tmp_path / "cat.png").write_bytes(b"")
    with pytest.raises(DataFileError, match=r"it has cat\.png\. Compute features of the images"):
        read_views(tmp_path)


def test_folder_with_two_data_sets_is_refused(archive):
    (archive.parent / "a.csv").write_text("x\n1\n")
    with pytest.raises(DataFileError, match=r"more than one data set: shapes\.npz, a\.csv"):
        read_views(archive.parent)


def test_folder_with_two_files_of_labels_is_refused_without_a_choice(archive):
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


def test_compressed_files_are_found_in_a_folder_by_their_inner_ending(tmp_path):
    (tmp_path / "mean.csv.gz").write_bytes(gzip.compress(b"id,x\na,1\nb,2\n"))
    (tmp_path / "labels.csv.gz").write_bytes(gzip.compress(b"id,label\na,1\nb,2\n"))
    data = read_views(tmp_path)
    assert data.views.names == ("mean",)
    assert data.labels.tolist() == [1, 2]
    assert read_views(tmp_path / "mean.csv.gz").name == "mean"


def test_ignore_must_name_a_file_that_is_there(archive):
    with pytest.raises(DataFileError, match=r"shapes\.npz has no file 'a\.csv' to ignore"):
        read_views(archive, ignore="a.csv")


def test_labels_must_be_a_file_that_exists(archive):
    with pytest.raises(DataFileError, match="There is no file or folder"):
        read_views(archive, labels=archive.with_name("y.csv"))
    with pytest.raises(DataFileError, match="labels must be a file; got the folder"):
        read_views(archive, labels=archive.parent)


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


@pytest.mark.parametrize("name", ["a.csv", "a.npz", "a.h5ad", "a.mat", "a.npy"])
def test_a_pipe_is_refused_alone_in_a_list_in_a_folder_and_as_labels(archive, name):
    folder = archive.parent / "pipes"
    folder.mkdir()
    os.mkfifo(folder / name)
    for data in (folder / name, [folder / name, archive], folder):
        with pytest.raises(DataFileError, match="must be a file; got a pipe"):
            read_views(data)
    with pytest.raises(DataFileError, match="must be a file; got a pipe"):
        read_views(archive, labels=folder / name)


def test_a_device_behind_a_link_is_refused(tmp_path):
    (tmp_path / "a.npy").symlink_to("/dev/zero")
    with pytest.raises(DataFileError, match="must be a file; got a device"):
        read_views(tmp_path / "a.npy")


def test_a_folder_that_cannot_be_listed_is_refused(tmp_path, monkeypatch):
    def refuse(folder):
        raise PermissionError(13, "Permission denied", str(folder))

    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(DataFileError, match=r"cannot be read: Permission denied\."):
        read_views(tmp_path)
