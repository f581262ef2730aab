"""Output of the command line: text, JSON and the width of the terminal."""

import json
from typing import Any

import typer


def width() -> int:
    """Return the number of columns of the terminal."""
    from rich.console import Console

    return Console().width


def print_text(text: str, *, err: bool = False) -> None:
    """Print text unchanged, to standard output or standard error."""
    from rich.console import Console

    console = Console(stderr=err, markup=False, highlight=False, emoji=False, soft_wrap=True)
    console.print(text)


def print_json(document: Any) -> None:
    """Print one JSON document."""
    typer.echo(json.dumps(document, indent=2, default=str))
