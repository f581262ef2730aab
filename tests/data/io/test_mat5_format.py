"""MATLAB 5 files whose parts do not hold what they say."""

import struct
import zlib

import numpy as np
import pytest
import scipy.io
from scipy import sparse

from manyview.data.io.mat5_format import read_mat5
from manyview.data.io.readers import read_views
from manyview.errors import DataFileError, InputError
from manyview.system.config import config_context

X, Y = np.random.default_rng(0).random((8, 3)), np.arange(8)[:, None] % 2
HEADER = b"MATLAB 5.0 MAT-file".ljust(116) + b"\0" * 8 + b"\0\1IM"


def cell_header(count):
    return (
        struct.pack("<IIII", 6, 8, 1, 0)
        + struct.pack("<IIii", 5, 8, count, 1)
        + struct.pack("<IIBxxxxxxx", 1, 1, ord("X"))
    )


@pytest.mark.parametrize("compressed", [False, True])
def test_every_kind_of_variable_is_read_as_scipy_does(tmp_path, compressed):
    cell = np.empty((1, 2), dtype=object)
    cell[0, 0], cell[0, 1] = X, sparse.random(8, 4, 0.5, format="csc", rng=0)
    values = {"X": cell, "s": {"a": 1, "b": ["x", 2.5]}, "t": "words", "z": X + 2j, "Y": Y}
    file = tmp_path / "a.mat"
    scipy.io.savemat(file, values, do_compression=compressed)
    mine, theirs = read_mat5(file), scipy.io.loadmat(file)
    assert mine.keys() == theirs.keys()
    assert str(mine) == str(theirs)


def test_a_cell_that_states_more_parts_than_there_are_is_refused(tmp_path):
    body = cell_header(2**30)
    (tmp_path / "a.mat").write_bytes(HEADER + struct.pack("<II", 14, len(body)) + body)
    with pytest.raises(DataFileError, match=r"states 1,073,741,824 parts, more than there are"):
        read_views(tmp_path / "a.mat")


@pytest.mark.parametrize("compressed", [False, True])
def test_cells_nested_deeper_than_the_stack_are_refused(tmp_path, compressed):
    head, depth = cell_header(1), 50_000
    size = len(head) + 8
    body = b"".join(
        struct.pack("<II", 14, size * (depth - number) - 8) + head for number in range(depth)
    )
    if compressed:
        body = zlib.compress(body)
        body = struct.pack("<II", 15, len(body)) + body
    (tmp_path / "a.mat").write_bytes(HEADER + body)
    with pytest.raises(DataFileError, match="nested more than 100 deep"):
        read_views(tmp_path / "a.mat")


def test_a_variable_that_unpacks_beyond_the_limit_is_refused(tmp_path):
    file = tmp_path / "bomb.mat"
    scipy.io.savemat(file, {"X": np.zeros((2**20, 8))}, do_compression=True)
    with (
        config_context(max_memory=0.05),
        pytest.raises(InputError, match=r"bomb\.mat, unpacked, needs about 0\.1 GB"),
    ):
        read_views(file)


def test_a_variable_is_not_unpacked_beyond_the_size_it_states(tmp_path):
    body = zlib.compress(struct.pack("<II", 14, 8) + b"\0" * 10**6)
    (tmp_path / "a.mat").write_bytes(HEADER + struct.pack("<II", 15, len(body)) + body)
    with pytest.raises(DataFileError, match=r"a\.mat could not be read"):
        read_views(tmp_path / "a.mat")


def test_two_variables_of_one_name_are_refused(tmp_path):
    scipy.io.savemat(tmp_path / "a.mat", {"X": X})
    content = (tmp_path / "a.mat").read_bytes()
    (tmp_path / "a.mat").write_bytes(content + content[128:])
    with pytest.raises(DataFileError, match="more than one variable named 'X'"):
        read_views(tmp_path / "a.mat")


@pytest.mark.parametrize(("part", "place"), [("indices", 3), ("indptr", 2)])
def test_a_wrong_index_of_a_sparse_matrix_is_refused(tmp_path, part, place):
    words = sparse.random(40, 6, 0.5, format="csc", rng=0)
    getattr(words, part)[place] = 10**6
    cell = np.empty((1, 2), dtype=object)
    cell[0, 0], cell[0, 1] = np.ones((40, 3)), words
    scipy.io.savemat(tmp_path / "a.mat", {"X": cell, "Y": np.arange(40)[:, None] % 2})
    with pytest.raises(DataFileError, match=r"'X' in a\.mat is not a valid sparse matrix"):
        read_views(tmp_path / "a.mat")


@pytest.mark.parametrize("text", ["some words", "word"])  # the latter stands in the tag itself
def test_values_of_a_type_that_there_is_not_are_refused_and_crash_nothing(tmp_path, text):
    file = tmp_path / "a.mat"
    scipy.io.savemat(file, {"text": text, "X": X})
    content = bytearray(file.read_bytes())
    place = content.index(text.encode()) - (8 if len(text) > 4 else 4)
    content[place : place + 2] = b"\xff\xff"
    file.write_bytes(content)
    with pytest.raises(DataFileError, match="values have the type 65535"):
        read_views(file)


@pytest.mark.parametrize("sizes", [b"\1\0", struct.pack("<i", 4), b""])
def test_a_text_of_fewer_than_two_sizes_is_refused_and_crashes_nothing(tmp_path, sizes):
    body = (
        struct.pack("<IIII", 6, 8, 4, 0)
        + struct.pack("<II", 5, len(sizes))
        + sizes.ljust(-(-len(sizes) // 8) * 8, b"\0")
        + struct.pack("<IIBxxxxxxx", 1, 1, ord("X"))
        + struct.pack("<II", 16, 4)
        + b"text\0\0\0\0"
    )
    (tmp_path / "a.mat").write_bytes(HEADER + struct.pack("<II", 14, len(body)) + body)
    with pytest.raises(DataFileError, match="an array has the shape"):
        read_views(tmp_path / "a.mat")
