"""Text, tables and colors: on a terminal, and in a pipe."""

import os
import pty
import subprocess
import sys

import pytest

from manyview.cli.console import print_notice, print_table, print_text

ESCAPE = "\x1b["


def on_terminal(*arguments, **environment):
    """Run a command whose output and errors go to a terminal; return what it shows."""
    main, child = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "manyview", *arguments],
        stdout=child,
        stderr=child,
        env={k: v for k, v in os.environ.items() if k != "NO_COLOR"}
        | {"TERM": "xterm-256color", "COLUMNS": "100", **environment},
    )
    os.close(child)
    shown = b""
    try:
        while block := os.read(main, 65536):
            shown += block
    except OSError:  # the end of a terminal, on Linux
        pass
    process.wait(60)
    os.close(main)
    return shown.decode()


def test_tables_are_plain_in_a_pipe(capsys):
    print_table(("a", "b"), [("x", "1"), ("y", "10")], "<>", strong=0)
    assert capsys.readouterr().out == "a   b\nx   1\ny  10\n"


def test_tables_and_headings_are_colored_on_a_terminal():
    shown = on_terminal("datasets")
    assert ESCAPE in shown
    assert "─" in shown
    assert "digits" in shown
    assert f"{ESCAPE}1mSamples" in on_terminal("datasets", "digits")


def test_errors_are_colored_on_a_terminal():
    assert f"{ESCAPE}1;31mError:" in on_terminal("datasets", "minst")


@pytest.mark.parametrize("arguments", [("datasets",), ("datasets", "digits"), ("datasets", "x")])
def test_no_color_is_respected(arguments):
    shown = on_terminal(*arguments, NO_COLOR="1")
    assert "3" not in {code[:1] for code in shown.split(ESCAPE)[1:]}  # 30 to 37 are colors
    assert ";3" not in shown.replace("3;", "")


def test_narrow_terminal_folds_a_table_and_cuts_nothing():
    shown = on_terminal("datasets", NO_COLOR="1", COLUMNS="50")
    assert "…" not in shown
    assert "..." not in shown


def test_text_is_printed_unchanged(capsys):
    text = "[bold]x[/] :smile: 'a' 1,000 " + "long " * 50
    print_text(text)
    assert capsys.readouterr().out == f"{text}\n"


def test_notice_is_one_plain_line_in_a_pipe(capsys):
    print_notice("Warning", "[bold] is kept", "yellow")
    assert capsys.readouterr().err == "Warning: [bold] is kept\n"
