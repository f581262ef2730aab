"""Tables independent of their format: cells with text, value, mark and footnote."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from manyview.report.study.results import Metric, Result

BEST, SECOND = "best", "second"
RANK = "rank"  # heading of the column of average ranks


@dataclass(frozen=True)
class TableCell:
    """One cell of a table."""

    text: str = ""  # text without marks
    value: float | None = None  # number in full precision
    mark: str = ""  # "best", "second" or nothing
    is_tied: bool = False  # whether it is not the best, but not clearly worse either
    note: str = ""  # letter of a footnote, or nothing
    p_value: float | None = None  # of the test against the best; None where it was not tested


@dataclass(frozen=True)
class Block:
    """Rows under a common label; the first cell of each is its title."""

    label: str
    rows: tuple[tuple[TableCell, ...], ...]


@dataclass(frozen=True)
class Table:
    """A table."""

    name: str  # name usable as a file name
    title: str
    header: tuple[str, ...]
    blocks: tuple[Block, ...]
    # titles above the header, each with the number of columns it spans, from the second column on;
    # empty if the header has one line
    groups: tuple[tuple[str, int], ...] = ()
    # sentences that describe the numbers; each format adds the meaning of its marks
    caption: tuple[str, ...] = ()
    notes: tuple[tuple[str, str], ...] = ()  # footnotes: letter and text

    def cells(self) -> Iterator[TableCell]:
        """Iterate over all cells, including the row titles."""
        return (cell for block in self.blocks for row in block.rows for cell in row)

    def legend(self, best: str, second: str, tied: str) -> list[str]:
        """Explain the marks that occur, given how a format shows them."""
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
    """Footnotes, lettered in order of appearance."""

    def __init__(self) -> None:
        self._letters: dict[str, str] = {}

    def letter(self, text: str) -> str:
        """Return the letter of a footnote; empty for an empty text."""
        if not text:
            return ""
        return self._letters.setdefault(text, _letter(len(self._letters)))

    def listed(self) -> tuple[tuple[str, str], ...]:
        """Return all footnotes."""
        return tuple((letter, text) for text, letter in self._letters.items())


def _letter(number: int) -> str:
    """Return a number in letters: a to z, then aa, ab, and so on."""
    head, tail = divmod(number, 26)
    return (_letter(head - 1) if head else "") + chr(ord("a") + tail)


def as_cell(result: Result | None, metric: Metric, notes: Notes) -> TableCell:
    """Return mean (deviation) of a result; a dash where it failed, nothing where it was not run."""
    if result is None or not (result.by_seed or result.failures):
        return TableCell()
    return TableCell(
        text=mean_text(result.mean, result.std, metric) if result.by_seed else "-",
        value=result.mean,
        note=notes.letter(result.shortfall),
    )


def paper_cell(result: Result | None, metric: Metric) -> TableCell:
    """Return the paper's number for a result."""
    if result is None or result.paper is None:
        return TableCell()
    mean, std = result.paper
    return TableCell(mean_text(mean, std, metric), value=mean)


def mean_text(mean: float | None, std: float | None, metric: Metric) -> str:
    """Write mean (deviation), or the mean alone."""
    if mean is None:
        return ""
    return metric.text(mean) + (f" ({metric.text(std)})" if std is not None else "")


def headed_rows(
    titles: Iterable[str], body: Sequence[Sequence[TableCell]]
) -> tuple[tuple[TableCell, ...], ...]:
    """Prepend a title to every row."""
    return tuple((TableCell(title), *line) for title, line in zip(titles, body, strict=True))


def flat_header(table: Table) -> list[str]:
    """Return the header in one line, each column with the title of its group."""
    if not table.groups:
        return list(table.header)
    groups = [name for name, size in table.groups for _ in range(size)]
    heads = [f"{g} {h}".strip() for g, h in zip(groups, table.header[1:], strict=True)]
    return [table.header[0], *heads]
