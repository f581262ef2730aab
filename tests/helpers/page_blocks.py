"""The fenced blocks of a page, and a check of outputs that allows for other machines.

A fence may carry attributes, as in ```python { data-needs="bbcsports" }.
"""

import doctest
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
FENCE = re.compile(r"^```([\w-]*)([^\n`]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
PIECE = re.compile(r"(\.\.\.|\s+|\d+\.\d+%?|\d+%)")
NUMBER = r"(\d+(?:\.\d+)?)"


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, the number of its first line from 0."""

    language: str
    text: str
    line: int
    attributes: dict[str, str] = field(default_factory=dict)


def blocks(page: str, language: str | None = None) -> Iterator[Block]:
    """Find the blocks of a page, those of one language or all, in their order."""
    for found in FENCE.finditer(page):
        if language in (None, found[1]):
            attributes = dict(re.findall(r'([\w-]+)="([^"]*)"', found[2]))
            yield Block(found[1], found[3], page.count("\n", 0, found.start(3)), attributes)


def commands(block: str) -> list[tuple[str, str]]:
    """Pairs of a `$` command and the lines below it."""
    return COMMAND.findall(block.replace("\\\n", " "))


class NearOutput(doctest.OutputChecker):
    """Whole numbers must agree; numbers with a point or a percent sign nearly.

    A percentage may be 6 points off, another number 0.06 or a tenth of it.
    """

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        if super().check_output(want, got, optionflags):
            return True
        pattern, numbers = "", []
        for piece in PIECE.split(want.strip()):
            if piece == "...":
                pattern += r"[\s\S]*?"
            elif piece.isspace():
                pattern += r"\s+"
            elif PIECE.fullmatch(piece):
                numbers.append(piece)
                pattern += NUMBER + ("%" if piece.endswith("%") else "")
            else:
                pattern += re.escape(piece)
        found = re.fullmatch(pattern, got.strip())
        return found is not None and all(map(near, numbers, found.groups()))


def near(want: str, got: str) -> bool:
    """Whether a number is near enough to the one that a page shows."""
    shown = float(want.rstrip("%"))
    slack = 6 if want.endswith("%") else max(0.06, shown / 10)
    return abs(float(got) - shown) <= slack
