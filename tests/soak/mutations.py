"""Mutations of bytes: flips, numbers at the edge of their type, cuts, swaps and repeats."""

from collections.abc import Callable

import numpy as np

EDGES = (0, 1, 2, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)
WIDE_EDGES = (*EDGES, 2**32, 2**40, 2**53, 2**63 - 1, 2**63, 2**64 - 1)
Mutation = Callable[[bytearray, np.random.Generator], None]


def mutate(content: bytes, rng: np.random.Generator) -> bytes:
    """Apply one to four random mutations; half of them within the first 512 bytes."""
    changed = bytearray(content)
    for _ in range(int(rng.integers(1, 5))):
        if changed:
            MUTATIONS[rng.integers(len(MUTATIONS))](changed, rng)
    return bytes(changed)


def _place(content: bytearray, rng: np.random.Generator, head: int = 512) -> int:
    limit = min(len(content), head) if rng.random() < 0.5 else len(content)
    return int(rng.integers(limit))


def flip_bit(content: bytearray, rng: np.random.Generator) -> None:
    content[_place(content, rng)] ^= 1 << int(rng.integers(8))


def flip_bits(content: bytearray, rng: np.random.Generator) -> None:
    for _ in range(int(rng.integers(2, 20))):
        flip_bit(content, rng)


def set_byte(content: bytearray, rng: np.random.Generator) -> None:
    content[_place(content, rng)] = int(rng.integers(256))


def set_number(content: bytearray, rng: np.random.Generator) -> None:
    """Write a number at the edge of its type, of 1, 2, 4 or 8 bytes, in either byte order."""
    width = int(rng.choice([1, 2, 4, 8]))
    place = _place(content, rng) // width * width
    number = WIDE_EDGES[rng.integers(len(WIDE_EDGES))] % 256**width
    order = "little" if rng.random() < 0.7 else "big"
    content[place : place + width] = number.to_bytes(width, order)


def add_to_number(content: bytearray, rng: np.random.Generator) -> None:
    width = int(rng.choice([4, 8]))
    place = _place(content, rng) // width * width
    number = int.from_bytes(content[place : place + width], "little")
    number = (number + int(rng.integers(-3, 4))) % 256**width
    content[place : place + width] = number.to_bytes(width, "little")


def cut(content: bytearray, rng: np.random.Generator) -> None:
    del content[int(rng.integers(len(content))) :]


def extend(content: bytearray, rng: np.random.Generator) -> None:
    content += rng.bytes(int(rng.integers(1, 100)))


def remove_chunk(content: bytearray, rng: np.random.Generator) -> None:
    place = _place(content, rng)
    del content[place : place + int(rng.integers(1, 64))]


def repeat_chunk(content: bytearray, rng: np.random.Generator) -> None:
    place, length = _place(content, rng), int(rng.integers(1, 64))
    content[place:place] = content[place : place + length]


def swap_chunks(content: bytearray, rng: np.random.Generator) -> None:
    length = int(rng.integers(1, 64))
    one, other = _place(content, rng), _place(content, rng)
    first, second = content[one : one + length], content[other : other + length]
    if len(first) == len(second):
        content[one : one + length], content[other : other + length] = second, first


def overwrite(content: bytearray, rng: np.random.Generator) -> None:
    place, length = _place(content, rng), int(rng.integers(1, 64))
    length = min(length, len(content) - place)
    content[place : place + length] = rng.bytes(length)


MUTATIONS: tuple[Mutation, ...] = (
    flip_bit, flip_bits, set_byte, set_number, set_number, add_to_number, cut, extend,
    remove_chunk, repeat_chunk, swap_chunks, overwrite,
)  # fmt: skip
