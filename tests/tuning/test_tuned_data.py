"""`manyview tune` and `manyview propose`: what they print, write and refuse."""

import csv
import json

import numpy as np
import pytest

from manyview.errors import InputError
from manyview.tuning import folds as folds_module
from manyview.tuning.tuned_data import read_params

KNN = ("--method", "knn", "--trials", "4", "--label-ratio", "0.3")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch, shapes):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


def test_tune_prints_the_choice_beside_the_defaults_and_the_next_command(manyview, here):
    code, out, err = manyview("tune", "shapes.npz", *KNN)
    assert code == 0
    assert "18 labels seen" in out
    assert "default  chosen" in out
    assert "defaults: " in err.splitlines()[0]
    folder = here / "tuning" / "shapes-knn-seed0"
    document = json.loads((folder / "tuning.json").read_text())
    assert document["method"] == "knn"
    assert set(document["best_params"]) == {"n_neighbors"}
    rows = list(csv.DictReader((folder / "trials.csv").read_text().splitlines()))
    assert [row["trial"] for row in rows if row["stage"] == "search"] == ["0", "1", "2", "3"]
    command = out.splitlines()[-1].split()
    assert command[:3] == ["manyview", "fit", "shapes.npz"]
    code, out, _ = manyview(*command[1:], "--no-report", "--out", "run")
    assert code == 0
    params = json.loads((here / "run" / "run.json").read_text())["params"]
    assert params["n_neighbors"] == document["best_params"]["n_neighbors"]


def test_tune_draws_what_mattered(manyview, here, monkeypatch):
    def score(self, model):
        return [1 / (1 + float(model.get_params()["gamma"])) + 0.001 * fold for fold in range(5)]

    monkeypatch.setattr(folds_module.Folds, "score", score)
    options = ("--label-ratio", "0.3", "--trials", "12", "-p", "max_epochs=1", "-p", "hidden=4")
    code, out, _ = manyview("tune", "shapes.npz", *options, "--json", "--out", "t")
    document = json.loads(out)
    assert code == 0
    assert next(iter(document["importance"])) == "gamma"
    assert document["best_params"]["gamma"] == 0.3
    assert "hidden" not in document["best_params"]
    assert (here / "t" / "importance.svg").read_text().count("<svg") == 1
    params = read_params(here / "t" / "tuning.json", "mgcn-dns")
    assert (params["hidden"], params["gamma"]) == (4, 0.3)


def test_tune_of_few_labels_says_so_and_writes_the_defaults(manyview, here):
    code, out, _ = manyview("tune", "shapes.npz", "--method", "knn", "--label-ratio", "0.01")
    assert code == 0
    assert "a typical class has 1 labels" in " ".join(out.split())
    assert "--force" in out
    folder = here / "tuning" / "shapes-knn-seed0"
    assert json.loads((folder / "tuning.json").read_text())["stopped"] == "weak"
    assert not (folder / "trials.csv").exists()


def test_interrupted_tune_keeps_its_trials_and_goes_on(manyview, here, monkeypatch):
    manyview("tune", "shapes.npz", *KNN, "--out", "t", "--trials", "2")

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(folds_module.Folds, "score", interrupt)
    code, out, err = manyview("tune", "shapes.npz", *KNN, "--out", "t")
    assert code == 130
    assert "the same command goes on" in out
    assert "nothing was written" not in err
    monkeypatch.undo()
    monkeypatch.chdir(here)
    code, out, _ = manyview("tune", "shapes.npz", *KNN, "--out", "t")
    assert code == 0
    assert "4 configurations" in out


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--method", "knnn"), "Did you mean 'knn'?"),
        (("--scoring", "f1"), "scoring must be one of"),
        (("--trials", "0"), "n_trials must be a whole number of at least 1"),
        (("--method", "knn", "-p", "n_neighbors=3"), "must be left to tune"),
        (
            (
                "--method",
                "mvar",
            ),
            "There is no space for mvar",
        ),
    ],
)
def test_tune_refuses_with_one_line(manyview, options, told):
    code, out, err = manyview("tune", "shapes.npz", "--label-ratio", "0.3", *options)
    assert (code, out) == (2, "")
    assert told in err
    assert err.count("\n") == 1


def test_params_of_another_method_or_no_file_are_refused(manyview, here):
    manyview("tune", "shapes.npz", *KNN, "--out", "t", "--quiet")
    code, _, err = manyview("fit", "shapes.npz", "--params", "t/tuning.json")
    assert (code, err) == (
        2,
        "Error: t/tuning.json holds parameters of knn, not of mgcn-dns. "
        "Name the method: --method knn\n",
    )
    with pytest.raises(InputError, match=r"no file .*tunin.json. Did you mean 'tuning.json'"):
        read_params(here / "t" / "tunin.json", "knn")
    (here / "list.json").write_text("[1]")
    with pytest.raises(InputError, match="must hold parameters by name; got list"):
        read_params(here / "list.json", "knn")
    (here / "half.json").write_text('{"a"')
    with pytest.raises(InputError, match="cannot be read as JSON"):
        read_params(here / "half.json", "knn")
    (here / "plain.json").write_text('{"n_neighbors": 3}')
    assert read_params(here / "plain.json", "knn") == {"n_neighbors": 3}


@pytest.fixture
def run(manyview):
    options = ("--label-ratio", "0.1", "-p", "max_epochs=3", "--no-report", "--out", "run")
    assert manyview("fit", "shapes.npz", *options)[0] == 0
    return "run"


def test_propose_names_samples_and_writes_a_table_to_fill_in(manyview, here, run, tiny_views):
    code, out, _ = manyview("propose", run, "-n", "5", "--out", "next.csv")
    rows = list(csv.DictReader((here / "next.csv").read_text().splitlines()))
    assert code == 0
    assert len(rows) == 5
    assert all(row["sample_id"] in out and row["label"] == "" for row in rows)
    predictions = csv.DictReader((here / "run" / "predictions.csv").read_text().splitlines())
    known = {row["sample_id"] for row in predictions if row["known"] == "known"}
    assert not known & {row["sample_id"] for row in rows}
    document = json.loads(manyview("propose", run, "-n", "5", "--json")[1])
    assert [one["sample_id"] for one in document["samples"]] == [row["sample_id"] for row in rows]


def test_propose_refuses_more_than_there_are_and_folders_that_are_no_run(manyview, here, run):
    code, out, err = manyview("propose", run, "-n", "999")
    assert (code, out) == (2, "")
    assert "at most the number of unlabeled samples, 54; got 999" in err
    assert "There is no run nowhere" in manyview("propose", "nowhere")[2]
    lines = (here / "run" / "predictions.csv").read_text().splitlines()
    (here / "run" / "predictions.csv").write_text("\n".join(lines[:-3]) + "\n")
    assert "was changed or cut short" in manyview("propose", run)[2]


def test_propose_takes_texts_as_labels(manyview, here, tiny_views):
    names = np.array(["hen", "cow", "pig"])[tiny_views.labels]
    np.savez(here / "farm.npz", **tiny_views.views, y=names)
    options = ("--method", "knn", "--label-ratio", "0.2", "--no-report", "--out", "farm")
    assert manyview("fit", "farm.npz", *options)[0] == 0
    out = manyview("propose", "farm", "-n", "2", "--strategy", "uncertainty")[1]
    assert any(name in out for name in ("hen", "cow", "pig"))
