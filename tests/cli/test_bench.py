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


@pytest.fixture
def one_trial(tmp_path, shapes):
    """A plan of three trials of kNN, and its records."""
    file = tmp_path / "three.toml"
    file.write_text(
        f'title = "Three"\ndatasets = ["{shapes}"]\nlabel_ratios = [0.2]\nseeds = [0, 1, 2]\n'
        "[methods.knn]\n"
    )
    return file


def test_damaged_records_are_counted_by_every_verb_and_run_again(one_trial, manyview, tmp_path):
    store, plan = tmp_path / "store", one_trial
    assert manyview("bench", "run", plan, "--out", store, "--quiet", "--jobs", 1)[0] == 0
    code, out, err = manyview("bench", "check", store)
    assert (code, err) == (0, "")
    assert out == f"{store}/records.jsonl: 3 good, 0 without a checksum, 0 damaged, 0 foreign.\n"
    _, whole, err = manyview("bench", "table", plan, "--out", store)
    assert err == ""

    records = store / "records.jsonl"
    lines = records.read_bytes().splitlines(keepends=True)
    damaged = lines[1].replace(b'"seed":', b'"sead":')
    assert damaged != lines[1]
    foreign = b'{"key": "of another program"}\n'
    records.write_bytes(foreign + lines[0] + damaged + lines[2] + b'{"cut')
    said = [
        f"Note: 1 damaged line of {records} was skipped. `manyview bench run` runs the lost trials "
        "again, and only those.",
        f"Note: 1 line of {records} is no record of a trial and was skipped.",
        f"Note: The last line of {records} is cut off and was skipped. `manyview bench run` runs "
        "its trial again.",
    ]
    for verb in ("table", "status", "report"):
        code, out, err = manyview("bench", verb, plan, "--out", store)
        assert (code, err.splitlines()) == (0, said)
    assert "1 damaged line of" in (store / "three.html").read_text()
    code, out, err = manyview("bench", "status", plan, "--out", store, "--json")
    status = json.loads(out)
    assert (status["n_done"], status["n_damaged"], status["n_foreign"]) == (2, 1, 1)
    code, out, _ = manyview("bench", "check", store)
    assert code == 1
    assert "2 good, 0 without a checksum, 1 damaged, 1 foreign.\nThe last line is cut off" in out
    assert "only the trials that were lost with them run again" in out
    code, out, _ = manyview("bench", "check", store, "--json")
    assert (code, json.loads(out)["n_good"]) == (1, 2)

    code, out, err = manyview("bench", "run", plan, "--out", store, "--jobs", 1)
    assert code == 0
    assert "1 damaged line of" in err
    assert "went to damaged.jsonl; trials that were lost run again." in err
    assert err.count("shapes.npz knn 20%") == 1  # only the lost one
    assert (store / "damaged.jsonl").read_bytes() == damaged
    assert manyview("bench", "check", store)[0] == 0
    assert manyview("bench", "table", plan, "--out", store)[1] == whole


def test_check_refuses_a_folder_without_records(manyview, tmp_path):
    code, out, err = manyview("bench", "check", tmp_path)
    assert (code, out) == (2, "")
    assert f"There are no records in {tmp_path}: it has no file records.jsonl." in err


def test_records_that_cannot_be_read_are_one_line(one_trial, manyview, tmp_path):
    (tmp_path / "store" / "records.jsonl").mkdir(parents=True)
    for verb in ("table", "status", "report", "figures", "run"):
        code, out, err = manyview("bench", verb, one_trial, "--out", tmp_path / "store")
        assert (code, out) == (2, "")
        assert "cannot be read: Is a directory" in err
        assert err.count("\n") == 1


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
