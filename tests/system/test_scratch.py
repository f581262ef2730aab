"""Arrays in the scratch folder: the same values, on disk, and nothing left over."""

import errno
import pickle

import numpy as np
import pytest
from scipy import sparse

from manyview.errors import DataFileError, InputError
from manyview.system import scratch
from manyview.system.config import config_context
from manyview.system.scratch import on_disk


@pytest.fixture(autouse=True)
def small_arrays_too(monkeypatch):
    monkeypatch.setattr(scratch, "MIN_BYTES", 1)


def is_mapped(array):
    while array is not None and not isinstance(array, np.memmap):
        array = getattr(array, "base", None)
    return array is not None


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "bool"])
def test_an_array_keeps_its_values(rng, tmp_path, dtype):
    array = (10 * rng.normal(size=(50, 3))).astype(dtype)
    with config_context(scratch_dir=tmp_path):
        moved = on_disk(array)
    assert is_mapped(moved)
    assert moved.dtype == array.dtype
    np.testing.assert_array_equal(moved, array)


def test_columns_in_another_order_keep_their_values(rng, tmp_path):
    array = np.asfortranarray(rng.normal(size=(20, 4)))[:, ::2]
    with config_context(scratch_dir=tmp_path):
        np.testing.assert_array_equal(on_disk(array), array)


def test_a_sparse_matrix_keeps_its_entries_and_their_order(rng, tmp_path):
    matrix = sparse.csr_array(sparse.random_array((30, 30), density=0.2, rng=rng))
    matrix.sort_indices()
    with config_context(scratch_dir=tmp_path):
        moved = on_disk(matrix)
    assert is_mapped(moved.data)
    assert is_mapped(moved.indices)
    assert moved.has_sorted_indices
    assert (moved != matrix).nnz == 0


def test_without_a_folder_and_below_the_smallest_size_nothing_moves(rng, tmp_path, monkeypatch):
    array = rng.normal(size=10)
    assert on_disk(array) is array
    monkeypatch.setattr(scratch, "MIN_BYTES", 81)
    with config_context(scratch_dir=tmp_path):
        assert on_disk(array) is array


def test_the_folder_is_made_and_holds_no_file(rng, tmp_path):
    folder = tmp_path / "new" / "scratch"
    with config_context(scratch_dir=folder):
        moved = on_disk(rng.normal(size=100))
    assert list(folder.iterdir()) == []
    assert moved.sum() == moved.sum()  # still readable


def test_changes_stay_in_this_array(tmp_path):
    with config_context(scratch_dir=tmp_path):
        one, other = on_disk(np.zeros(8)), on_disk(np.zeros(8))
    one += 1
    assert one.sum() == 8
    assert other.sum() == 0


def test_an_array_on_disk_can_be_pickled(rng, tmp_path):
    with config_context(scratch_dir=tmp_path):
        moved = on_disk(rng.normal(size=10))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(moved)), moved)


def test_a_full_disk_is_reported_with_a_way_out(monkeypatch, tmp_path):
    def full(**_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(scratch, "TemporaryFile", full)
    with (
        config_context(scratch_dir=tmp_path),
        pytest.raises(DataFileError, match=r"room for 80 more bytes.*No space left.*Choose"),
    ):
        on_disk(np.zeros(10))


def test_scratch_must_be_a_folder(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("")
    message = r"scratch_dir must be a folder; .* is a file"
    with pytest.raises(InputError, match=message), config_context(scratch_dir=file):
        pass
