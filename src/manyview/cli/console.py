"""Output of the command line: text, tables and JSON; colors only on a terminal.

Rich decides what is a terminal, and leaves colors out where NO_COLOR is set.
"""

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

HEADING = r"(?m)^[A-Z][\w-]*(?: [\w-]+){0,2}(?=  )"  # of a section, at the start of a line


def width() -> int:
    """Return the number of columns of the terminal."""
    return _console().width


def print_text(text: str, *, err: bool = False) -> None:
    """Print text unchanged, to standard output or standard error; headings are bold."""
    from rich.text import Text

    shown = Text(text)
    shown.highlight_regex(HEADING, "bold")
    _console(err=err).print(shown)


def print_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], align: str, *, strong: int | None = None
) -> None:
    """Print a table, with lines and colors on a terminal; `align` has < or > per column.

    Parameters
    ----------
    strong
        Row that stands out; None for none.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    from manyview.report.layout import set_table

    console = _console()
    if not console.is_terminal:
        print_text(set_table(header, rows, align))
        return
    table = Table(box=SIMPLE_HEAD, show_edge=False, padding=(0, 1, 0, 0), header_style="bold cyan")
    for name, side in zip(header, align, strict=True):
        table.add_column(Text(name), justify="right" if side == ">" else "left", overflow="fold")
    for number, row in enumerate(rows):
        table.add_row(*map(Text, row), style="bold green" if number == strong else None)
    console.print(table, soft_wrap=False)


def print_notice(kind: str, message: str, style: str) -> None:
    """Print one line to standard error: its kind, such as `Error`, and a message.

    The kind has a color on a terminal.
    """
    if sys.stderr is None or not sys.stderr.isatty():
        typer.echo(f"{kind}: {message}", err=True)
        return
    from rich.text import Text

    _console(err=True).print(Text.assemble((f"{kind}:", style), f" {message}"))


def print_json(document: Any) -> None:
    """Print one JSON document."""
    typer.echo(json.dumps(document, indent=2, default=str))


def _console(*, err: bool = False) -> "Console":
    from rich.console import Console

    return Console(stderr=err, markup=False, highlight=False, emoji=False, soft_wrap=True)
