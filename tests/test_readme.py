"""The code of the README runs and prints what it says.

A block fenced as `python` is a session, `>>>` and its output; all share their names. In a block
fenced as `console`, each `$ manyview` command is run, all in one folder, and the lines below it are
its output; other commands are left alone. `...` stands for anything.
"""

import doctest
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from page_blocks import FLAGS, blocks, commands

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def test_readme_is_short():
    assert len(README.splitlines()) < 150


def test_sessions_print_what_they_show(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    report: list[str] = []
    sessions = list(blocks(README, "python"))
    assert sessions, "README.md has no session"
    for block in sessions:
        assert block.text.startswith(">>> "), f"line {block.line + 1}: not a session with >>>"
        parser = doctest.DocTestParser()
        session = parser.get_doctest(block.text, names, "README", "README.md", block.line)
        runner = doctest.DocTestRunner(optionflags=FLAGS)
        runner.run(session, out=report.append, clear_globs=False)
        names = session.globs
    assert not report, "".join(report)


def test_commands_print_what_they_show(tmp_path):
    shown = [
        (command, expected)
        for block in blocks(README, "console")
        for command, expected in commands(block.text)
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
