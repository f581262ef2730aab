"""Views in `.npy` files: one a file, mapped and not loaded."""

import numpy as np
import pytest

from manyview.data.io.readers import read_views
from manyview.errors import DataFileError, InputError


@pytest.fixture
def folder(tmp_path, rng):
    np.save(tmp_path / "shape.npy", rng.normal(size=(12, 3)).astype(np.float16))
    np.save(tmp_path / "color.npy", rng.normal(size=(12, 5)).astype(np.float32))
    np.save(tmp_path / "labels.npy", np.arange(12) % 2)
    return tmp_path


def is_mapped(view):
    while isinstance(view, np.ndarray):
        if isinstance(view, np.memmap):
            return True
        view = view.base
    return False


def test_a_folder_is_read_with_its_labels_and_views_stay_on_the_disk(folder):
    data = read_views(folder)
    assert data.views.names == ("color", "shape")
    assert [view.dtype for view in data.views] == [np.float32, np.float16]
    assert all(is_mapped(view) for view in data.views)
    np.testing.assert_array_equal(data.views["shape"], np.load(folder / "shape.npy"))
    assert data.labels.tolist() == [0, 1] * 6


def test_a_list_and_a_single_file_are_read(folder):
    two = read_views([folder / "shape.npy", folder / "color.npy"], labels=folder / "labels.npy")
    assert two.views.names == ("shape", "color")
    one = read_views(folder / "shape.npy")
    assert one.views.shape == (12, 3)
    assert one.labels is None


def test_samples_may_be_columns(folder, rng):
    np.save(folder / "shape.npy", rng.normal(size=(3, 12)))
    np.save(folder / "color.npy", rng.normal(size=(5, 12)))
    assert read_views(folder).views.shape == (12, 8)
    told = read_views(folder / "shape.npy", samples_in="columns")
    assert told.views.shape == (12, 3)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (np.zeros(4), "must hold a 2-D array of numbers to be a view; got shape (4,) of float64."),
        (np.full((2, 2), "a"), "must hold a 2-D array of numbers"),
        (np.array([[{}]], dtype=object), "manyview never unpickles"),
    ],
)
def test_what_is_no_view_is_refused(tmp_path, content, message):
    np.save(tmp_path / "shape.npy", content)
    with pytest.raises(DataFileError) as error:
        read_views(tmp_path / "shape.npy")
    assert message in str(error.value)


def test_a_damaged_file_is_refused(folder):
    whole = (folder / "shape.npy").read_bytes()
    (folder / "shape.npy").write_bytes(whole[:-10])
    with pytest.raises(DataFileError, match=r"could not be read as an \.npy array"):
        read_views(folder / "shape.npy")


def test_mixed_lists_and_folders_are_refused(folder):
    (folder / "table.csv").write_text("id,a\n1,2\n")
    with pytest.raises(DataFileError, match=r"not both; got shape\.npy, table\.csv"):
        read_views([folder / "shape.npy", folder / "table.csv"])
    with pytest.raises(DataFileError, match="holds more than one data set"):
        read_views(folder)


def test_options_of_other_formats_are_refused(folder):
    with pytest.raises(InputError, match=r"views_key is for \.mat and \.npz files"):
        read_views(folder / "shape.npy", views_key="X")
    with pytest.raises(InputError, match="id_column is for tables"):
        read_views(folder / "shape.npy", id_column="id")
