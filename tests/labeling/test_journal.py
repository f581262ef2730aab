"""The journal: every act is on the disk before it is acknowledged."""

import json
import os
import subprocess
import sys

import pytest

from manyview.errors import DataFileError
from manyview.labeling.journal import Journal


@pytest.fixture
def journal(tmp_path):
    opened = Journal(tmp_path)
    yield opened
    opened.close()


def names_in(journal):
    return [json.loads(line)["name"] for line in journal.file.read_text().splitlines()]


def test_acts_are_numbered_and_read_back(tmp_path, journal):
    journal.add("class", name="cat")
    journal.add("label", labels={"s1": "cat", "s2": None}, window="w", source="key")
    journal.close()
    again = Journal(tmp_path)
    assert [act["number"] for act in again.acts] == [1, 2]
    assert again.acts[1]["labels"] == {"s1": "cat", "s2": None}
    assert again.add("skip", sample="s3")["number"] == 3
    again.close()


def test_an_act_is_synced_before_it_returns(journal, monkeypatch):
    synced = []
    fsync = os.fsync
    monkeypatch.setattr(
        os, "fsync", lambda number: (synced.append(journal.file.read_bytes()), fsync(number))
    )
    journal.add("class", name="cat")
    assert len(synced) == 1
    assert json.loads(synced[0])["name"] == "cat"


def test_half_a_last_line_is_cut_off_and_reported(tmp_path, journal):
    journal.add("class", name="cat")
    journal.close()
    with journal.file.open("ab") as stream:
        stream.write(b'{"number": 2, "kind": "cla')
    again = Journal(tmp_path)
    assert (len(again.acts), again.n_cut) == (1, 26)
    again.add("class", name="dog")
    again.close()
    assert [json.loads(line)["name"] for line in journal.file.read_text().splitlines()] == [
        "cat",
        "dog",
    ]


@pytest.mark.parametrize(
    "line",
    [
        "[]",
        "x",
        '{"number": 2, "kind": "label"}',
        '{"number": 7, "kind": "class", "name": "a"}',
        '{"number": 2, "kind": "label", "labels": {"a": 1}}',
        '{"number": 2, "kind": "undo", "of": 2}',
        '{"number": 2, "kind": "dance", "sample": "a"}',
    ],
)
def test_damage_before_the_end_is_refused_with_its_line(tmp_path, journal, line):
    journal.add("class", name="cat")
    journal.close()
    with journal.file.open("a") as stream:
        stream.write(f"{line}\n")
    with pytest.raises(DataFileError, match="line 2 is not act 2"):
        Journal(tmp_path)


def test_a_full_disk_saves_nothing_and_leaves_no_half_line(journal, monkeypatch):
    journal.add("class", name="cat")

    def full(number):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DataFileError, match=r"No space left on device. The label was not saved"):
        journal.add("class", name="dog")
    monkeypatch.undo()
    assert journal.add("class", name="hen")["number"] == 2
    assert [json.loads(line)["name"] for line in journal.file.read_text().splitlines()] == [
        "cat",
        "hen",
    ]


def test_a_second_process_is_refused(tmp_path, journal):
    code = (
        "from pathlib import Path\nfrom manyview.labeling.journal import Journal\n"
        f"Journal(Path({str(tmp_path)!r}))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "is in use by another `manyview label`" in run.stderr
