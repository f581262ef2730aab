"""What the shell completes: data sets, methods, parameters, plans and runs.

A completion runs at every press of a key, so nothing heavy is imported. Names of parameters come
from `parameters.json` beside this file, which `docs/making/parameter_names.py` writes and a test
compares with the methods.
"""

import json
import os
import re
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Any

import typer

MAX_ITEMS = 200
METHOD_GROUP = "manyview.methods"  # entry points, as in `methods.py`, which imports torch
PLAIN = re.compile(r"[\w./+@%,~-]+")  # names that no shell changes; it completes others itself
Item = str | tuple[str, str]  # what is completed, and a remark on it
Completer = Callable[..., Iterator[Item]]


def complete_data(incomplete: str) -> Iterator[Item]:
    """Complete data sets of the catalog and paths."""
    from manyview.data.catalog.cards import CATALOG

    yield from ((name, card.title) for name, card in CATALOG.items())
    yield from _paths(incomplete)


def complete_datasets() -> Iterator[Item]:
    """Complete data sets of the catalog."""
    from manyview.data.catalog.cards import CATALOG

    yield from ((name, card.title) for name, card in CATALOG.items())


def complete_methods() -> Iterator[Item]:
    """Complete methods, those of other packages included."""
    yield from dict.fromkeys((*_parameters(), *(one.name for one in _installed())))


def complete_method_list(incomplete: str) -> Iterator[Item]:
    """Complete the last of several methods with commas between them."""
    before, comma, _ = incomplete.rpartition(",")
    given = set(before.split(","))
    yield from (f"{before}{comma}{name}" for name in complete_methods() if name not in given)


def complete_parameters(context: typer.Context) -> Iterator[Item]:
    """Complete parameters of the method that the command names, with their paths as remarks."""
    method = context.params.get("method") or "manyview"
    yield from ((f"{name}=", path) for name, path in _parameters().get(method, {}).items())


def complete_plans(incomplete: str) -> Iterator[Item]:
    """Complete plans that come with manyview, and paths."""
    folder = files("manyview.experiments") / "plans"
    yield from sorted(one.name.removesuffix(".toml") for one in folder.iterdir())
    yield from _paths(incomplete)


def complete_runs(incomplete: str) -> Iterator[Item]:
    """Complete folders of runs: those in the folder that is typed, and those in `runs`."""
    from manyview.runs.listing import run_folders

    home = os.path.dirname(incomplete)  # noqa: PTH120  # as typed, with its ./ and ~
    found = run_folders(Path(home).expanduser() if home else Path(), 1)
    names = [f"{home}/{one.name}" if home else one.name for one in islice(found, MAX_ITEMS)]
    inner = [] if home else [str(one) for one in islice(run_folders(Path("runs")), MAX_ITEMS)]
    yield from (name for name in dict.fromkeys((*names, *inner)) if PLAIN.fullmatch(name))
    if home or incomplete:  # folders that may hold runs
        others = (path for path in _paths(incomplete) if path.endswith("/"))
        yield from (path for path in others if path.rstrip("/") not in names)


def choices_of(metavar: str) -> Completer | None:
    """Return what completes an option whose values are listed, such as `rows|columns`."""
    if "|" not in metavar:
        return None
    return lambda: iter(metavar.split("|"))


def _paths(incomplete: str) -> Iterator[str]:
    """List the paths that start as typed, folders with a slash at the end."""
    home, name = os.path.split(incomplete)
    try:
        with os.scandir(Path(home).expanduser() if home else ".") as entries:
            found = sorted(
                f"{one.name}/" if one.is_dir() else one.name
                for one in entries
                if one.name.startswith(name) and (name or one.name[0] != ".")
            )
    except (OSError, RuntimeError):  # RuntimeError for the home folder of an unknown user
        return
    start = incomplete[: len(incomplete) - len(name)]
    yield from islice((start + one for one in found if PLAIN.fullmatch(start + one)), MAX_ITEMS)


def _parameters() -> dict[str, dict[str, str]]:
    """Return the path of each parameter by its short name, by method."""
    text = (files("manyview.cli") / "parameters.json").read_text(encoding="utf-8")
    parameters: dict[str, dict[str, str]] = json.loads(text)
    return parameters


def _installed() -> Any:
    return entry_points(group=METHOD_GROUP)
