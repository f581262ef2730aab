"""The command line as a whole: help, lists, and one line per user error."""

import json
import shlex
import signal
import subprocess
import sys
from importlib.metadata import version

import numpy as np
import pytest
import typer

from manyview.cli.app import CLOSED_PIPE, USER_ERROR, app, as_typed, main
from manyview.cli.bench import DAMAGED
from manyview.data.catalog.cards import CATALOG
from manyview.distributed.launch import FAILED_ELSEWHERE
from manyview.errors import DataFileError, InputError
from manyview.estimators.manyview import ManyviewClassifier
from manyview.methods import METHODS

COMMAND = typer.main.get_command(app)
VERBS = [
    *((name,) for name in COMMAND.commands),
    *((group, name) for group in ("bench", "runs") for name in COMMAND.commands[group].commands),
]
# A command per block and the error it must print; without one, any single line.
ERRORS = """\
fit bbcsport
There is no file or folder 'bbcsport', and no data set of that name in the catalog.
Did you mean 'bbcsports'? `manyview datasets` lists the catalog.

fit mnist
Data set 'mnist' needs the file MNIST.mat. Set MANYVIEW_DATA, or pass data_dir= (--data-dir),
to the folder that holds it.

fit shapes.npz --method mgcndns
No method is named 'mgcndns'. Did you mean 'mgcn-dns'? The methods are: METHODS.

fit shapes.npz --method gcn
No method is named 'gcn'. Did you mean 'gcn-fusion'? The methods are: METHODS.

fti shapes.npz
No such command 'fti'. Did you mean 'fit'? Try: manyview --help

fit shapes.npz -p gamma
-p must be written as -p name=value; got 'gamma'.

fit shapes.npz -p gamma=-1
-p gamma must be above 0; got -1.

fit shapes.npz -p estimator__node_selection__tau=x
-p tau must be a number above 0; got 'x'.

fit shapes.npz --method mgcn-dns -p hidden=0
-p hidden must be a whole number of at least 1; got 0.

fit shapes.npz --label-ratio 1.5
--label-ratio must be above 0 and at most 1; got 1.5.

fit shapes.npz --abstain-below 80
--abstain-below must be a number from 0 to 1; got 80.0.

fit shapes.npz --calibrate
manyview's probabilities are calibrated by cross-fitting already: leave out --calibrate
(calibration), which is for the method mgcn-dns.

fit shapes.npz --method knn --calibrate
-p calibration: KNNClassifier has no parameter 'calibration'. It has: missing, n_neighbors,
random_state, scaling; nested ones are written as group__name.

explain nothing
There is no run nothing. `manyview fit DATA --out FOLDER` makes one.

fit shapes.npz --protocol randon
--protocol must be one of 'stratified', 'random'; got 'randon'. Did you mean 'random'?

fit shapes.npz --seed -1
--seed must be a whole number of at least 0; got -1.

fit shapes.npz --samples-in row
--samples-in must be one of 'rows', 'columns'; got 'row'. Did you mean 'rows'?

fit shapes.npz --id-column id
--id-column is for tables; got 'id' with shapes.npz.

fit digits --labels y.csv --id-column id
--labels and --id-column can only be used with files; 'digits' is a data set of the catalog.

fit shapes.npz --labels y.csv
There is no file or folder y.csv.

fit bare.npz
bare has no labels, but some are needed. Name them with --labels (a file of labels), --label-column
(a column of the tables or of .obs) or --labels-key (a variable of a .mat or .npz file).

fit shapes.npz --labels-key gt
shapes.npz has no array 'gt'; it has 'shape', 'color' and 'y'. Pass --labels-key 'y'.

fit half.npz

fit shapes.npz --out full
The output folder full exists and is not empty. Remove it, or name another with --out.

predict nothing shapes.npz
There is no run nothing. `manyview fit DATA --out FOLDER` makes one.

predict full shapes.npz
full is not the folder of a run: it has no run.json.

predict full shapes.npz --out none/a.csv
There is no folder none to write a.csv in.

datasets minst
No data set is named 'minst'. Did you mean 'mnist'? `manyview datasets` lists them all.

fit
Missing argument 'DATA'. Try: manyview fit --help

fit digits --lable-ratio 1

fot

fit digits --seed x
"""
ERROR_BY_COMMAND = dict(block.partition("\n")[::2] for block in ERRORS.split("\n\n"))


def test_datasets_lists_the_catalog(manyview, here):
    (here / "MNIST.mat").touch()
    code, out, err = manyview("datasets", "--data-dir", here)
    assert (code, err) == (0, "")
    here_by_name = {line.split()[0]: line.split()[-1] for line in out.splitlines()[1:]}
    assert here_by_name.keys() == CATALOG.keys()
    assert {name for name, is_here in here_by_name.items() if is_here == "yes"} == {
        "digits",
        "mnist",
    }


def test_datasets_shows_details_of_one(manyview):
    code, out, _ = manyview("datasets", "Caltech-all")
    assert code == 0
    assert out.startswith("Name          caltech101-all: Caltech101-all\n")
    assert CATALOG["caltech101-all"].sha256 in out


def test_datasets_prints_json(manyview):
    documents = json.loads(manyview("datasets", "--json")[1])
    assert [document["name"] for document in documents] == list(CATALOG)
    document = json.loads(manyview("datasets", "mnist", "--json")[1])
    assert (document["n_samples"], document["here"]) == (2000, False)
    assert document["defects"] == list(CATALOG["mnist"].defects)


def test_methods_are_listed_with_the_default_first(manyview):
    code, out, err = manyview("methods")
    assert (code, err) == (0, "")
    assert out.startswith("manyview ")
    documents = json.loads(manyview("methods", "--json")[1])
    assert [document["name"] for document in documents] == list(METHODS)
    assert json.loads(manyview("methods", "mgcn-dns", "--json")[1]) == documents[1]


def test_version_is_that_of_the_package(manyview):
    assert manyview("--version") == (0, f"manyview {version('manyview')}\n", "")


@pytest.mark.parametrize("arguments", [(), ("--help",), ("-h",)])
def test_help_lists_the_verbs(manyview, arguments):
    code, out, err = manyview(*arguments)
    assert (code, err) == (0, "")
    for verb in ("fit", "predict", "datasets"):
        assert f"\n  {verb} " in out


@pytest.mark.parametrize("columns", [80, 100, 120])
@pytest.mark.parametrize("verb", [(), *VERBS])
def test_help_is_not_cut_off_and_ends_with_two_examples(manyview, monkeypatch, verb, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    code, out, err = manyview(*verb, "--help")
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= columns
    text, _, examples = out.partition("\n  Examples:\n")
    examples = examples.partition("\n\n")[0]  # exit codes may follow
    assert "…" not in text
    assert "..." not in text.partition("\n")[2]  # the first line may have DATA...
    commands = [shlex.split(line) for line in examples.splitlines()]
    assert len(commands) == 2
    for program, *arguments in commands:
        assert program == "manyview"
        command = COMMAND
        while arguments and arguments[0] in getattr(command, "commands", {}):
            command = command.commands[arguments.pop(0)]
        if arguments != ["--help"]:
            command.make_context("manyview", arguments)  # it parses


@pytest.mark.parametrize("verb", ["fit", "predict", "datasets"])
def test_help_of_a_verb_lists_its_options(manyview, verb):
    code, out, _ = manyview(verb, "--help")
    assert code == 0
    assert "--json" in out
    assert "--verbose" in out
    assert "completion" not in out  # an option of the whole command line


def test_help_lists_the_exit_codes_that_are_used(manyview):
    codes = manyview("--help")[1].partition("Exit codes:\n")[2]
    listed = {int(word) for line in codes.splitlines() for word in line[:17].split()}
    interrupts = {128 + getattr(signal, name) for name in ("SIGHUP", "SIGINT", "SIGTERM")}
    assert listed == {0, DAMAGED, USER_ERROR, FAILED_ELSEWHERE, CLOSED_PIPE, *interrupts}


def test_help_does_not_wait_for_torch():
    script = (
        "import sys\n"
        "from manyview.cli.app import main\n"
        "try:\n    main(['fit', '--help'])\n"
        "except SystemExit:\n    pass\n"
        "print({'torch', 'sklearn', 'scipy', 'numpy', 'rich'} & sys.modules.keys())"
    )
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert run.stdout.endswith("set()\n")


@pytest.mark.parametrize("command", ERROR_BY_COMMAND)
def test_user_error_is_one_line(refused, shapes, here, tiny_views, command):
    np.savez(here / "bare.npz", **tiny_views.views)
    (here / "half.npz").write_bytes((here / shapes).read_bytes()[:500])
    (here / "full").mkdir()
    (here / "full" / "a.txt").touch()
    before = sorted(here.rglob("*"))
    message = " ".join(ERROR_BY_COMMAND[command].split()).replace("METHODS", ", ".join(METHODS))
    line = refused(*shlex.split(command))
    assert message in ("", line)
    assert sorted(here.rglob("*")) == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("fit", "digits", "--lable-ratio", "1"), "--label-ratio"),
        (("fot",), "fit"),
        (("fit", "digits", "--seed", "x"), "--seed"),
        (("fit", "shapes.npz", "-p", "n_neighbor=3"), "Did you mean 'n_neighbors'? It has: "),
    ],
)
def test_misspelling_is_answered_with_the_right_word(refused, shapes, arguments, words):
    assert words in refused(*arguments)


def test_hints_for_ambiguous_tables_name_options(refused, here):
    (here / "a.csv").write_text("name,x,label,class\nu,1,a,b\nv,2,b,b\n")
    assert refused("fit", "a.csv").endswith(
        "Pass --label-column 'label' or --label-column 'class'."
    )


@pytest.mark.parametrize(
    ("verb", "error", "line"),
    [
        ("fit", InputError("tau must be above 0.", parameter="node_selection__tau"),
         "-p tau must be above 0."),
        ("fit", InputError("metric must be a name.", parameter="graph__metric"),
         "-p metric must be a name."),
        ("bench table", InputError("metric must be a name.", parameter="metric"),
         "--metric must be a name."),
        ("fit", InputError("there is no tau.", parameter="tau"), "-p tau: there is no tau."),
        ("propose", InputError("n must be at least 1.", parameter="n"), "-n must be at least 1."),
        ("tune", InputError("n_candidates must be at least 1.", parameter="n_candidates"),
         "--candidates must be at least 1."),
        ("fit", InputError("tau must be above 0."), "tau must be above 0."),
        ("fit", DataFileError("No ids. Pass id_column= to name it, or labels='y.csv'."),
         "No ids. Pass --id-column to name it, or --labels 'y.csv'."),
        ("fit", DataFileError("Pass label_column=."), "Pass --label-column."),
    ],
)  # fmt: skip
def test_parameters_are_named_as_typed(verb, error, line):
    assert as_typed(error, [*verb.split(), "x"]) == line


def test_internal_error_keeps_its_traceback(shapes, monkeypatch):
    def fail(self, views, labels):
        raise RuntimeError("our mistake")

    monkeypatch.setattr(ManyviewClassifier, "fit", fail)
    with pytest.raises(RuntimeError, match="our mistake"):
        main(["fit", shapes, "--label-ratio", "0.2"])


def test_module_runs_as_the_command_does():
    run = subprocess.run(
        [sys.executable, "-m", "manyview", "fit"], capture_output=True, text=True, timeout=60
    )
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == "Error: Missing argument 'DATA'. Try: manyview fit --help\n"


def test_paths_that_name_no_file_are_one_line(manyview, tmp_path):
    for data, words in {
        "": "a path must name a file or a folder; got an empty text",
        "~nosuchuser/a.npz": "of a user who does not exist",
        "a" * 300 + ".npz": "cannot be opened: File name too long",
    }.items():
        code, _, err = manyview("fit", data)
        assert code == 2
        assert words in err
        assert err.count("\n") == 1


def test_a_data_folder_that_cannot_be_read_is_one_line(manyview, tmp_path, monkeypatch):
    (tmp_path / "loop").symlink_to("loop")
    monkeypatch.setenv("MANYVIEW_DATA", str(tmp_path / "loop"))
    for verb in (["datasets"], ["fit", "bbcsports"]):
        code, _, err = manyview(*verb)
        assert code == 2
        assert "cannot be opened: Too many levels of symbolic links" in err
        assert err.count("\n") == 1
