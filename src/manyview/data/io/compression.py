"""Files of tables, plain, compressed or in a zip archive; what they unpack to is limited."""

import bz2
import gzip
import importlib
import io
import lzma
import os
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any

from manyview.data.io.reading import import_extra, unreadable
from manyview.errors import DataFileError
from manyview.system.config import get_config
from manyview.system.memory import GB, free_memory

ZIP_SUFFIX = ".zip"
MEMORY_FRACTION = 0.25  # of the usable memory for unpacked bytes: cells take several times as much
CHUNK_BYTES = 2**20


@dataclass(frozen=True)
class TableFile:
    """A file on disk, or a member of a zip archive on disk."""

    path: Path
    member: str = ""

    @property
    def name(self) -> str:
        """Name in messages: that of the file; for a member, after that of its archive."""
        return f"{self.path.name}/{self.member}" if self.member else self.path.name

    @property
    def suffix(self) -> str:
        """Ending that decides the format, without that of the compression: `.csv`."""
        return data_suffix(self.member or self.path)

    @property
    def stem(self) -> str:
        """Name without endings: `mean` for `mean.csv.gz`."""
        return data_stem(self.member or self.path)

    def read(self) -> bytes:
        """Return the unpacked content; refuse what unpacks to more than memory can hold."""
        if self.member:
            content = _read_member(self)
        else:
            with _opened(self) as stream:
                content = stream.read()
        pack = _pack_of(PurePosixPath(self.member or self.path.name), content)
        return content if pack is None else _unpack(self, content, pack)


def data_suffix(path: str | Path) -> str:
    """Return the ending of a file in lower case, without that of its compression.

    Examples
    --------
    >>> data_suffix("mean.CSV.gz"), data_suffix("all.zip"), data_suffix("a.mat")
    ('.csv', '.zip', '.mat')
    """
    name = PurePosixPath(path)
    last = name.suffix.casefold()
    return PurePosixPath(name.stem).suffix.casefold() if last in PACKS else last


def data_stem(path: str | Path) -> str:
    """Return the name of a file without its ending and that of its compression.

    Examples
    --------
    >>> data_stem("views/mean.csv.gz"), data_stem("mean.csv"), data_stem("mean.csv.zip")
    ('mean', 'mean', 'mean')
    """
    name = PurePosixPath(path)
    packed = name.suffix.casefold() in (*PACKS, ZIP_SUFFIX)
    return as_utf8(PurePosixPath(name.stem).stem if packed else name.stem)


def as_utf8(name: str) -> str:
    r"""Return the name of a file as text that can be stored, the same in every locale.

    Bytes that the locale could not decode are read as UTF-8, or written as `\xff`.
    """
    return os.fsencode(name).decode("utf-8", "backslashreplace") if _is_undecoded(name) else name


def _is_undecoded(name: str) -> bool:
    return any("\udc80" <= character <= "\udcff" for character in name)


def zip_members(path: Path) -> list[TableFile]:
    """Return the files in a zip archive by name, without folders and hidden files."""
    with _opened_zip(path) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
    return [
        TableFile(path, name)
        for name in sorted(names)
        if not any(part.startswith((".", "__MACOSX")) for part in PurePosixPath(name).parts)
    ]


def check_archive_size(file: TableFile | Path, stream: Path | IO[bytes]) -> None:
    """Refuse an archive, such as a workbook, whose members unpack to more than memory can hold."""
    with zipfile.ZipFile(stream) as archive:
        n_bytes = sum(info.file_size for info in archive.infolist())
    check_unpacked_size(file, n_bytes)


def check_unpacked_size(file: TableFile | Path, n_bytes: int) -> None:
    """Refuse content that takes more than memory can hold once it is unpacked."""
    if n_bytes > _max_bytes():
        raise _too_large(file.name)


def _max_bytes() -> float:
    limit = get_config().max_memory
    usable = free_memory() if isinstance(limit, str) else limit
    return usable * GB * MEMORY_FRACTION


def _too_large(name: str) -> DataFileError:
    limit = _max_bytes() / GB
    shown = f"{limit:.1f} GB" if limit >= 0.1 else f"{limit * 1024:.3g} MB"
    return DataFileError(
        f"{name} unpacks to more than {shown}, a quarter of the memory that may be used. If it is "
        "not damaged or a trap, raise max_memory (manyview.config_context), or split the table."
    )


def _opened(file: TableFile) -> IO[bytes]:
    try:
        return file.path.open("rb")
    except OSError as error:
        raise DataFileError(f"{file.path} cannot be opened: {error.strerror}.") from error


def _opened_zip(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except (OSError, zipfile.BadZipFile) as error:
        raise unreadable(path, "a zip archive", error) from error


def _read_member(file: TableFile) -> bytes:
    with _opened_zip(file.path) as archive:
        info = archive.getinfo(file.member)
        if info.flag_bits & 1:
            raise DataFileError(
                f"{file.name} is encrypted. Unpack {file.path.name} with its password, and pass "
                "the folder."
            )
        if info.file_size > _max_bytes():
            raise _too_large(file.name)
        try:
            return archive.read(info)  # at most file_size bytes
        except Exception as error:  # zipfile and its decompressors raise many kinds
            raise unreadable(file, "a member of a zip archive", error) from error


@dataclass(frozen=True)
class _Pack:
    """One kind of compression: its first bytes, and how to open a stream of it."""

    kind: str
    magic: bytes
    open: Callable[[IO[bytes], str], Any]


def _open_xz(stream: IO[bytes], _: str) -> Any:
    return lzma.LZMAFile(stream)


def _open_zstd(stream: IO[bytes], name: str) -> Any:
    """Open a Zstandard stream with Python 3.14's library, or else with pyarrow's."""
    try:
        return importlib.import_module("compression.zstd").open(stream)
    except ImportError:
        pyarrow = import_extra("pyarrow", name, "tables")
        return pyarrow.CompressedInputStream(pyarrow.PythonFile(stream, mode="r"), "zstd")


PACKS = {
    ".gz": _Pack("a gzip file", b"\x1f\x8b", lambda stream, _: gzip.GzipFile(fileobj=stream)),
    ".bz2": _Pack("a bzip2 file", b"BZh", lambda stream, _: bz2.BZ2File(stream)),
    ".xz": _Pack("an xz file", b"\xfd7zXZ\x00", _open_xz),
    ".zst": _Pack("a Zstandard file", b"\x28\xb5\x2f\xfd", _open_zstd),
}


def _pack_of(name: PurePosixPath, content: bytes) -> _Pack | None:
    """Return the compression by the ending, or else by the first bytes."""
    by_ending = PACKS.get(name.suffix.casefold())
    # A text may start with the letters that mark bzip2.
    binary = (pack for pack in PACKS.values() if not pack.magic.isascii())
    by_bytes = (pack for pack in binary if content.startswith(pack.magic))
    return by_ending or next(by_bytes, None)


def _unpack(file: TableFile, content: bytes, pack: _Pack) -> bytes:
    max_bytes = _max_bytes()
    chunks: list[bytes] = []
    n_bytes = 0
    try:
        with pack.open(io.BytesIO(content), file.name) as stream:
            while chunk := stream.read(CHUNK_BYTES):
                n_bytes += len(chunk)
                if n_bytes > max_bytes:
                    raise _too_large(file.name)
                chunks.append(chunk)
    except DataFileError:
        raise
    except Exception as error:  # each library raises its own kinds on damaged files
        raise unreadable(file, pack.kind, error) from error
    return b"".join(chunks)
