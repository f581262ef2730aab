"""`manyview tune`: what it prints, writes and refuses."""

import csv
import json

import pytest

from manyview.errors import InputError
from manyview.tuning import folds as folds_module
from manyview.tuning.tuned_data import read_params

GAMMA = "estimator__graph_learning__gamma"
KNN = ("--method", "knn", "--candidates", "4", "--label-ratio", "0.3")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch, shapes):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


def test_tune_prints_the_choice_the_defaults_and_the_next_command(manyview, here):
    code, out, err = manyview("tune", "shapes.npz", *KNN)
    assert code == 0
    assert "18 labels seen" in out
    assert "default  chosen" in out
    assert "defaults: " in err.splitlines()[0]
    folder = here / "tuning" / "shapes-knn-seed0"
    document = json.loads((folder / "tuning.json").read_text())
    assert document["method"] == "knn"
    assert set(document["best_params"]) == {"n_neighbors"}
    rows = list(csv.DictReader((folder / "candidates.csv").read_text().splitlines()))
    assert [row["candidate"] for row in rows if row["stage"] == "search"] == ["0", "1", "2", "3"]
    command = out.splitlines()[-1].split()
    assert command[:3] == ["manyview", "fit", "shapes.npz"]
    code, out, _ = manyview(*command[1:], "--no-report", "--out", "run")
    assert code == 0
    params = json.loads((here / "run" / "run.json").read_text())["params"]
    assert params["n_neighbors"] == document["best_params"]["n_neighbors"]


def test_tune_draws_the_importance_of_parameters(manyview, here, monkeypatch):
    def score(self, model):
        gamma = float(model.get_params()[GAMMA])
        return [1 / (1 + gamma) + 0.001 * fold for fold in range(5)]

    monkeypatch.setattr(folds_module.Folds, "score", score)
    options = ("--label-ratio", "0.3", "--candidates", "12", "-p", "max_epochs=1", "-p", "hidden=4")
    code, out, _ = manyview("tune", "shapes.npz", *options, "--json", "--out", "t")
    document = json.loads(out)
    assert code == 0
    assert next(iter(document["importance"])) == GAMMA
    assert document["best_params"][GAMMA] == 0.3
    assert "estimator__hidden" not in document["best_params"]
    assert (here / "t" / "importance.svg").read_text().count("<svg") == 1
    params = read_params(here / "t" / "tuning.json", "manyview")
    assert (params["hidden"], params[GAMMA]) == (4, 0.3)


def test_tune_with_few_labels_writes_the_defaults(manyview, here):
    code, out, _ = manyview("tune", "shapes.npz", "--method", "knn", "--label-ratio", "0.01")
    assert code == 0
    assert "a typical class has 1 labels" in " ".join(out.split())
    assert "--force" in out
    folder = here / "tuning" / "shapes-knn-seed0"
    assert json.loads((folder / "tuning.json").read_text())["stopped"] == "weak"
    assert not (folder / "candidates.csv").exists()


def test_interrupted_tune_keeps_its_candidates_and_continues(manyview, here, monkeypatch):
    manyview("tune", "shapes.npz", *KNN, "--out", "t", "--candidates", "2")

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(folds_module.Folds, "score", interrupt)
    code, out, err = manyview("tune", "shapes.npz", *KNN, "--out", "t")
    assert code == 130
    assert "the same command continues" in out
    assert "nothing was written" not in err
    monkeypatch.undo()
    monkeypatch.chdir(here)
    code, out, _ = manyview("tune", "shapes.npz", *KNN, "--out", "t")
    assert code == 0
    assert "4 configurations" in out


def test_interrupted_tune_says_what_is_kept(manyview, here, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(folds_module.Folds, "score", interrupt)
        code, out, err = manyview("tune", "shapes.npz", *KNN, "--out", "t")
    said = "Interrupted; no candidates are recorded in t. The same command continues.\n"
    assert (code, out, err) == (130, "", said)
    with monkeypatch.context() as patch:  # when all are scored, and the last model is fitted
        patch.setattr("manyview.tuning.search._result", interrupt)
        code, out, err = manyview("tune", "shapes.npz", *KNN, "--out", "t")
    assert (code, out) == (130, "")
    assert err.endswith(
        "Interrupted; 4 candidates are recorded in t. The same command continues.\n"
    )
    code, out, err = manyview("tune", "shapes.npz", *KNN, "--out", "t")
    assert (code, err) == (0, "")  # nothing was left to score
    assert "4 configurations" in out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--method", "knnn"), "Did you mean 'knn'?"),
        (("--scoring", "f1"), "--scoring must be one of"),
        (("--candidates", "0"), "--candidates must be a whole number of at least 1"),
        (("--method", "knn", "-p", "n_neighbors=3"), "must be left to tune"),
        (("--method", "mvar", "-p", "ridge=1"), "must be left to tune; all are fixed: ridge"),
    ],
)
def test_tune_refuses_with_one_line(manyview, options, message):
    code, out, err = manyview("tune", "shapes.npz", "--label-ratio", "0.3", *options)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_params_of_another_method_or_no_file_are_refused(manyview, here):
    manyview("tune", "shapes.npz", *KNN, "--out", "t", "--quiet")
    code, _, err = manyview("fit", "shapes.npz", "--params", "t/tuning.json")
    assert (code, err) == (
        2,
        "Error: t/tuning.json has parameters of knn, not of manyview. "
        "Name the method: --method knn\n",
    )
    with pytest.raises(InputError, match=r"no file .*tunin.json. Did you mean 'tuning.json'"):
        read_params(here / "t" / "tunin.json", "knn")
    (here / "list.json").write_text("[1]")
    with pytest.raises(InputError, match="must be a JSON object of parameters by name"):
        read_params(here / "list.json", "knn")
    (here / "half.json").write_text('{"a"')
    with pytest.raises(InputError, match="cannot be read as JSON"):
        read_params(here / "half.json", "knn")
    (here / "plain.json").write_text('{"n_neighbors": 3}')
    assert read_params(here / "plain.json", "knn") == {"n_neighbors": 3}
