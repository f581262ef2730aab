"""Read MATLAB 5 files variable by variable, after a check of their structure.

scipy trusts the sizes that such a file states: a cell of a few bytes can make it allocate
gigabytes, nested cells can overflow its stack, and a compressed variable is unpacked whatever its
size. So each variable is unpacked here, to the size it states and no further, and its parts are
walked in the order in which scipy reads them; then scipy reads it.
"""

import io
import math
import mmap
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import scipy

from manyview.errors import DataFileError
from manyview.system.memory import GB, check_memory

HEADER_BYTES = 128
MATRIX, COMPRESSED = 14, 15  # types of elements
DATA_TYPES = (1, 2, 3, 4, 5, 6, 7, 9, 12, 13, 16, 17, 18)  # numbers and texts; scipy crashes on 20
CELL, STRUCT, OBJECT, CHAR, SPARSE, FUNCTION, OPAQUE = 1, 2, 3, 4, 5, 16, 17  # classes of arrays
NUMERIC = range(6, 16)
MAX_DEPTH = 100  # of cells in cells; scipy recurses in C
COMPLEX_FLAG = 1 << 11


def is_mat5(path: Path) -> bool:
    """Return whether a file has the header of MATLAB 5; older ones start with a small number."""
    with path.open("rb") as file:
        head = file.read(HEADER_BYTES)
    return len(head) == HEADER_BYTES and 0 not in head[:4]


def read_mat5(path: Path) -> dict[str, Any]:
    """Read the variables of a MATLAB 5 file."""
    variables: dict[str, Any] = {}
    with path.open("rb") as file:
        size = path.stat().st_size
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            for stream in _variables(content, size, path.name):
                for name, value in scipy.io.loadmat(stream).items():
                    if name in variables and not name.startswith("__"):
                        raise DataFileError(
                            f"{path.name} holds more than one variable named {name!r}. Every "
                            "variable must have its own name."
                        )
                    variables[name] = value
    return variables


def _variables(content: mmap.mmap, size: int, file: str) -> Iterator[Any]:
    """Yield each variable as a file of its own, checked."""
    header = content[:HEADER_BYTES]
    order = "<" if header[126:128] == b"IM" else ">"
    position, n_bytes = HEADER_BYTES, 0
    while position + 8 <= size:
        kind, length = struct.unpack_from(f"{order}II", content, position)
        end = position + 8 + length
        if end > size:
            raise ValueError(f"a variable at byte {position:,} ends behind the end of the file")
        if kind == COMPRESSED:
            body = _unpacked(content[position + 8 : end], order, n_bytes, file)
            _Walk(body, order).check_variable(0)
            n_bytes += len(body)
            yield io.BytesIO(header + body)
        else:
            _Walk(content, order).check_variable(position)
            n_bytes += length
            check_memory(n_bytes / GB, file, "Save fewer views")
            yield _Part(header, content, position, end)
        position = end
    if position < size:
        raise ValueError("the file ends within a variable")


def _unpacked(packed: bytes, order: str, n_before: int, file: str) -> bytes:
    """Unpack a compressed variable, to the size that it states."""
    stream = zlib.decompressobj()
    head = stream.decompress(packed, 8)
    if len(head) < 8:
        raise ValueError("a compressed variable is empty")
    length = struct.unpack(f"{order}II", head)[1]
    check_memory(
        (n_before + length) / GB,
        f"{file}, unpacked,",
        "Save fewer views",
    )
    body = head + stream.decompress(stream.unconsumed_tail, max(length, 1))
    if len(body) < 8 + length:
        raise ValueError(f"a compressed variable has {len(body):,} bytes, not {8 + length:,}")
    return body


class _Walk:
    """Walks the parts of a variable in the order in which scipy reads them."""

    def __init__(self, content: bytes | mmap.mmap, order: str) -> None:
        self.content, self.order = content, order

    def check_variable(self, position: int) -> None:
        """Refuse a variable whose parts do not fit its bytes."""
        try:
            self._matrix(position, 0)
        except struct.error:
            raise ValueError("a variable is cut short") from None

    def _element(self, position: int) -> tuple[int, int, int, int]:
        """Return type, first byte, number of bytes and the byte behind an element."""
        kind, length = struct.unpack_from(f"{self.order}II", self.content, position)
        if kind >> 16:  # up to four bytes stand in the tag itself
            return kind & 0xFFFF, position + 4, min(kind >> 16, 4), position + 8
        behind = position + 8 + -(-length // 8) * 8
        if position + 8 + length > len(self.content):
            raise ValueError(f"a part states {length:,} bytes, more than there are")
        return kind, position + 8, length, behind

    def _matrix(self, position: int, depth: int) -> int:
        """Check an array, and return the byte behind it."""
        if depth > MAX_DEPTH:
            raise ValueError(f"cells are nested more than {MAX_DEPTH} deep")
        kind, length = struct.unpack_from(f"{self.order}II", self.content, position)
        position += 8
        if kind != MATRIX or not length:
            return position
        _, start, _, position = self._element(position)
        flags = struct.unpack_from(f"{self.order}I", self.content, start)[0]
        array_class = flags & 0xFF
        if array_class == OPAQUE:
            for _ in range(4):
                position = self._element(position)[3]
            return self._matrix(position, depth + 1)
        _, start, length, position = self._element(position)
        sizes = struct.unpack_from(f"{self.order}{length // 4}i", self.content, start)
        if length % 4 or len(sizes) < 2 or min(sizes) < 0:  # scipy crashes on a text of no sizes
            raise ValueError(f"an array has the shape {sizes}")
        count = math.prod(sizes)
        position = self._element(position)[3]  # its name
        if array_class in NUMERIC or array_class in (CHAR, SPARSE):
            if array_class == CHAR and count > 4 * (len(self.content) - position) + 1024:
                raise ValueError(f"a text states {count:,} characters, more than there are")
            n_parts = (3 if array_class == SPARSE else 1) + bool(flags & COMPLEX_FLAG)
            for _ in range(n_parts):
                kind, _, _, position = self._element(position)
                if kind not in DATA_TYPES:
                    raise ValueError(f"values have the type {kind}, which there is not")
            return position
        if array_class == OBJECT:
            position = self._element(position)[3]  # the name of its class
        if array_class in (STRUCT, OBJECT):
            _, start, length, position = self._element(position)
            width = struct.unpack_from(f"{self.order}i", self.content, start)[0]
            _, _, length, position = self._element(position)
            if width < 1:
                raise ValueError(f"a struct has names of {width} characters")
            count *= length // width
        elif array_class == FUNCTION:
            count = 1
        elif array_class != CELL:
            return position  # scipy refuses it
        if 8 * count > len(self.content) - position:
            raise ValueError(f"a cell or struct states {count:,} parts, more than there are")
        for _ in range(count):
            position = self._matrix(position, depth + 1)
        return position


class _Part:
    """A header and a part of a file, as one file."""

    def __init__(self, header: bytes, content: mmap.mmap, start: int, end: int) -> None:
        self.header, self.content = header, content
        self.offset, self.size = start - len(header), end - start + len(header)
        self.position = 0

    def read(self, n_bytes: int = -1) -> bytes:
        """Return the next bytes."""
        left = max(self.size - self.position, 0)
        end = self.position + (left if n_bytes < 0 else min(n_bytes, left))
        n_header = len(self.header)
        data = self.header[self.position : min(end, n_header)]
        if end > n_header:
            first = max(self.position, n_header)
            data += self.content[self.offset + first : self.offset + end]
        self.position = end
        return data

    def seek(self, offset: int, whence: int = 0) -> int:
        """Move to a position from the start, the current one, or the end."""
        self.position = max((0, self.position, self.size)[whence] + offset, 0)
        return self.position

    def tell(self) -> int:
        """Return the current position."""
        return self.position
