"""NumPy's format: headers, archives and sizes that do not hold what they say."""

import struct
import warnings
import zipfile

import numpy as np
import pytest
from scipy import sparse

from manyview.data.io.readers import read_views
from manyview.errors import DataFileError, InputError
from manyview.system.config import config_context

VIEW, LABELS = np.random.default_rng(0).random((8, 3)), np.arange(8) % 2


@pytest.mark.parametrize(("change", "found"), [(b"\0" * 5, 197), (None, 191)])
def test_an_array_longer_or_shorter_than_its_header_is_refused(tmp_path, change, found):
    file = tmp_path / "a.npy"
    np.save(file, VIEW)
    content = file.read_bytes()
    file.write_bytes(content[:-1] if change is None else content + change)
    with pytest.raises(DataFileError, match=rf"must have 192 bytes for shape .*; it has {found}"):
        read_views(file)


@pytest.mark.parametrize("shape", ["(0, 1000000000000)", "(4611686018427387904, 4)", "(-2, -12)"])
def test_sizes_that_the_header_makes_up_are_refused(tmp_path, shape):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    content = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
    (tmp_path / "a.npy").write_bytes(content + VIEW.tobytes())
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("view1.npy", content + VIEW.tobytes())
    for name in ("a.npy", "a.npz"):
        with pytest.raises(DataFileError, match=f"{name} could not be read"):
            read_views(tmp_path / name)


def test_an_archive_that_unpacks_beyond_the_limit_is_refused_before_it_is_unpacked(tmp_path):
    file = tmp_path / "bomb.npz"
    np.savez_compressed(file, view1=np.zeros((2**20, 8)))
    assert file.stat().st_size < 2**20
    with (
        config_context(max_memory=0.05),
        pytest.raises(InputError, match=r"bomb\.npz \(0\.000 GB, 0\.063 GB unpacked\) needs about"),
    ):
        read_views(file)


def test_an_archive_is_not_unpacked_beyond_the_size_it_states(tmp_path):
    file = tmp_path / "a.npz"
    np.savez_compressed(file, view1=VIEW)
    content = bytearray(file.read_bytes())
    place = content.rfind(b"PK\x01\x02")
    content[place + 24 : place + 28] = struct.pack("<I", 200)  # the size in the directory
    file.write_bytes(content)
    with pytest.raises(DataFileError, match=r"a\.npz could not be read"):
        read_views(file)


def test_two_arrays_of_one_name_are_refused(tmp_path):
    file = tmp_path / "a.npz"
    np.savez(file, view1=VIEW)
    with zipfile.ZipFile(file, "a") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        archive.writestr("view1.npy", archive.read("view1.npy"))
    with pytest.raises(DataFileError, match=r"holds more than one array named 'view1'"):
        read_views(file)


def test_a_compression_that_numpy_does_not_write_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("view1.npy", b"")
    with pytest.raises(DataFileError, match="compressed in a way that NumPy does not write"):
        read_views(tmp_path / "a.npz")


def test_thousands_of_views_are_refused(tmp_path):
    np.savez(tmp_path / "a.npz", **{f"v{number}": np.ones((2, 1)) for number in range(1001)})
    with pytest.raises(InputError, match=r"data must have at most 1,000 views.*; got 1,001"):
        read_views(tmp_path / "a.npz")


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia"])
def test_sparse_archives_of_every_format_are_read(tmp_path, kind):
    matrix = sparse.random(20, 6, 0.5, format=kind, rng=0)
    sparse.save_npz(tmp_path / "a.npz", matrix)
    np.testing.assert_array_equal(
        read_views(tmp_path / "a.npz").views["a"].toarray(), matrix.toarray()
    )


@pytest.mark.parametrize(("kind", "part"), [("csr", "indices"), ("csc", "indptr"), ("coo", "row")])
def test_a_sparse_archive_with_a_wrong_index_is_refused(tmp_path, kind, part):
    matrix = sparse.random(40, 6, 0.5, format=kind, rng=0)
    getattr(matrix, part)[3] = 10**6
    sparse.save_npz(tmp_path / "seg.npz", matrix)
    with pytest.raises(DataFileError, match=r"seg.* (must be from 0|must ascend|exceeds)"):
        read_views(tmp_path / "seg.npz")


def test_ids_and_names_with_nul_characters_are_refused(tmp_path):
    np.savez(tmp_path / "a.npz", view1=VIEW, ids=[f"s\0{number}" for number in range(8)])
    with pytest.raises(DataFileError, match=r"sample ids must not hold NUL .*'s\\x000' and 7 more"):
        read_views(tmp_path / "a.npz")
