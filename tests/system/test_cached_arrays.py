"""Arrays cached on disk come back bit for bit, or not at all."""

import warnings

import numpy as np
import pytest

from manyview.system.cached_arrays import read_arrays, write_arrays


@pytest.fixture
def stored(rng, tmp_path):
    arrays = {"a": rng.normal(size=(3, 4)), "b": np.arange(5, dtype=np.int32), "c": np.zeros(0)}
    write_arrays(tmp_path / "new" / "file.npz", arrays, "numbers")
    return tmp_path / "new" / "file.npz", arrays


def test_arrays_come_back_bit_for_bit(stored):
    file, arrays = stored
    found = read_arrays(file, "numbers")
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)


def test_no_file_is_no_warning(tmp_path):
    assert read_arrays(tmp_path / "none.npz", "numbers") is None


def test_damaged_byte_is_never_read_as_another_number(stored, rng):
    file, arrays = stored
    healthy = file.read_bytes()
    for position in rng.integers(len(healthy), size=60):
        damaged = bytearray(healthy)
        damaged[position] ^= int(rng.integers(1, 256))
        file.write_bytes(damaged)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            found = read_arrays(file, "numbers")
        if found is None:
            assert "the cached numbers in" in str(told[0].message)
            continue
        for name, array in arrays.items():
            np.testing.assert_array_equal(found[name], array)


def test_folder_that_cannot_be_made_gives_a_warning(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.warns(UserWarning, match="numbers are not cached"):
        write_arrays(tmp_path / "file" / "cache.npz", {"a": np.zeros(1)}, "numbers")
