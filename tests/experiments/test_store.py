"""The store survives crashes, and no trial is done twice."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict

import pytest

from manyview.errors import DataFileError
from manyview.experiments.claims import RUNNERS_NAME, RUNNING_NAME, Runner
from manyview.experiments.store import DAMAGED_NAME, RECORDS_NAME, Store


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "store")
    store.open()
    return store


def wait_until(condition, seconds=30.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.05)


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


CLAIMANT = (
    "import sys, time; from pathlib import Path\n"
    "from manyview.experiments.store import Store\n"
    "store = Store(Path(sys.argv[1]))\n"
    "print(store.claim([sys.argv[2]]), flush=True)\n"
    "time.sleep(60)\n"
)


def claim_and_die(store, key, *prefix):
    """Claim a trial in another process, and kill it; returns what was running before."""
    command = [*prefix, sys.executable, "-c", CLAIMANT, str(store.folder), key]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as runner:
        assert runner.stdout.readline().strip() == key
        alive = store.running()
        runner.kill()
    return alive


def forge(store, key, **changes):
    """Write the claim of a runner whose process holds no lock."""
    runner = store.folder / RUNNERS_NAME / (key * 32)[:32]
    runner.parent.mkdir(exist_ok=True)
    runner.write_text(json.dumps(asdict(Runner.mine()) | changes))
    (store.folder / RUNNING_NAME / key).write_text(runner.name)
    return runner


def test_claims_of_dead_runners_do_not_count(store):
    assert set(claim_and_die(store, "a")) == {"a"}
    b = forge(store, "b", machine="elsewhere", host="elsewhere")
    (store.folder / RUNNING_NAME / "c").write_text("half a cla")
    assert set(store.running()) == {"b"}
    assert store.running()["b"].host == "elsewhere"
    os.utime(b, (0, 0))  # no heartbeat for long
    assert store.running() == {}
    os.utime(b)
    assert set(store.running()) == {"b"}
    assert store.claim(["a", "b", "c"]) == "a"
    assert store.claim(["a", "b", "c"]) == "c"
    assert store.claim(["a", "b", "c"]) is None


def test_claim_does_not_live_by_a_process_id_that_another_process_has(store):
    """In containers every runner has the same host name and process id."""
    forge(store, "a", pid=os.getpid(), host=socket.gethostname())
    assert store.running() == {}
    assert store.claim(["a"]) == "a"


def has_pid_namespaces():
    command = ["unshare", "--pid", "--fork", "--kill-child", "true"]
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


@pytest.mark.skipif(not has_pid_namespaces(), reason="needs the right to make PID namespaces")
def test_runner_killed_in_a_container_leaves_its_trials_to_the_next(store):
    container = ("unshare", "--pid", "--fork", "--kill-child")
    (runner,) = claim_and_die(store, "a", *container).values()
    assert runner.pid == 1
    wait_until(lambda: store.running() == {})
    assert set(claim_and_die(store, "a", *container)) == {"a"}


def test_runner_that_is_alive_gives_a_sign_to_other_machines(store):
    store.heartbeat()  # nothing is claimed yet
    store.claim(["a"])
    (file,) = (store.folder / RUNNERS_NAME).iterdir()
    os.utime(file, (0, 0))
    store.heartbeat()
    assert time.time() - file.stat().st_mtime < 60
    store.release("a")
    assert not file.exists()


def test_next_runner_removes_what_dead_ones_left(store):
    claim_and_die(store, "a")
    store.claim(["b"])
    other = Store(store.folder)
    other.open()
    assert [file.name for file in (store.folder / RUNNING_NAME).iterdir()] == ["b"]
    assert len(list((store.folder / RUNNERS_NAME).iterdir())) == 1
    store.release()
    assert list((store.folder / RUNNERS_NAME).iterdir()) == []


def test_fork_that_ends_does_not_end_the_claim_of_its_parent(store):
    store.claim(["a"])
    pid = os.fork()
    if pid == 0:
        try:
            store._claims._lock.release()
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    assert set(Store(store.folder).running()) == {"a"}


@pytest.mark.parametrize("n_flips", [1, 2, 8])
def test_damaged_byte_is_never_read_as_another_record(store, n_flips):
    for number in range(6):
        store.add(record(f"k{number}", accuracy=number / 7, seed=number))
    file, whole = store.folder / RECORDS_NAME, dict(store.records())
    healthy, rng = file.read_bytes(), random.Random(n_flips)
    for _ in range(200):
        damaged = bytearray(healthy)
        for _ in range(n_flips):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        file.write_bytes(damaged)
        reader = Store(store.folder)
        assert reader.records().items() <= whole.items()
        if reader.records() != whole:
            assert reader.line_counts().n_skipped


def test_order_of_the_lines_does_not_decide_which_record_counts(store):
    store.add({"key": "a", "status": "failed"})
    store.add({"key": "a", "status": "out of time"})
    store.add(record("a"))
    file = store.folder / RECORDS_NAME
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([*reversed(lines), lines[1], lines[0]]))
    assert Store(store.folder).records()["a"]["status"] == "done"


def test_damaged_lines_are_set_aside_by_the_next_runner(store):
    for key in "abc":
        store.add(record(key))
    file = store.folder / RECORDS_NAME
    lines = file.read_bytes().splitlines(keepends=True)
    lines[1] = lines[1].replace(b"done", b"dome")
    file.write_bytes(b"".join(lines))
    reader = Store(store.folder)
    assert list(reader.records()) == ["a", "c"]
    assert reader.line_counts().n_damaged == 1
    assert Store(store.folder).open() == 1
    assert file.read_bytes() == lines[0] + lines[2]
    assert (store.folder / DAMAGED_NAME).read_bytes() == lines[1]
    assert reader.line_counts().n_damaged == 0  # sees that the file was replaced
    assert Store(store.folder).open() == 0
    assert store.claim("abc") == "b"


def test_records_from_before_there_were_checksums_are_read(store):
    old = {
        "key": "a", "status": "done", "dataset": "d", "method": "knn", "params": {}, "seed": 0,
        "label_ratio": 0.1, "protocol": "stratified", "accuracy": 0.5,
    }  # fmt: skip
    wrong = [old | {"key": 3}, old | {"accuracy": "high"}, {"key": "b", "status": "done"}, {}]
    lines = [json.dumps(one) for one in (old, *wrong)]
    (store.folder / RECORDS_NAME).write_text("".join(f"{line}\n" for line in lines))
    store.add(record("c"))
    reader = Store(store.folder)
    assert reader.records() == {"a": old, "c": record("c")}
    counts = reader.line_counts()
    assert (counts.n_good, counts.n_unchecked, counts.n_foreign) == (1, 1, 4)
    with (store.folder / RECORDS_NAME).open("a") as stream:  # a checksum that was lost
        stream.write(json.dumps(old | {"key": "d"}) + "\n")
    assert "d" not in reader.records()
    assert reader.line_counts().n_damaged == 1


def test_records_that_cannot_be_read_are_one_clear_sentence(store):
    (store.folder / RECORDS_NAME).mkdir()
    with pytest.raises(DataFileError, match=r"records in .* cannot be read: Is a directory\.$"):
        store.records()


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


def test_probe_of_a_killed_runner_is_removed(store):
    (store.folder / "running").mkdir(parents=True, exist_ok=True)
    (store.folder / "running" / ".probe").write_bytes(b"x")
    store.open()
    assert not list((store.folder / "running").iterdir())


def lost_retry(store, damage):
    """Damage the line of a trial that failed and was retried; another trial failed for good."""
    keys = {name: name * 20 for name in "abc"}
    store.add(record(keys["a"], status="failed"))
    store.add(record(keys["b"], status="failed"))
    store.add(record(keys["c"]))
    store.add(record(keys["a"], accuracy=0.5))
    file = store.folder / RECORDS_NAME
    *lines, last = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines) + damage(last))
    return keys


@pytest.mark.parametrize(
    ("damage", "n_damaged", "n_again"),
    [
        (lambda line: line.replace(b"0.5", b"0.9"), 1, 1),
        (lambda line: line.replace(b"aaa", b"aza", 1), 1, 1),  # the key is damaged, too
        (lambda line: line[:-20], 0, 1),  # cut off
        (lambda line: line.replace(b'"key"', b'"kay"'), 1, 2),  # whose line it was is not known
        (lambda line: line[:20], 0, 2),
    ],
)
def test_failure_whose_successful_retry_was_lost_runs_again(store, damage, n_damaged, n_again):
    keys = lost_retry(store, damage)
    again = Store(store.folder)
    assert again.open() == n_damaged
    assert len(again.records()) == 3 - n_again
    assert keys["c"] in again.records()
    assert again.claim(keys.values()) == keys["a"]
    again.add(record(keys["a"], accuracy=0.5))
    assert again.records()[keys["a"]] == record(keys["a"], accuracy=0.5)
    assert Store(store.folder).line_counts().n_skipped == 0
    assert Store(store.folder).open() == 0
    aside = (store.folder / DAMAGED_NAME).read_bytes()
    assert aside.count(b"\n") == n_damaged + n_again  # nothing is thrown away


def test_damage_elsewhere_leaves_failures_as_they_are(store):
    store.add(record("a" * 20, status="failed"))
    store.add(record("b" * 20))
    file = store.folder / RECORDS_NAME
    file.write_bytes(file.read_bytes().replace(b"done", b"dome"))
    assert Store(store.folder).open() == 1
    assert list(Store(store.folder).records()) == ["a" * 20]
