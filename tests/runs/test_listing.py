import json
import os

import pytest

from manyview.errors import DataFileError
from manyview.runs.fitting import fit_run
from manyview.runs.listing import AccuracyEstimate, list_runs, run_folders


def make_run(folder, seconds=0, **changes):
    record = {
        "format": "manyview run",
        "format_version": 2,
        "method": "knn",
        "params": {},
        "data": {"name": "a", "sha256": "0", "views": {}, "graphs": [], "n_samples": 9},
        "split": {"n_labeled": 3},
        "training": {"seconds": 1.5},
        "scores": None,
    }
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps(record | changes))
    os.utime(folder / "run.json", (1e9 + seconds, 1e9 + seconds))
    return folder


def test_a_fit_is_listed_with_its_facts(quick, tmp_path):
    run = fit_run(quick())
    (found,) = list_runs(tmp_path)
    assert found.folder == run.folder
    assert (found.data, found.method) == ("shapes", "manyview")
    assert (found.n_labeled, found.n_samples) == (12, 60)
    assert found.accuracy == run.scores.accuracy
    assert found.n_scored == 48
    assert found.seconds == run.training.seconds
    assert found.problem == ""
    assert json.loads(json.dumps(found.document()))["folder"] == str(run.folder)


def test_runs_are_found_three_folders_deep_and_newest_first(tmp_path):
    first = make_run(tmp_path / "a", 5)
    deep = make_run(tmp_path / "b" / "c" / "d", 7)
    make_run(tmp_path / "x" / "y" / "z" / "too-deep")
    make_run(tmp_path / ".hidden")
    make_run(first / "inside a run")
    assert [one.folder for one in list_runs(tmp_path)] == [deep, first]
    assert [one.folder for one in list_runs(first)] == [first]


@pytest.mark.parametrize(
    ("given", "estimate"),
    [
        (None, None),
        ({}, None),
        ({"accuracy": None}, None),
        ({"accuracy": "high"}, None),
        ({"accuracy": 0.9}, AccuracyEstimate(0.9)),
        (
            {"accuracy": {"value": 0.9, "low": 0.8, "high": 0.95}},
            AccuracyEstimate(0.9, 0.8, 0.95),
        ),
        ({"accuracy": {"value": 0.9}}, AccuracyEstimate(0.9)),
        ({"accuracy": {"low": 0.9}}, None),
    ],
)
def test_estimate_is_read_where_there_is_one(tmp_path, given, estimate):
    make_run(tmp_path / "a", estimate=given)
    assert list_runs(tmp_path)[0].estimate == estimate


@pytest.mark.parametrize(
    ("content", "words"),
    [("{", "damaged or cut short"), ("{}", "is not the record"), ("[]", "is not the record")],
)
def test_record_that_cannot_be_read_does_not_hide_the_others(tmp_path, content, words):
    good = make_run(tmp_path / "good", 1)
    (make_run(tmp_path / "bad", 0) / "run.json").write_text(content)
    by_folder = {one.folder.name: one for one in list_runs(tmp_path)}
    assert words in by_folder["bad"].problem
    assert by_folder["good"].folder == good


def test_facts_of_another_kind_are_left_out(tmp_path):
    make_run(tmp_path / "a", training=None, split=[], scores={"accuracy": True})
    (found,) = list_runs(tmp_path)
    assert (found.seconds, found.n_labeled, found.accuracy) == (None, None, None)


def test_folder_that_is_none_is_refused(tmp_path):
    (tmp_path / "file").touch()
    for name, words in {"none": "does not exist", "file": "is a file"}.items():
        with pytest.raises(DataFileError, match=rf"{name} {words}"):
            list_runs(tmp_path / name)
    assert list(run_folders(tmp_path / "none")) == []
