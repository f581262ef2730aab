"""Readers: separate label files, options, and the real files."""

import os
from pathlib import Path

import numpy as np
import pytest
import scipy.io

from manyview.data.io.readers import read_views
from manyview.errors import DataFileError, InputError

RNG = np.random.default_rng(0)


@pytest.fixture
def data_folder():
    return Path(os.environ["MANYVIEW_DATA"])


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
