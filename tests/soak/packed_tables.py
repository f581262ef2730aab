"""Packed tables for the fuzzing of inputs: compressed text, zip archives, workbooks, bombs."""

import bz2
import gzip
import lzma
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tests.soak.mutations import mutate

BOMB_BYTES = 200 * 2**20  # more than a quarter of the memory that the readers may use
Craft = Callable[[Path, np.random.Generator], None]
ENTITIES = (  # expands to gigabytes, or reads another file
    b"<!DOCTYPE x [<!ENTITY a \"" + b"ha" * 50 + b"\">"
    + b"".join(
        f'<!ENTITY {name} "{f"&{before};" * 50}">'.encode()
        for before, name in zip("abcde", "bcdef", strict=True)
    )
    + b"]>",
    b'<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/hostname">]>',
)  # fmt: skip


def pack_zstd(content: bytes) -> bytes:
    """Compress with Zstandard, by pyarrow."""
    import pyarrow

    compressed: Any = pyarrow.compress(content, codec="zstd", asbytes=True)
    return compressed


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": pack_zstd,
}


def write_packed(shared: Path) -> None:
    """Write the healthy table.csv, and what is in table.xlsx, in every packing; and bombs."""
    table = (shared / "table.csv").read_bytes()
    for suffix, pack in PACKERS.items():
        (shared / f"table.csv{suffix}").write_bytes(pack(table))
    with zipfile.ZipFile(shared / "tables.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("one.csv", table)
        archive.writestr("inner/two.csv", table)
    zeros = bytes(BOMB_BYTES)
    (shared / "bomb.csv.gz").write_bytes(gzip.compress(zeros, 1))
    with zipfile.ZipFile(
        shared / "bomb.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=1
    ) as archive:
        archive.writestr("one.csv", table)
        archive.writestr("two.csv", zeros)
    with zipfile.ZipFile(shared / "table.xlsx") as book:
        parts = {info.filename: book.read(info) for info in book.infolist()}
    parts["xl/worksheets/sheet1.xml"] += zeros
    with zipfile.ZipFile(shared / "bomb.xlsx", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as book:
        for name, content in parts.items():
            book.writestr(name, content)


def packed_craft(craft_csv: Craft) -> Craft:
    """Return a craft that changes the table within a compressed file."""

    def craft(path: Path, rng: np.random.Generator) -> None:
        inner = path.with_name("table.csv")
        inner.write_bytes((path.parent / "original.csv").read_bytes())
        if rng.random() < 0.5:
            craft_csv(inner, rng)
        else:
            inner.write_bytes(mutate(inner.read_bytes(), rng))
        content = PACKERS[path.suffix](inner.read_bytes())
        path.write_bytes(content * int(rng.integers(1, 3)) + rng.bytes(int(rng.integers(2)) * 9))

    return craft


def craft_zip(path: Path, rng: np.random.Generator) -> None:
    """Change the names, number, content or packing of the members; checksums are right."""
    with zipfile.ZipFile(path) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    name = list(members)[rng.integers(len(members))]
    content, kind = members[name], rng.integers(6)
    if kind == 0:
        odd = [
            "../up.csv",
            "/abs.csv",
            "x\0.csv",
            "a" * 300 + ".csv",
            "one.CSV",
            "é.csv",
            "c:\\x.csv",
        ]
        members[odd[rng.integers(len(odd))]] = members.pop(name)
    elif kind == 1:
        members |= {f"more{number}.csv": content for number in range(int(rng.integers(1500)))}
    elif kind == 2:
        members[name] = mutate(content, rng)
    elif kind == 3:
        members["inner.zip"] = path.read_bytes()
        members["labels.csv"] = mutate(content, rng)
    elif kind == 4:
        members[f"{name}.gz"] = gzip.compress(mutate(members.pop(name), rng))
    _write_zip(path, members, rng)
    if kind == 5:  # encrypted, or of another size, as the directory has it
        changed = bytearray(path.read_bytes())
        place = changed.rfind(b"PK\x01\x02")
        offset = int(rng.choice([8, 10, 20, 24, 42]))
        changed[place + offset] = int(rng.integers(256))
        path.write_bytes(changed)


def craft_xlsx(path: Path, rng: np.random.Generator) -> None:
    """Change the XML of a workbook behind its compression."""
    with zipfile.ZipFile(path) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    sheet = "xl/worksheets/sheet1.xml"
    name = sheet if rng.random() < 0.5 else list(members)[rng.integers(len(members))]
    content, kind = members[name], rng.integers(6)
    if kind == 0:
        members[name] = mutate(content, rng)
    elif kind == 1:
        del members[name]
    elif kind == 2:  # entities
        start = content.find(b"<", 5)
        entity = b"&f;" if rng.random() < 0.7 else b"&a;"
        text = content[:start] + ENTITIES[rng.integers(2)] + content[start:]
        members[name] = text.replace(b"<v>0</v>", b"<v>" + entity + b"</v>", 3)
    elif kind == 3:  # a cell at the far end, a date, a type or an error
        cells = [
            b'<c r="XFD1048576"><v>1</v></c>', b'<c r="A1" t="e"><v>#DIV/0!</v></c>',
            b'<c r="B2" t="s"><v>999999</v></c>', b'<c r="C3" t="d"><v>2020-99-99</v></c>',
            b'<c r="ZZZZZZ1"><v>1</v></c>', b'<c r="D4"><f>1+1</f></c>', b'<c t="zz"><v>x</v></c>',
            b'<c r="E5"><v>1e999</v></c>', b'<c r="F-6"><v>1</v></c>', b'<c r="B2" s="99999"/>',
        ]  # fmt: skip
        cell = cells[rng.integers(len(cells))]
        members[sheet] = members[sheet].replace(b"</row>", cell + b"</row>", 2)
    elif kind == 4:  # numbers of rows and cells
        numbers = [b"0", b"-1", b"1048577", b"99999999999", b"x", b""]
        members[sheet] = members[sheet].replace(
            b'<row r="2"', b'<row r="' + numbers[rng.integers(len(numbers))] + b'"'
        )
    else:
        members |= {f"xl/worksheets/more{number}.xml": content for number in range(400)}
    _write_zip(path, members, rng)


def _write_zip(path: Path, members: dict[str, bytes], rng: np.random.Generator) -> None:
    kinds = [zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
    with zipfile.ZipFile(path, "w", kinds[rng.integers(4)]) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
