"""`manyview propose`: what it prints, writes and refuses."""

import csv
import json

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch, shapes):
    monkeypatch.chdir(tmp_path)
    return tmp_path


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


def test_propose_refuses_too_many_samples_and_folders_without_a_run(manyview, here, run):
    code, out, err = manyview("propose", run, "-n", "999")
    assert (code, out) == (2, "")
    assert "-n must be at most the number of unlabeled samples, 54; got 999" in err
    assert "There is no run nowhere" in manyview("propose", "nowhere")[2]
    lines = (here / "run" / "predictions.csv").read_text().splitlines()
    (here / "run" / "predictions.csv").write_text("\n".join(lines[:-3]) + "\n")
    assert (
        "predictions.csv has 57 samples, but the model was fitted with 60"
        in manyview("propose", run)[2]
    )


def test_propose_takes_strings_as_labels(manyview, here, tiny_views):
    names = np.array(["hen", "cow", "pig"])[tiny_views.labels]
    np.savez(here / "farm.npz", **tiny_views.views, y=names)
    options = ("--method", "knn", "--label-ratio", "0.2", "--no-report", "--out", "farm")
    assert manyview("fit", "farm.npz", *options)[0] == 0
    out = manyview("propose", "farm", "-n", "2", "--strategy", "uncertainty")[1]
    assert any(name in out for name in ("hen", "cow", "pig"))
