"""Plain text for terminals: sections with a heading on the left, and tables."""

from collections.abc import Sequence
from textwrap import wrap

from manyview.explain.notebook import signed

__all__ = ["MAX_WIDTH", "set_sections", "set_table", "signed"]

MAX_WIDTH = 100


def set_sections(sections: Sequence[tuple[str, Sequence[str]]], width: int) -> str:
    """Write each section's paragraphs next to its heading, wrapped unless they contain newlines.

    Examples
    --------
    >>> print(set_sections([("Data", ["three samples"]), ("Labels", ["one"])], width=80))
    Data    three samples
    Labels  one
    """
    indent = max(len(heading) for heading, _ in sections) + 2
    room = max(min(width, MAX_WIDTH) - indent, 20)
    lines = []
    for heading, paragraphs in sections:
        body = [line for paragraph in paragraphs for line in _lines(paragraph, room)]
        for number, line in enumerate(body):
            start = heading if number == 0 else ""
            lines.append(f"{start:<{indent}}{line}".rstrip())
    return "\n".join(lines)


def set_table(header: Sequence[str], rows: Sequence[Sequence[str]], align: str) -> str:
    """Write a table; `align` has < or > per column.

    Examples
    --------
    >>> print(set_table(["view", "features"], [["pixels", "64"], ["fourier", "33"]], "<>"))
    view     features
    pixels         64
    fourier        33
    """
    table = [header, *rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return "\n".join(
        "  ".join(
            f"{cell:{side}{width}}" for cell, side, width in zip(row, align, widths, strict=True)
        ).rstrip()
        for row in table
    )


def _lines(paragraph: str, room: int) -> list[str]:
    if "\n" in paragraph or not paragraph:
        return paragraph.split("\n")
    return wrap(paragraph, room, break_long_words=False, break_on_hyphens=False)
