"""A table before it has a format: cells with a text, a value, a mark and notes."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from manyview.report.study.results import Metric, Result

BEST, SECOND = "best", "second"
RANK = "rank"  # heading of the column of average ranks


@dataclass(frozen=True)
class TableCell:
    """One place of a table.

    Attributes
    ----------
    text
        Without any mark.
    value
        The number behind it, in full.
    mark
        "best", "second" or nothing.
    is_tied
        Whether it is not the best, but not clearly worse either.
    note
        Letter of a footnote, or nothing.
    """

    text: str = ""
    value: float | None = None
    mark: str = ""
    is_tied: bool = False
    note: str = ""


@dataclass(frozen=True)
class Block:
    """Rows that belong together; the first cell of each is its title."""

    label: str
    rows: tuple[tuple[TableCell, ...], ...]


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes
    ----------
    name
        Good for a file name.
    groups
        Titles above the header, each with the number of columns it spans; the first column has
        none. Empty without a second line.
    caption
        Sentences on what it shows and how; the meaning of marks is told by the format.
    notes
        Footnotes: letter and text.
    """

    name: str
    title: str
    header: tuple[str, ...]
    blocks: tuple[Block, ...]
    groups: tuple[tuple[str, int], ...] = ()
    caption: tuple[str, ...] = ()
    notes: tuple[tuple[str, str], ...] = ()

    def cells(self) -> Iterator[TableCell]:
        """Go through all cells, those with the titles of rows included."""
        return (cell for block in self.blocks for row in block.rows for cell in row)

    def legend(self, best: str, second: str, tied: str) -> list[str]:
        """Say what marks mean, those that occur, given how a format shows them."""
        marks = {cell.mark for cell in self.cells()}
        sentences = []
        if SECOND in marks:
            sentences.append(f"{best}: best. {second}: second best.")
        elif BEST in marks:
            sentences.append(f"{best}: best.")
        if any(cell.is_tied for cell in self.cells()):
            sentences.append(f"{tied}: not clearly worse than the best.")
        return sentences


class Notes:
    """Footnotes by their text, lettered as they come up."""

    def __init__(self) -> None:
        self._letters: dict[str, str] = {}

    def letter(self, text: str) -> str:
        """Return the letter of a footnote; nothing for no text."""
        if not text:
            return ""
        return self._letters.setdefault(text, _letter(len(self._letters)))

    def listed(self) -> tuple[tuple[str, str], ...]:
        """Return all footnotes."""
        return tuple((letter, text) for text, letter in self._letters.items())


def _letter(number: int) -> str:
    """Count in letters: a to z, then aa, ab, and so on."""
    head, tail = divmod(number, 26)
    return (_letter(head - 1) if head else "") + chr(ord("a") + tail)


def as_cell(result: Result | None, metric: Metric, notes: Notes) -> TableCell:
    """Set a result as mean (deviation); a failed one as a dash, one not run as nothing."""
    if result is None or not (result.by_seed or result.failures):
        return TableCell()
    return TableCell(
        text=mean_text(result.mean, result.std, metric) if result.by_seed else "-",
        value=result.mean,
        note=notes.letter(result.shortfall),
    )


def paper_cell(result: Result | None, metric: Metric) -> TableCell:
    """Set the paper's number of a result."""
    if result is None or result.paper is None:
        return TableCell()
    mean, std = result.paper
    return TableCell(mean_text(mean, std, metric), value=mean)


def mean_text(mean: float | None, std: float | None, metric: Metric) -> str:
    """Write mean (deviation); the latter only where it is known."""
    if mean is None:
        return ""
    return metric.text(mean) + (f" ({metric.text(std)})" if std is not None else "")


def headed_rows(
    titles: Iterable[str], body: Sequence[Sequence[TableCell]]
) -> tuple[tuple[TableCell, ...], ...]:
    """Put its title before every row."""
    return tuple((TableCell(title), *line) for title, line in zip(titles, body, strict=True))
