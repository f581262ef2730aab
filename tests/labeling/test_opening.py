"""Opening a session: which labels it starts with, and which folders it refuses."""

import json

import numpy as np
import pytest

from manyview.errors import DataFileError, InputError
from manyview.labeling import opening
from manyview.labeling.opening import LabelingSettings, closing_lines, start_labeling
from manyview.runs.settings import RunSettings
from manyview.runs.sources import DataSource


class NoService:
    """A service that learns nothing."""

    def __init__(self, data, session, images, params, *, hidden=None):
        self.session, self.params, self.hidden = session, params, hidden


@pytest.fixture
def start(monkeypatch, tmp_path, tiny_dataset):
    monkeypatch.setattr(opening, "Service", NoService)
    opened = []

    def start_session(out="run", *, data=tiny_dataset, hides=False, classes=(), **run):
        settings = RunSettings(DataSource(()), out=tmp_path / out, **run)
        found = start_labeling(LabelingSettings(settings, classes), data, hides_labels=hides)
        opened.append(found.service.session)
        return found.service

    yield start_session
    for session in opened:
        session.journal.close()


def test_own_labels_are_taken_over(start, shared_views):
    service = start()
    assert len(service.session.labels) == 60
    assert service.session.classes == ["0", "1", "2"]
    assert service.hidden is None


def test_hidden_labels_name_the_classes_and_measure(start):
    service = start(hides=True, classes=("smudge",))
    assert service.session.labels == {}
    assert service.session.classes == ["smudge", "0", "1", "2"]
    assert len(service.hidden) == 60


def test_a_ratio_shows_some_labels(start):
    service = start(label_ratio=0.1, hides=True)
    assert len(service.session.labels) == 6
    assert len(service.hidden) == 60


def test_parameters_reach_the_model(start):
    assert start(params={"hidden": 16}, seed=3).params == {
        "random_state": 3,
        "label_audit": "report",  # the person decides about doubtful labels
        "estimator__hidden": 16,
    }
    strict = start("strict", params={"label_audit": "leave-out"})
    assert strict.params["label_audit"] == "leave-out"
    with pytest.raises(InputError, match="warm_start is always on"):
        start("other", params={"warm_start": True})


def test_folders_of_something_else_are_refused(start, tmp_path, tiny_dataset):
    from dataclasses import replace

    start("mine").session.journal.close()
    other = replace(tiny_dataset, sha256="0" * 64)
    with pytest.raises(DataFileError, match="holds labels of other data"):
        start("mine", data=other)
    (tmp_path / "file").touch()
    with pytest.raises(DataFileError, match="must be a folder"):
        start("file")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").touch()
    with pytest.raises(DataFileError, match="is not empty"):
        start("full")
    (tmp_path / "full" / "run.json").write_text(json.dumps({}))
    with pytest.raises(DataFileError, match="holds a run of `manyview fit`"):
        start("full")


def test_classes_are_in_the_order_of_numbers(start, tiny_dataset):
    from dataclasses import replace

    labels = np.where(np.arange(60) % 2, 10, 9)
    assert start(data=replace(tiny_dataset, labels=labels)).session.classes == ["9", "10"]


def test_the_end_names_what_is_left(tmp_path):
    (line,) = closing_lines(tmp_path, None, 3)
    assert "3 labels are in" in line
    assert "Two classes" in line
