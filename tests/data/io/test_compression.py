"""Compressed tables and archives: what is read, and how much of it."""

import bz2
import gzip
import io
import lzma
import sys
import zipfile
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from manyview.data.io.compression import data_stem
from manyview.data.io.readers import read_views
from manyview.errors import DataFileError
from manyview.system.config import config_context

TABLE = b"id,x,z\na,1,2\nb,3,4.5\n"
PACKED = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda content: pa.compress(content, "zstd", asbytes=True),
}


def write_zip(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize("suffix", PACKED)
@pytest.mark.parametrize("ending", [".csv", ".CSV"])
def test_compressed_table_is_the_table_and_named_after_it(tmp_path, suffix, ending):
    file = tmp_path / f"mean{ending}{suffix}"
    file.write_bytes(PACKED[suffix](TABLE))
    data = read_views(file)
    assert (data.name, data.views.names) == ("mean", ("mean",))
    np.testing.assert_array_equal(data.views["mean"], [[1, 2], [3, 4.5]])


def test_compression_is_found_by_its_first_bytes_too(tmp_path):
    (tmp_path / "mean.csv").write_bytes(gzip.compress(TABLE))
    np.testing.assert_array_equal(read_views(tmp_path / "mean.csv").views["mean"][1], [3, 4.5])
    (tmp_path / "bzh.csv").write_bytes(b"BZh,x\na,1\nb,2\n")  # the mark of bzip2, as a name
    assert read_views(tmp_path / "bzh.csv").sample_ids.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("suffix", "kind"),
    [(".gz", "gzip"), (".bz2", "bzip2"), (".xz", "xz"), (".zst", "Zstandard"), (".zip", "zip")],
)
def test_damaged_compression_is_refused(tmp_path, suffix, kind):
    file = tmp_path / f"mean.csv{suffix}"
    file.write_bytes(TABLE)
    with pytest.raises(DataFileError, match=rf"mean\.csv\{suffix} could not be read as an? {kind}"):
        read_views(file)


def test_truncated_compression_is_refused(tmp_path, rng):
    lines = "".join(f"s{row},{value}\n" for row, value in enumerate(rng.random(500)))
    content = gzip.compress(b"id,x\n" + lines.encode())
    (tmp_path / "a.csv.gz").write_bytes(content[: len(content) // 2])
    with pytest.raises(DataFileError, match=r"a\.csv\.gz could not be read as a gzip file"):
        read_views(tmp_path / "a.csv.gz")


def test_zst_needs_a_library_before_python_3_14(tmp_path, monkeypatch):
    (tmp_path / "a.csv.zst").write_bytes(PACKED[".zst"](TABLE))
    for module in ("compression", "compression.zstd", "pyarrow"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(
        DataFileError, match=r"a\.csv\.zst needs pyarrow.*pip install 'manyview\[tables\]'"
    ):
        read_views(tmp_path / "a.csv.zst")


def test_zst_is_read_by_the_standard_library_where_it_can(tmp_path, monkeypatch):
    opened = []

    def open_zstd(stream):
        opened.append(stream.read())
        return io.BytesIO(TABLE)

    (tmp_path / "a.csv.zst").write_bytes(PACKED[".zst"](TABLE))
    monkeypatch.setitem(sys.modules, "compression", SimpleNamespace())
    monkeypatch.setitem(sys.modules, "compression.zstd", SimpleNamespace(open=open_zstd))
    assert read_views(tmp_path / "a.csv.zst").views.shape == (2, 2)
    assert opened == [(tmp_path / "a.csv.zst").read_bytes()]


@pytest.mark.parametrize("suffix", [*PACKED, ".zip"])
def test_a_bomb_is_refused_before_it_fills_the_memory(tmp_path, suffix):
    content = b"id,x\n" + b"a,1\n" * 700_000
    file = tmp_path / f"bomb.csv{suffix}"
    if suffix == ".zip":
        write_zip(file, {"bomb.csv": content})
    else:
        file.write_bytes(PACKED[suffix](content))
    assert file.stat().st_size < 50_000
    with config_context(max_memory=0.01), pytest.raises(DataFileError) as caught:
        read_views(file)
    name = "bomb.csv.zip/bomb.csv" if suffix == ".zip" else file.name
    assert str(caught.value) == (
        f"{name} unpacks to more than 2.56 MB, a quarter of the memory that may be used. If it is "
        "not damaged or a trap, raise max_memory (manyview.config_context), or split the table."
    )


def test_zip_of_one_table_is_that_table(tmp_path):
    file = write_zip(tmp_path / "mean.csv.zip", {"mean.csv": TABLE})
    data = read_views(file)
    assert (data.name, data.views.names) == ("mean", ("mean",))


def test_zip_of_tables_is_a_folder_of_tables(tmp_path):
    file = write_zip(
        tmp_path / "study.zip",
        {
            "study/rna.csv": TABLE,
            "study/dna.tsv.gz": gzip.compress(b"id\tm\nb\t20\na\t10\n"),
            "study/labels.csv": "id,grade\nb,2\na,1\n",
            "study/": "",
            "__MACOSX/._rna.csv": "x",
            "study/.DS_Store": "x",
        },
    )
    data = read_views(file)
    assert (data.name, data.views.names) == ("study", ("dna", "rna"))
    assert data.sample_ids.tolist() == ["b", "a"]
    assert data.labels.tolist() == [2, 1]
    (tmp_path / "other.csv").write_text("id,grade\na,7\nb,8\n")
    data = read_views(file, labels=tmp_path / "other.csv")
    assert data.labels.tolist() == [8, 7]
    assert "study.zip/study/labels.csv is not used: other labels were passed." in data.notes


def test_zip_with_files_that_are_no_tables_is_refused(tmp_path):
    file = write_zip(tmp_path / "a.zip", {"rna.csv": TABLE, "readme.txt": "hello"})
    with pytest.raises(DataFileError) as caught:
        read_views(file)
    assert str(caught.value) == (
        "a.zip has 1 file(s) that cannot be read as tables (.csv, .tsv, .tab, .parquet, .pq, "
        ".feather, .arrow, .xlsx, .xlsm): a.zip/readme.txt. Leave a file out: pass "
        "ignore='a.zip/readme.txt'."
    )
    data = read_views(file, ignore="a.zip/readme.txt")
    assert data.views.names == ("rna",)
    assert "Ignored: a.zip/readme.txt." in data.notes
    with pytest.raises(DataFileError, match=r"no table left: all of its parts are ignored"):
        read_views(write_zip(tmp_path / "b.zip", {"b.csv": TABLE}), ignore="b.zip/b.csv")


@pytest.mark.parametrize(
    ("members", "held"), [({}, "nothing"), ({"a.npy": "x", "b.npy": "x"}, "m.zip/a.npy, m.zip/b")]
)
def test_zip_without_a_table_is_refused(tmp_path, members, held):
    with pytest.raises(DataFileError, match=rf"m\.zip has no table .* it has {held}.*Unpack it"):
        read_views(write_zip(tmp_path / "m.zip", members))


def test_equal_names_in_a_zip_are_refused(tmp_path):
    file = write_zip(tmp_path / "m.zip", {"a/rna.csv": TABLE, "b/rna.csv": TABLE})
    with pytest.raises(
        DataFileError, match=r"m\.zip/a/rna\.csv and m\.zip/b/rna\.csv would both be view 'rna'"
    ):
        read_views(file)


def test_encrypted_zip_is_refused(tmp_path):
    file = write_zip(tmp_path / "m.zip", {"rna.csv": TABLE})
    content = bytearray(file.read_bytes())
    for mark, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(mark) + flags] |= 1  # marks the member as encrypted
    file.write_bytes(content)
    with pytest.raises(DataFileError, match=r"m\.zip/rna\.csv is encrypted\. Unpack m\.zip"):
        read_views(file)


def test_damaged_member_of_a_zip_is_refused(tmp_path):
    file = write_zip(tmp_path / "m.zip", {"rna.csv": TABLE})
    content = bytearray(file.read_bytes())
    content[40] ^= 0xFF
    file.write_bytes(content)
    with pytest.raises(DataFileError, match=r"m\.zip/rna\.csv could not be read as a member of a"):
        read_views(file)


def test_a_member_without_a_name_is_refused(tmp_path):
    file = tmp_path / "tables.zip"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.csv", "x,y\n1,2\n")
    file.write_bytes(file.read_bytes().replace(b"a.csv", b"\0.csv"))  # which zipfile cuts off
    with pytest.raises(DataFileError, match=r"tables\.zip has no table"):
        read_views(file)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (b"mean.csv.gz", "mean"),
        ("gr\u00f6\u00dfe.csv".encode(), "gr\u00f6\u00dfe"),
        (b"\xff.csv", r"\xff"),
    ],
)
def test_stem_is_text_that_can_be_stored_in_every_locale(name, expected):
    undecoded = name.decode("ascii", "surrogateescape")  # as an ASCII locale gives it
    assert data_stem(undecoded) == expected
