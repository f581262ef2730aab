"""What the command line writes: text, JSON, and the width to set it in."""

import json
from typing import Any

import typer


def width() -> int:
    """Columns of the terminal."""
    from rich.console import Console

    return Console().width


def print_text(text: str, *, err: bool = False) -> None:
    """Write text as it is, on the output or the error stream."""
    from rich.console import Console

    console = Console(stderr=err, markup=False, highlight=False, emoji=False, soft_wrap=True)
    console.print(text)


def print_json(document: Any) -> None:
    """Write one JSON document."""
    typer.echo(json.dumps(document, indent=2, default=str))
