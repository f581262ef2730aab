import shlex
from dataclasses import replace
from pathlib import Path

import pytest
import typer

from manyview.cli.app import app
from manyview.data.io.reading import ReadOptions
from manyview.errors import DataFileError
from manyview.report.commands import add_labels_command, fit_command, settings_lines
from manyview.runs.settings import RunSettings, parse_params
from manyview.runs.sources import DataSource

FULL = RunSettings(
    DataSource(
        ("my images.csv", "b.csv"),
        ["y 1.csv", "y2.csv"],
        options=ReadOptions(id_column="id", columns=["zip=category"], missing="impute"),
    ),
    method="knn",
    params={"missing": "impute"},
    label_ratio=0.5,
    protocol="random",
    seed=3,
)


def test_command_parses_to_the_settings_it_was_made_from():
    program, verb, *words = shlex.split(fit_command(FULL, Path("tuned here/tuning.json")))
    assert (program, verb) == ("manyview", "fit")
    values = typer.main.get_command(app).commands["fit"].make_context("fit", words).params
    assert list(values["data"]) == ["my images.csv", "b.csv"]
    assert list(values["labels"]) == ["y 1.csv", "y2.csv"]
    assert list(values["columns"]) == ["zip=category"]
    assert (values["id_column"], values["missing"]) == ("id", "impute")
    assert (values["label_ratio"], values["protocol"], values["seed"]) == (0.5, "random", 3)
    assert values["method"] == "knn"
    assert values["params"] == Path("tuned here/tuning.json")


def test_command_with_more_labels_repeats_parameters_once():
    params = {"missing": "impute", "n_neighbors": 5, "class_weight": {"cow": 2.5, 7: 1}, "p": None}
    asked = replace(FULL, label_ratio=None, params=params)
    command = add_labels_command(asked, Path("a run/next.csv"), Path("a run-2"))
    assert command.count("impute") == 1
    _, verb, *words = shlex.split(command)
    values = typer.main.get_command(app).commands[verb].make_context(verb, words).params
    assert list(values["labels"]) == ["y 1.csv", "y2.csv", "a run/next.csv"]
    assert str(values["out"]) == "a run-2"
    assert parse_params(values["param"]) == {
        name: value for name, value in params.items() if name != "missing"
    }


def test_defaults_are_left_out():
    assert fit_command(RunSettings(DataSource(("digits",)))) == "manyview fit digits"


def test_lines_name_paths_options_and_parameters(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.npz").touch()
    settings = RunSettings(
        DataSource(("a.npz",), options=ReadOptions(labels_key="y")), params={"tau": 0.5}, seed=2
    )
    assert settings_lines(settings) == [
        f"Data: {tmp_path.resolve() / 'a.npz'} (labels_key=y)",
        "Method: manyview, with tau=0.5; seed 2",
    ]
    with pytest.raises(DataFileError, match="no file or folder"):
        settings_lines(RunSettings(DataSource(("none.npz",))))
