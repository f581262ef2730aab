"""`manyview bench`: a plan from its first run to its page, and user errors."""

import json

import pytest

PLAN = """
title = "Tiny study"
about = "For tests."
datasets = ["{data}", "nus-wide"]
label_ratios = [0.2]
seeds = [0, 1]

[methods.knn]
[methods.svm]
[methods.mgcn-dns]
params = { tau = -1.0 }

[paper.nus-wide]
knn = { "0.2" = [32.7, 2.9] }
"""
TOGETHER = "--engine dask and --scheduler must be given together"


@pytest.fixture
def plan(tmp_path, shapes):
    file = tmp_path / "tiny.toml"
    file.write_text(PLAN.replace("{data}", str(shapes)))
    return file


def test_study_from_its_run_to_its_page(plan, tmp_path, manyview, monkeypatch):
    monkeypatch.delenv("MANYVIEW_DATA", raising=False)
    store = ("--out", tmp_path / "store")
    code, out, err = manyview("bench", "run", plan, *store, "--jobs", 1)
    assert code == 0
    assert "4 of 6 trials are done, 2 failed" in out
    assert "Skipped nus-wide: Data set 'nus-wide' needs the file" in err
    assert "shapes.npz knn 20% seed 0" in err
    assert "tau must be above 0; got -1.0. (2 times)" in " ".join(out.split())
    page = (tmp_path / "store" / "tiny.html").read_text()
    assert "Tiny study" in page

    code, out, _ = manyview("bench", "status", plan, *store, "--json")
    status = json.loads(out)
    assert (status["n_done"], status["n_failed"], status["n_open"]) == (4, 2, 0)
    assert list(status["skipped"]) == ["nus-wide"]

    code, out, _ = manyview("bench", "retry", plan, "--failed", *store, "--jobs", 1)
    assert code == 0
    assert "4 of 6 trials are done, 2 failed" in out

    for style, sign in (("text", "KNN"), ("markdown", "| --- |"), ("latex", r"\toprule")):
        code, out, _ = manyview("bench", "table", plan, *store, "--format", style)
        assert code == 0
        assert sign in out
        assert "32.7" in out  # the paper's column stays although the data are missing
    file = tmp_path / "table.csv"
    manyview("bench", "table", plan, *store, "--format", "csv", "--file", file)
    assert file.read_text().count("\n") >= 3

    code, out, _ = manyview(
        "bench", "figures", plan, *store, "--to", tmp_path / "figures", "--format", "svg"
    )
    assert code == 0
    assert all(line.endswith(".svg") for line in out.split())

    code, out, _ = manyview("bench", "report", plan, *store)
    assert out.strip() == str(tmp_path / "store" / "tiny.html")


def test_plans_are_listed(manyview):
    code, out, _ = manyview("bench", "plans")
    assert code == 0
    assert "accuracy" in out
    assert "1,350" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "acuracy"], "There is no plan 'acuracy', and no file of that name. Did you mean"),
        (["retry", "quick"], "name the trials to run again: --failed"),
        (["status", "quick", "--out", "nowhere"], "There is no folder nowhere. Run the plan first"),
        (["run", "quick", "--engine", "ray"], "--engine must be one of 'local', 'dask'; got 'ray'"),
        (
            ["run", "quick", "--engine", "dask"],
            TOGETHER,
        ),
        (
            ["run", "quick", "--scheduler", "tcp://x:1"],
            TOGETHER,
        ),
        (["run", "quick", "--jobs", "-1"], "--jobs must be a whole number of at least 0; got -1"),
        (["run", "quick", "--minutes", "0"], "--minutes must be above 0; got 0.0"),
        (["run", "quick", "--memory", "-2"], "--memory must be above 0; got -2.0"),
        (["run", "quick", "--shard", "3/2"], "--shard i/n must have 1 <= i <= n; got '3/2'"),
        (["table", "quick", "--out", ".", "--format", "word"], "got 'word'"),
        (["table", "quick", "--out", ".", "--metric", "luck"], "got 'luck'"),
    ],
)
def test_user_error_is_one_line(arguments, message, manyview, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = manyview("bench", *arguments)
    assert code == 2
    assert out == ""
    assert message in err
    assert err.count("\n") == 1
    assert err.startswith("Error: ")
