"""`manyview audit`: what it prints, writes and refuses, and what a fit and its report say of it."""

import csv
import json

import numpy as np
import pytest

N_WRONG = 8


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two tables of 150 samples in three clear groups; 90 have a label, of which 8 are wrong."""
    here = tmp_path_factory.mktemp("audit")
    rng = np.random.default_rng(0)
    truth = np.arange(150) % 3
    names = np.array(["cow", "hen", "pig"])
    for view, n_columns in (("shape", 5), ("sound", 4)):
        centers = 3 * rng.normal(size=(3, n_columns))
        values = centers[truth] + rng.normal(size=(150, n_columns))
        rows = [["id", *[f"{view}{k}" for k in range(n_columns)]]]
        rows += [[f"s{row}", *values[row]] for row in range(150)]
        (here / "data").mkdir(exist_ok=True)
        with (here / "data" / f"{view}.csv").open("w", newline="") as file:
            csv.writer(file).writerows(rows)
    given = truth.copy()
    given[:N_WRONG] = (truth[:N_WRONG] + 1) % 3
    with (here / "labels.csv").open("w", newline="") as file:
        rows = [["id", "label"], *([f"s{row}", names[given[row]]] for row in range(90))]
        csv.writer(file).writerows(rows)
    return here


@pytest.fixture
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "100")
    return folder


@pytest.fixture
def run(manyview, here):
    if not (here / "run").exists():
        assert manyview("fit", "data", "--labels", "labels.csv", "--out", "run")[0] == 0
    return "run"


def test_audit_lists_the_wrong_labels_first_with_the_right_class(manyview, here, run):
    code, out, err = manyview("audit", run, "--out", "doubts.csv")
    assert (code, err) == (0, "")
    assert f"{N_WRONG} of 90 given labels are more probably wrong than right" in out
    rows = list(csv.DictReader((here / "doubts.csv").read_text().splitlines()))
    assert len(rows) == 90
    assert {row["sample_id"] for row in rows[:N_WRONG]} == {f"s{row}" for row in range(N_WRONG)}
    truth = {f"s{row}": ["cow", "hen", "pig"][row % 3] for row in range(150)}
    assert all(row["suggested"] == truth[row["sample_id"]] for row in rows[:N_WRONG])
    assert all(row["given"] != row["suggested"] for row in rows)
    assert float(rows[0]["probability_wrong"]) > 0.9 > 0.1 > float(rows[-1]["probability_wrong"])
    document = json.loads(manyview("audit", run, "--json")[1])
    assert document["n_suspicious"] == N_WRONG
    low, high = document["wrong_interval"]
    assert low < N_WRONG / 90 < high
    assert [one["sample_id"] for one in document["labels"]] == [row["sample_id"] for row in rows]


def test_fit_and_report_name_doubted_labels(manyview, here, run):
    options = ("--labels", "labels.csv", "-p", "label_audit=report", "--out", "again")
    out = manyview("fit", "data", *options)[1]
    words = " ".join(out.split())
    assert f"{N_WRONG} of 90 given labels look wrong (manyview audit again)" in words
    assert "-p label_audit=leave-out trains without them" in words
    record = json.loads((here / "again" / "run.json").read_text())
    assert record["audit"]["n_suspicious"] == N_WRONG
    assert record["audit"]["n_left_out"] == 0
    page = (here / "again" / "report.html").read_text()
    assert "Labels worth a second look" in page


def test_leaving_labels_out_is_recorded_and_right(manyview, here):
    options = ("--labels", "labels.csv", "--out", "cleaned")
    code, out, _ = manyview("fit", "data", *options)
    assert code == 0
    assert f"{N_WRONG} were left out" in " ".join(out.split())
    rows = csv.DictReader((here / "cleaned" / "predictions.csv").read_text().splitlines())
    predicted = {row["sample_id"]: row["label"] for row in rows}
    names = ["cow", "hen", "pig"]
    assert all(predicted[f"s{row}"] == names[row % 3] for row in range(N_WRONG))


def test_audit_never_replaces_what_someone_may_have_edited(manyview, here, run):
    (here / "mine.csv").write_text("sample_id,note\ns1,look again\n")
    code, _, err = manyview("audit", run, "--out", "mine.csv")
    assert code == 2
    assert "mine.csv exists with other content and stays as it is" in err
    assert (here / "mine.csv").read_text() == "sample_id,note\ns1,look again\n"
    assert manyview("audit", run, "--out", "own.csv")[0] == 0
    out = manyview("audit", run, "--out", "own.csv")[1]
    assert "own.csv (replaced)" in out
    noted = (here / "own.csv").read_text().replace("hen", "cow", 1)  # within the same columns
    (here / "own.csv").write_text(noted)
    assert manyview("audit", run, "--out", "own.csv")[0] == 2
    assert (here / "own.csv").read_text() == noted


def test_models_without_an_audit_are_refused_with_the_way_out(manyview, here):
    options = ("--labels", "labels.csv", "--no-report")
    manyview("fit", "data", *options, "-p", "label_audit=none", "--out", "none")
    manyview("fit", "data", *options, "--method", "knn", "--out", "knn")
    for name in ("none", "knn"):
        code, out, err = manyview("audit", name)
        assert (code, out) == (2, "")
        assert f"The model of {name} has no label audit." in err
    assert "There is no run nowhere" in manyview("audit", "nowhere")[2]


def test_labels_that_agree_are_not_doubted(manyview, here):
    text = (here / "labels.csv").read_text().splitlines()
    (here / "right.csv").write_text("\n".join([text[0], *text[1 + N_WRONG :]]) + "\n")
    out = manyview("fit", "data", "--labels", "right.csv", "--no-report", "--out", "right")[1]
    assert "look wrong" not in out
    assert "no reason to doubt the 82 given labels" in " ".join(
        manyview("audit", "right")[1].split()
    )
