"""Completion as the shells ask for it: a process with the words in its environment."""

import json
import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import manyview.cli
from manyview.cli.completion import METHOD_GROUP, choices_of
from manyview.data.catalog.cards import CATALOG
from manyview.experiments.plan import plan_names
from manyview.methods import BUILT_IN, ENTRY_POINTS, METHODS

MAKING = Path(__file__).parents[2] / "docs" / "making" / "parameter_names.py"
HEAVY = {"torch", "numpy", "scipy", "sklearn", "rich", "pandas"}


def ask(shell, words, *, action="get-args"):
    """Return the process that completes the last of the words."""
    *before, incomplete = words
    line = " ".join(["manyview", *before, incomplete])
    return subprocess.run(
        [sys.executable, "-m", "manyview"],
        env=os.environ
        | {
            "_MANYVIEW_COMPLETE": f"complete_{shell}",
            "COMP_WORDS": "\n".join(["manyview", *words]),
            "COMP_CWORD": str(len(words)),
            "_TYPER_COMPLETE_ARGS": line,
            "_TYPER_COMPLETE_FISH_ACTION": action,
        },
        capture_output=True,
        text=True,
        timeout=60,
    )


def completed(*words):
    """Return what bash completes the last word to."""
    run = ask("bash", words)
    assert run.stderr == ""
    return [line for line in run.stdout.splitlines() if line]  # the shell drops empty ones


@pytest.fixture
def some_runs(here):
    for name in ("runs/a", "runs/b", "old/c", "d"):
        (here / name).mkdir(parents=True)
        (here / name / "run.json").touch()
    (here / "runs" / "none").mkdir()


def test_verbs_and_options_are_completed():
    assert completed("f") == ["fit"]
    assert completed("runs", "di") == ["diff"]
    assert completed("fit", "digits", "--label-r") == ["--label-ratio"]
    assert completed("fit", "digits", "--protocol", "") == ["stratified", "random"]


def test_data_sets_and_paths_are_completed(here):
    (here / "digits-mine.npz").touch()
    (here / "divers").mkdir()
    (here / "two words.csv").touch()  # left to the shell, which quotes it
    (here / ".hidden").touch()
    assert completed("fit", "di") == ["digits", "digits-mine.npz", "divers/"]
    assert set(completed("fit", "")) == {*CATALOG, "digits-mine.npz", "divers/"}
    assert completed("fit", "nothing") == []
    (here / "divers" / "x.csv").touch()
    assert completed("fit", "divers/") == ["divers/x.csv"]
    assert completed("fit", "./divers/x") == ["./divers/x.csv"]
    assert completed("datasets", "bbc") == ["bbcnews", "bbcsports"]


def test_methods_are_completed():
    assert completed("fit", "digits", "--method", "") == list(METHODS)
    assert completed("methods", "ssg") == ["ssgcn"]
    assert completed("compare", "digits", "--methods", "manyview,ssg") == ["manyview,ssgcn"]
    assert "svm,svm" not in completed("compare", "digits", "--methods", "svm,")


def test_parameters_are_those_of_the_method_that_is_named():
    assert completed("fit", "digits", "-p", "ta") == ["tau="]
    assert completed("fit", "digits", "--method", "ssgcn", "-p", "n_") == [
        "n_neighbors=",
        "n_steps=",
    ]
    assert completed("fit", "digits", "--method", "ssgcn", "--param", "tau") == []
    assert completed("fit", "digits", "--method", "nothing", "-p", "") == []


def test_plans_are_completed():
    assert completed("bench", "run", "acc") == [n for n in plan_names() if n.startswith("acc")]


@pytest.mark.usefixtures("some_runs")
def test_runs_are_completed():
    assert completed("explain", "") == ["d", "runs/a", "runs/b"]
    assert completed("runs", "diff", "runs/a", "runs/") == ["runs/a", "runs/b", "runs/none/"]
    assert completed("predict", "old/") == ["old/c"]
    assert completed("predict", "o") == ["old/"]
    assert completed("runs", "") == ["list", "diff", "d", "runs/a", "runs/b"]
    assert completed("runs", "list", "ru") == ["runs/a", "runs/b", "runs/"]


def test_zsh_and_fish_get_remarks_too():
    zsh = ask("zsh", ["fit", "digi"]).stdout
    assert zsh.startswith("_arguments")
    assert f'"digits":"{CATALOG["digits"].title.replace(chr(39), chr(39) * 2)}"' in zsh
    fish = ask("fish", ["fit", "digits", "-p", "tau"]).stdout
    assert fish == "tau=\testimator__node_selection__tau\n"
    assert ask("fish", ["fit", "digits", "-p", "tau"], action="is-args").returncode == 0
    assert ask("zsh", ["fit", "nothing"]).stdout == "_files\n"
    assert ask("fish", ["fit", "nothing"], action="is-args").returncode == 1


@pytest.mark.parametrize("words", [("fit", "di"), ("fit", "x", "-p", ""), ("runs", "diff", "")])
def test_completion_imports_nothing_heavy(words, some_runs):
    script = (
        "import sys\nfrom manyview.cli.app import main\n"
        "try:\n    main([])\nexcept SystemExit:\n    pass\n"
        "sys.stderr.write(' '.join(sys.modules))"
    )
    run = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ
        | {
            "_MANYVIEW_COMPLETE": "complete_bash",
            "COMP_WORDS": "\n".join(["manyview", *words]),
            "COMP_CWORD": str(len(words)),
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert run.stdout
    assert not HEAVY & set(run.stderr.split())


@pytest.mark.parametrize(
    ("shell", "words"),
    [
        ("bash", "complete -o default -F _manyview_completion manyview"),
        ("zsh", "#compdef manyview"),
        ("fish", "complete --command manyview"),
    ],
)
def test_script_of_a_shell_is_shown(shell, words):
    run = subprocess.run(
        [sys.executable, "-m", "manyview", "--show-completion", shell],
        env=os.environ | {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert words in run.stdout
    assert f"_MANYVIEW_COMPLETE=complete_{shell}" in run.stdout


def installed(shell, home):
    """Install the script for a shell that has a `manyview`; returns the environment."""
    (home / "bin").mkdir()
    command = home / "bin" / "manyview"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m manyview "$@"\n')
    command.chmod(0o755)
    environment = os.environ | {
        "HOME": str(home),
        "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}",
        "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1",
    }
    subprocess.run(
        ["manyview", "--install-completion", shell],
        env=environment, check=True, timeout=60, capture_output=True,
    )  # fmt: skip
    return environment


def test_bash_completes_with_the_installed_script(here):
    environment = installed("bash", here)
    assert (here / ".bashrc").exists()
    script = (
        f"source {here}/.bash_completions/manyview.sh\n"
        "COMP_WORDS=(manyview fit digits --method ssg) COMP_CWORD=4\n"
        '_manyview_completion manyview\nprintf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    run = subprocess.run(
        ["bash", "-c", script], env=environment, check=True, timeout=60, capture_output=True,
        text=True,
    )  # fmt: skip
    assert run.stdout == "ssgcn\n"


@pytest.mark.skipif(shutil.which("fish") is None, reason="needs fish")
def test_fish_completes_with_the_installed_script(here):
    environment = installed("fish", here)
    script = here / ".config" / "fish" / "completions" / "manyview.fish"
    lines = "source {}; complete -C 'manyview fit digits --method ssg'; complete -C {}"
    run = subprocess.run(
        ["fish", "--no-config", "-c", lines.format(script, "'manyview fit digi'")],
        env=environment, check=True, timeout=60, capture_output=True, text=True,
    )  # fmt: skip
    first, second = run.stdout.splitlines()
    assert first == "ssgcn"
    assert second.startswith("digits\t")


def test_names_of_parameters_are_those_of_the_methods():
    stored = json.loads((Path(manyview.cli.__file__).parent / "parameters.json").read_text())
    assert list(stored) == list(BUILT_IN)
    found = runpy.run_path(str(MAKING))["parameter_names"]()
    assert stored == found, "run docs/making/parameter_names.py"


def test_methods_of_other_packages_are_found_by_the_group_of_the_registry():
    assert METHOD_GROUP == ENTRY_POINTS


def test_only_listed_values_are_choices():
    assert list(choices_of("a|b")()) == ["a", "b"]
    assert choices_of("NAME") is None
