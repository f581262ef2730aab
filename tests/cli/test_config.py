"""Options from manyview.toml and pyproject.toml."""

import json
from pathlib import Path

import pytest
import typer

from manyview.cli.app import app
from manyview.cli.config import Config, find_file, read_config

COMMAND = typer.main.get_command(app)


def write(folder, text, name="manyview.toml"):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    return folder / name


def defaults(here, text):
    write(here, text)
    return read_config(COMMAND).defaults


def test_without_a_file_nothing_is_set(here):
    assert read_config(COMMAND) == Config()


def test_options_go_to_every_verb_that_has_them(here):
    found = defaults(here, "seed = 3\njobs = 2\n")
    assert found["fit"] == found["tune"] == {"seed": 3}
    assert found["compare"] == {"seed": 3, "jobs": 2}
    assert found["bench"]["run"] == {"jobs": 2}
    assert found["predict"] == found["runs"]["diff"] == {}


def test_section_of_a_verb_overrides_common_options(here):
    found = defaults(here, "seed = 3\n[fit]\nseed = 4\n[bench.run]\njobs = 1\n")
    assert (found["fit"]["seed"], found["tune"]["seed"]) == (4, 3)
    assert found["bench"]["run"] == {"jobs": 1}
    assert found["bench"]["retry"] == {}


def test_section_of_a_group_is_for_all_its_verbs(here):
    found = defaults(here, "[bench]\njobs = 1\n[bench.retry]\njobs = 2\n")
    assert (found["bench"]["run"]["jobs"], found["bench"]["retry"]["jobs"]) == (1, 2)


def test_names_are_those_of_the_command_line(here):
    text = (
        "[fit]\nno_report = true\nlabel-ratio = 0.5\njson = true\n[bench.table]\nformat = 'csv'\n"
    )
    found = defaults(here, text)
    assert found["fit"] == {"no_report": True, "label_ratio": 0.5, "as_json": True}
    assert found["bench"]["table"] == {"style": "csv"}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("param = { hidden = 32, metric = 'cosine' }", ["hidden=32", "metric=cosine"]),
        ("param = ['hidden=32']", ["hidden=32"]),
        ("param = 'hidden=32'", ["hidden=32"]),
        ("param = { a = true, b = [1, 'two words'] }", ["a=true", 'b=[1, "two words"]']),
        ("columns = { zip = 'category' }", ["zip=category"]),
        ("labels = ['a.csv', 'b.csv']", ["a.csv", "b.csv"]),
    ],
)
def test_repeated_options_are_lists_or_tables(here, line, expected):
    assert list(defaults(here, f"[fit]\n{line}\n")["fit"].values()) == [expected]


def test_paths_start_at_the_file(here, monkeypatch):
    write(here, "data-dir = 'data'\n[fit]\nlabels = ['~/y.csv', 'y.csv']\nignore = ['z.csv']\n")
    (here / "sub").mkdir()
    monkeypatch.chdir(here / "sub")
    found = read_config(COMMAND).defaults["fit"]
    assert found == {
        "data_dir": str(here / "data"),
        "labels": ["~/y.csv", str(here / "y.csv")],
        "ignore": ["z.csv"],
    }


def test_nearest_file_counts_and_the_search_ends_at_a_project(here):
    outer = write(here, "seed = 1\n")
    inner = here / "a" / "b"
    inner.mkdir(parents=True)
    assert find_file(inner) == (outer, {"seed": 1})
    project = write(here / "a", "[project]\nname = 'x'\n", "pyproject.toml")
    assert find_file(inner) is None
    project.write_text("[tool.manyview]\nseed = 2\n")
    assert find_file(inner) == (project, {"seed": 2})
    nearest = write(here / "a", "seed = 3\n")
    assert find_file(inner) == (nearest, {"seed": 3})
    (inner / ".git").mkdir()
    assert find_file(inner) is None


def test_search_ends_at_the_home_folder(here, monkeypatch):
    write(here, "seed = 1\n")
    (here / "home" / "work").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(here / "home"))
    assert find_file(here / "home" / "work") is None
    file = write(here / "home", "seed = 2\n")
    assert find_file(here / "home" / "work") == (file, {"seed": 2})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("metod = 'x'", "FILE has 'metod', which is no verb or option. Did you mean 'method'?"),
        ("[fti]", "FILE has 'fti', which is no verb or option. Did you mean 'fit'?"),
        ("[fit]\nlable-ratio = 1", "[fit] of FILE has 'lable-ratio', which is no option. "
         "Did you mean 'label-ratio'?"),
        ("[bench.run]\njob = 1", "[run] of [bench] of FILE has 'job', which is no option. "
         "Did you mean 'jobs'?"),
        ("[methods]\nzzz = 1", "[methods] of FILE has 'zzz', which is no option. There are: json."),
        ("[fit]\ndata = 'x'", "[fit] of FILE has 'data', which is no option. "
         "Did you mean 'data-dir'?"),
        ("quiet = 1", "quiet of FILE must be true or false; got 1."),
        ("seed = true", "seed of FILE must be a value, not true or false; got True."),
        ("seed = [1]", "seed of FILE must be one value, not a list; got [1]."),
        ("[fit]\nseed = { a = 1 }", "seed of [fit] of FILE must be one value, not a table; "
         "got {'a': 1}."),
        ("fit = 1", "[fit] of FILE must be a table of options; got 1."),
        ("seed = ", "FILE is not TOML: Invalid value (at "),
        ("seed = 'x'", "Invalid value for '--seed'"),
    ],
)  # fmt: skip
def test_mistake_in_the_file_is_one_line(refused, here, shapes, text, message):
    file = write(here, text)
    line = refused("fit", shapes)
    assert line.startswith(message.replace("FILE", str(file)))


def test_value_of_the_wrong_kind_names_the_file_unless_it_is_typed(refused, here, shapes):
    file = write(here, "seed = 'x'\n")
    assert refused("fit", shapes).endswith(f" It is set in {file}.")
    assert refused("fit", shapes, "--seed", "y").endswith(" Try: manyview fit --help")


def test_fit_uses_the_file_and_the_command_line_wins(manyview, here, shapes):
    write(
        here,
        "label-ratio = 0.2\n[fit]\nmethod = 'knn'\nseed = 5\nout = 'first'\nno-report = true\n"
        "param = { n_neighbors = 3, scaling = 'unit' }\n",
    )
    assert manyview("fit", shapes, "-q") == (0, "", "")
    settings = json.loads((here / "first" / "run.json").read_text())["settings"]
    assert (settings["method"], settings["seed"], settings["label_ratio"]) == ("knn", 5, 0.2)
    assert settings["params"] == {"n_neighbors": 3, "scaling": "unit"}
    assert not (here / "first" / "report.html").exists()
    code, _, _ = manyview(
        "fit", shapes, "-q", "--seed", "6", "-p", "n_neighbors=4", "--out", "second"
    )
    settings = json.loads((here / "second" / "run.json").read_text())["settings"]
    assert (code, settings["seed"]) == (0, 6)
    assert settings["params"] == {"scaling": "unit", "n_neighbors": 4}


def test_verbose_names_the_file(manyview, here):
    assert manyview("datasets", "digits", "-v")[2] == "No configuration file was found.\n"
    file = write(here, "[tool.manyview]\nseed = 1\n", "pyproject.toml")
    line = f"Options are taken from {file}, unless the command line has them.\n"
    assert manyview("datasets", "digits", "-v")[2] == line
    assert manyview("-v", "datasets", "digits")[2] == line
    assert manyview("-v", "bench", "plans")[2] == line
    assert manyview("datasets", "digits")[2] == ""
    assert manyview("--no-config", "datasets", "digits", "-v")[2].startswith("No configuration")


def test_help_and_no_config_work_with_a_broken_file(manyview, refused, here):
    write(here, "seed = \n")
    refused("datasets")
    assert manyview("fit", "--help")[0] == 0
    assert manyview("--version")[0] == 0
    assert manyview("--no-config", "datasets", "digits")[0] == 0


def test_file_that_cannot_be_read_is_one_line(refused, here):
    (here / "manyview.toml").write_bytes(b"\xff")
    assert "manyview.toml is not TOML" in refused("datasets")


def test_every_common_option_means_one_thing(here):
    """An option of several verbs takes one value in all of them, or a list in all of them."""
    kinds: dict[str, set[bool]] = {}
    for name, verb in COMMAND.commands.items():
        for inner in getattr(verb, "commands", {name: verb}).values():
            for one in inner.params:
                if one.opts[0].startswith("--"):
                    kinds.setdefault(one.opts[0], set()).add(bool(one.multiple))
    assert {name for name, kind in kinds.items() if len(kind) > 1} <= {"--format"}
    assert Path.cwd() == here
