"""Stages of living processes are left alone; leftovers of dead ones are removed or finished."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from manyview.system import stages
from manyview.system.stages import (
    MOVING_NAME,
    STAGE_NAME,
    StageInUseError,
    move_up,
    open_stage,
    remove_leftovers,
)

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs locks on folders")
HOLD = """
import sys, time
from pathlib import Path
from manyview.system.stages import open_stage
with open_stage(Path(sys.argv[1]), "run") as stage:
    (stage / "half").write_text("half")
    print(stage.name, flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path):
    """A process with an open stage, and the name of that."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, tmp_path], stdout=subprocess.PIPE, text=True
    )
    yield process, process.stdout.readline().strip()
    process.kill()
    process.communicate()


def names(folder):
    return sorted(one.name for one in folder.iterdir())


def leave(home, word="0123456789ab", **files):
    stage = home / f".manyview-{word}.tmp"
    stage.mkdir()
    for name, content in files.items():
        (stage / name).write_text(content)
    return stage


def test_stage_is_private_and_removed_at_the_end(tmp_path):
    with open_stage(tmp_path) as stage:
        assert STAGE_NAME.fullmatch(stage.name)
        assert stage.stat().st_mode & 0o077 == 0
        (stage / "a").touch()
    assert names(tmp_path) == []


def test_stage_of_a_living_process_is_left_alone(tmp_path, holder):
    process, name = holder
    remove_leftovers(tmp_path)
    with open_stage(tmp_path), pytest.raises(StageInUseError), open_stage(tmp_path, "run"):
        pytest.fail("two processes have one stage")
    assert names(tmp_path) == [name]
    process.send_signal(signal.SIGKILL)
    process.wait()
    with open_stage(tmp_path, "run") as stage:
        assert stage.name == name
        assert names(stage) == []
    assert names(tmp_path) == []


def test_one_stage_per_name_in_one_process_too(tmp_path):
    with open_stage(tmp_path, "run"):
        with pytest.raises(StageInUseError), open_stage(tmp_path, "run"):
            pytest.fail("one stage was opened twice")
        with open_stage(tmp_path, "other"), open_stage(tmp_path), open_stage(tmp_path):
            assert len(names(tmp_path)) == 4


def test_only_our_own_leftovers_are_removed(tmp_path):
    leave(tmp_path, a="a")
    others = [".manyview-zz.tmp", ".manyview-0123456789ab.tmp.old", "manyview-0123456789ab.tmp"]
    for name in others:
        (tmp_path / name).mkdir()
    (tmp_path / ".manyview-bbbbbbbbbbbb.tmp").symlink_to(tmp_path / others[0])
    (tmp_path / ".manyview-cccccccccccc.tmp").touch()
    remove_leftovers(tmp_path)
    assert names(tmp_path) == sorted(
        [*others, ".manyview-bbbbbbbbbbbb.tmp", ".manyview-cccccccccccc.tmp"]
    )


def test_leftovers_of_another_user_stay(tmp_path, monkeypatch):
    stage = leave(tmp_path, a="a")
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    remove_leftovers(tmp_path)
    assert names(tmp_path) == [stage.name]


def test_move_that_was_cut_short_is_finished(tmp_path):
    (tmp_path / "a").write_text("moved")
    leave(tmp_path, b="b", c="c", **{MOVING_NAME: ""})
    remove_leftovers(tmp_path)
    assert {name: (tmp_path / name).read_text() for name in names(tmp_path)} == {
        "a": "moved",
        "b": "b",
        "c": "c",
    }


def test_finishing_a_move_replaces_nothing(tmp_path):
    (tmp_path / "b").write_text("mine")
    leave(tmp_path, b="b", **{MOVING_NAME: ""})
    remove_leftovers(tmp_path)
    assert (tmp_path / "b").read_text() == "mine"


def test_move_that_fails_is_undone(tmp_path, monkeypatch):
    stage = leave(tmp_path, a="a", b="b")
    rename = Path.rename

    def fail_on_b(self, target):
        if self.name == "b":
            raise OSError("no")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail_on_b)
    with pytest.raises(OSError, match="no"):
        move_up(stage)
    assert names(tmp_path) == [stage.name]
    assert names(stage) == ["a", "b"]


def test_without_locks_a_leftover_is_one_day_old(tmp_path, monkeypatch):
    monkeypatch.setattr(stages, "fcntl", None)
    stage = leave(tmp_path, a="a")
    remove_leftovers(tmp_path)
    assert names(tmp_path) == [stage.name]
    os.utime(stage, (0, 0))
    remove_leftovers(tmp_path)
    assert names(tmp_path) == []
    with open_stage(tmp_path, "run") as stage:
        assert stage.is_dir()
    assert names(tmp_path) == []
