"""The store survives crashes, and no trial is done twice."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from manyview.errors import DataFileError
from manyview.experiments import store as store_module
from manyview.experiments.store import RECORDS_NAME, RUNNING_NAME, Store


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "store")
    store.open()
    return store


def record(key, **values):
    return {"key": key, "status": "done", **values}


def test_records_come_back_by_key_and_the_last_one_counts(store):
    store.add(record("a", accuracy=0.5))
    store.add(record("b", accuracy=0.6))
    store.add(record("a", accuracy=0.7))
    assert {key: one["accuracy"] for key, one in store.records().items()} == {"a": 0.7, "b": 0.6}
    assert Store(store.folder).records() == store.records()


def test_a_line_half_written_is_skipped_and_then_cut_off(store):
    store.add(record("a"))
    file = store.folder / RECORDS_NAME
    with file.open("ab") as stream:
        stream.write(b'{"key":"b","stat')
    assert list(Store(store.folder).records()) == ["a"]
    store.add(record("c"))
    assert list(Store(store.folder).records()) == ["a", "c"]
    assert [json.loads(line)["key"] for line in file.read_text().splitlines()] == ["a", "c"]


def test_a_reader_sees_what_others_add_later(store):
    reader = Store(store.folder)
    assert reader.records() == {}
    store.add(record("a"))
    assert list(reader.records()) == ["a"]
    store.add(record("b"))
    assert list(reader.records()) == ["a", "b"]


def test_a_trial_is_claimed_once(store):
    other = Store(store.folder)
    assert store.claim(["a", "b"]) == "a"
    assert other.claim(["a", "b"]) == "b"
    assert other.claim(["a", "b"]) is None
    assert set(store.running()) == {"a", "b"}
    store.release("a")
    assert other.claim(["a", "b"]) == "a"
    other.add(record("a"))
    assert set(store.running()) == {"b"}
    assert store.claim(["a", "b"]) is None


def test_a_failed_trial_is_claimed_again_only_while_its_record_is_the_one_seen(store):
    failed = {"key": "a", "status": "failed"}
    store.add(failed)
    assert store.claim(["a"]) is None
    assert store.claim(["a"], retried={"a": failed}) == "a"
    store.add(record("a"))
    assert store.claim(["a"], retried={"a": failed}) is None


def test_claims_of_dead_runners_do_not_count(store, monkeypatch):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    place = store.folder / RUNNING_NAME
    here = store_module.Claim.mine()
    (place / "a").write_text(json.dumps(vars(here) | {"pid": dead.pid}))
    (place / "b").write_text(json.dumps(vars(here) | {"host": "elsewhere"}))
    (place / "c").write_text("half a cla")
    assert set(store.running()) == {"b"}
    os.utime(place / "b", (0, 0))  # no heartbeat for long
    assert store.running() == {}
    store.heartbeat(["b"])
    assert set(store.running()) == {"b"}
    assert store.claim(["a", "b", "c"]) == "a"


def test_many_writers_at_once_lose_nothing(store):
    def write(number):
        Store(store.folder).add(record(str(number)))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(60)))
    assert set(Store(store.folder).records()) == {str(number) for number in range(60)}


def test_a_writer_killed_at_any_moment_damages_nothing(store):
    """Whatever was recorded before the kill is there, and the next writer goes on."""
    script = (
        "import sys, itertools; from pathlib import Path\n"
        "from manyview.experiments.store import Store\n"
        "store = Store(Path(sys.argv[1]))\n"
        "for number in itertools.count():\n"
        "    key = store.claim([f'{sys.argv[2]}-{number}'])\n"
        "    store.add({'key': key, 'status': 'done', 'padding': 'x' * 20000})\n"
        "    print(key, flush=True)\n"
    )
    rng = random.Random(0)
    printed = set()
    for attempt in range(6):
        command = [sys.executable, "-c", script, str(store.folder), str(attempt)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            printed.add(writer.stdout.readline().strip())
            time.sleep(rng.uniform(0.0, 0.1))
            os.kill(writer.pid, signal.SIGKILL)
            printed |= {line.strip() for line in writer.stdout if line.endswith("\n")}
    records = Store(store.folder).records()
    assert printed <= set(records)
    store.add(record("last"))
    assert "last" in Store(store.folder).records()
    for line in (store.folder / RECORDS_NAME).read_text().splitlines():
        assert json.loads(line)["status"] == "done"


def test_full_disk_is_one_clear_sentence_and_leaves_the_store_intact(store, monkeypatch):
    store.add(record("a"))

    def no_space(descriptor):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", no_space)
        with pytest.raises(DataFileError, match="cannot be written: No space left on device"):
            store.add(record("b"))
    assert list(Store(store.folder).records()) == ["a"]
    store.add(record("b"))
    assert list(Store(store.folder).records()) == ["a", "b"]


def test_a_place_that_cannot_be_written_is_found_before_the_work(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataFileError, match="cannot be written"):
        Store(tmp_path / "file").open()
    with pytest.raises(DataFileError, match="cannot be written"):
        Store(tmp_path / "file" / "store").open()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(DataFileError, match="cannot be written: Permission denied"):
        Store(tmp_path / "store").open()
