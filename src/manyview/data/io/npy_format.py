"""Read arrays in NumPy's own format, after a check of their headers.

An array is read only where its header describes exactly the bytes that follow it. Nothing is
unpickled.
"""

import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np
from numpy.lib import format as npy

from manyview.errors import DataFileError
from manyview.system.memory import GB, check_memory

MAGIC = npy.magic(1, 0)[:6]
# What NumPy writes. The header of an LZMA stream can ask for gigabytes.
COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def map_npy(path: Path) -> np.ndarray:
    """Memory-map the array of an `.npy` file."""
    with path.open("rb") as file:
        if not read_header(file, path.name, path.stat().st_size):
            raise ValueError("it does not begin as an array")
    return np.asarray(npy.open_memmap(path, mode="r"))


def read_header(file: IO[bytes], name: str, n_bytes: int) -> bool:
    """Read a header, and refuse one that does not describe a stream of `n_bytes`.

    Returns whether this is an array at all. `name` names it in errors.
    """
    if file.read(len(MAGIC)) != MAGIC:
        return False
    version = tuple(file.read(2))
    if version not in ((1, 0), (2, 0), (3, 0)):
        raise ValueError(f"version {version} of NumPy's format")
    # Versions 2 and 3 differ in the encoding of field names only.
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, _, dtype = read(file)
    if dtype.hasobject:
        raise DataFileError(
            f"{name} holds Python objects, which only pickle can load; manyview never unpickles. "
            "Save it as plain numbers or as text (dtype=str)."
        )
    declared, found = dtype.itemsize, n_bytes - file.tell()
    for size in shape:
        declared *= size
    if min(shape, default=0) < 0 or declared != found:
        raise ValueError(
            f"{name} must have {declared:,} bytes for shape {shape} of {dtype}, as its header "
            f"says; it has {found:,}"
        )
    return True


def read_archive(path: Path) -> Iterator[tuple[str, np.ndarray]]:
    """Read the arrays of an `.npz` archive with their names.

    Sizes are checked before anything is unpacked, against the memory that may be used, and no more
    than the stated sizes is unpacked.
    """
    with path.open("rb") as file, zipfile.ZipFile(file) as archive:
        members = [one for one in archive.infolist() if not one.filename.endswith("/")]
        _check_members(members, path)
        for member in members:
            name = member.filename.removesuffix(".npy")
            with archive.open(member) as stream:
                is_array = read_header(stream, f"{name!r} in {path.name}", member.file_size)
            if is_array:
                with archive.open(member) as stream:
                    yield name, npy.read_array(stream, allow_pickle=False)
            else:
                yield name, np.empty(0, dtype="S1")  # no array: listed, and never used


def _check_members(members: list[zipfile.ZipInfo], path: Path) -> None:
    names = [member.filename.removesuffix(".npy") for member in members]
    for name, member in zip(names, members, strict=True):
        if member.compress_type not in COMPRESSIONS:
            raise DataFileError(
                f"{name!r} in {path.name} is compressed in a way that NumPy does not write. Save "
                "it again with numpy.savez_compressed."
            )
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise DataFileError(
            f"{path.name} holds more than one array named {repeated[0]!r}. Every array must have "
            "its own name."
        )
    n_bytes = sum(member.file_size for member in members)
    check_memory(
        n_bytes / GB,
        f"{path.name} ({path.stat().st_size / GB:.3f} GB, {n_bytes / GB:.3f} GB unpacked)",
        "Save fewer views",
    )
