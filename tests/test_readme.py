"""The code of the README and the docs runs and prints what they say.

A block fenced as `python` is a session, `>>>` and its output; all share their names. In a block
fenced as `console`, each `$ manyview` command is run, all in one folder, and the lines below it are
its output; other commands are left alone. `...` stands for anything.
"""

import doctest
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").glob("*.md"))]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def blocks(text: str, language: str) -> Iterator[tuple[int, str]]:
    """Number of the first line, from 0, and text of each block fenced as that language."""
    for block in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        if block[1] == language:
            yield text.count("\n", 0, block.start(2)), block[2]


def commands(block: str) -> list[tuple[str, str]]:
    """Pairs of a `$` command and the lines below it."""
    return re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block.replace("\\\n", " "), re.MULTILINE)


def sessions_of(page: Path) -> list[tuple[int, str]]:
    return list(blocks(page.read_text(encoding="utf-8"), "python"))


@pytest.mark.parametrize("page", list(filter(sessions_of, PAGES)), ids=lambda page: page.name)
def test_sessions_print_what_they_show(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    report: list[str] = []
    for line, block in sessions_of(page):
        assert block.startswith(">>> "), f"{page.name}, line {line + 1}: not a session with >>>"
        session = doctest.DocTestParser().get_doctest(block, names, page.stem, page.name, line)
        runner = doctest.DocTestRunner(optionflags=FLAGS)
        runner.run(session, out=report.append, clear_globs=False)
        names = session.globs
    assert not report, "".join(report)


def test_readme_has_sessions():
    assert sessions_of(README)


def test_readme_commands_print_what_they_show(tmp_path):
    shown = [
        (command, expected)
        for _, block in blocks(README.read_text(encoding="utf-8"), "console")
        for command, expected in commands(block)
        if command.startswith("manyview ")
    ]
    assert shown, "README.md has no console block with a manyview command"
    checker = doctest.OutputChecker()
    for command, expected in shown:
        run = subprocess.run(
            [sys.executable, "-m", *shlex.split(command, comments=True)],
            cwd=tmp_path,
            env=os.environ | {"COLUMNS": "100", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=300,
        )
        assert run.returncode == 0, f"$ {command}\n{run.stdout}"
        if expected and not checker.check_output(expected, run.stdout, FLAGS):
            example = doctest.Example(command, expected)
            pytest.fail(f"$ {command}\n{checker.output_difference(example, run.stdout, FLAGS)}")
