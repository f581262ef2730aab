import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score

from manyview.errors import DataFileError
from manyview.runs.reading import read_record
from manyview.runs.records import csv_text, score

EVERY = np.ones(40, dtype=bool)


def test_scores_equal_those_of_scikit_learn(rng):
    truth, predictions = rng.integers(0, 3, 40), rng.integers(0, 3, 40)
    scores = score(predictions, truth, EVERY)
    assert scores.n_scored == 40
    assert scores.accuracy == accuracy_score(truth, predictions)
    assert scores.balanced_accuracy == pytest.approx(balanced_accuracy_score(truth, predictions))
    assert scores.macro_f1 == pytest.approx(f1_score(truth, predictions, average="macro"))


def test_scores_do_not_depend_on_the_kind_of_labels(rng):
    truth, predictions = rng.integers(0, 2, 40), rng.integers(0, 2, 40)
    expected = score(predictions, truth, EVERY)
    texts = np.array(["no", "yes"])
    assert score(texts[predictions], texts[truth].astype(object), EVERY) == expected
    assert score((predictions == 1).astype(object), truth == 1, EVERY) == expected


def test_only_known_samples_that_count_are_scored():
    truth = np.array(["a", None, "b", "b"], dtype=object)
    counts = np.array([False, True, True, True])
    scores = score(np.array(["b", "a", "b", "a"]), truth, counts)
    assert (scores.n_scored, scores.accuracy) == (2, 0.5)


def test_class_that_the_method_does_not_know_counts_as_wrong():
    predictions, truth = np.array([0, 0, 0, 1]), np.array([0, 0, 2, 2])
    assert score(predictions, truth, np.ones(4, dtype=bool)).balanced_accuracy == 0.5


@pytest.mark.parametrize("truth", [None, np.array([-1, -1])])
def test_without_a_truth_there_are_no_scores(truth):
    assert score(np.array([0, 1]), truth, np.ones(2, dtype=bool)) is None


def test_csv_quotes_what_needs_it():
    assert csv_text(("a", "b"), [(1, None), ('x,"y"', "é")]) == 'a,b\n1,\n"x,""y""",é\n'


GOOD = {
    "format": "manyview run",
    "format_version": 2,
    "method": "manyview",
    "params": {},
    "data": {"sha256": "0", "views": {"a": 1}, "graphs": []},
}


def test_record_is_read(tmp_path):
    (tmp_path / "run.json").write_text(json.dumps(GOOD))
    assert read_record(tmp_path) == GOOD


@pytest.mark.parametrize("name", ["method", "params", "data", "data.sha256", "data.views"])
@pytest.mark.parametrize("is_there", [True, False])
def test_damaged_key_is_named(tmp_path, name, is_there):
    record = json.loads(json.dumps(GOOD))
    *path, key = name.split(".")
    place = record["data"] if path else record
    if is_there:
        place[key] = 7
    else:
        place[key + "x"] = place.pop(key)
    (tmp_path / "run.json").write_text(json.dumps(record))
    with pytest.raises(DataFileError) as error:
        read_record(tmp_path)
    what = "not what a fit writes" if is_there else "missing"
    assert str(error.value) == (
        f"{tmp_path / 'run.json'} is damaged: {name} is {what}. Fit the model again."
    )


@pytest.mark.parametrize("content", [b"{", b"\xff", b"[" * 100_000])
def test_damaged_record_is_called_damaged(tmp_path, content):
    (tmp_path / "run.json").write_bytes(content)
    with pytest.raises(
        DataFileError, match=r"run\.json cannot be read: it is damaged or cut short"
    ):
        read_record(tmp_path)


def test_record_that_may_not_be_read_is_not_called_damaged(tmp_path, monkeypatch):
    (tmp_path / "run.json").write_text(json.dumps(GOOD))

    def deny(self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", deny)
    with pytest.raises(DataFileError) as error:
        read_record(tmp_path)
    assert str(error.value) == f"{tmp_path / 'run.json'} cannot be read: Permission denied."


def test_other_versions_are_refused_whatever_they_hold(tmp_path):
    (tmp_path / "run.json").write_text(json.dumps({**GOOD, "format_version": 1, "versions": 3}))
    with pytest.raises(DataFileError, match="has format version 1, this manyview reads version 2"):
        read_record(tmp_path)
