import errno
import os
from pathlib import Path

import pytest

from manyview.errors import DataFileError
from manyview.runs.folder import check_free, check_room, staged_folder


def fill(stage):
    (stage / "a.txt").write_text("a")
    (stage / "b.txt").write_text("b")


def fill_folder(folder, error):
    with staged_folder(folder) as stage:
        fill(stage)
        raise error


def names(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_folder_appears_whole_and_nothing_beside_it(tmp_path):
    with staged_folder(tmp_path / "runs" / "one") as stage:
        fill(stage)
        assert not (tmp_path / "runs" / "one").exists()
    assert names(tmp_path) == ["runs", "runs/one", "runs/one/a.txt", "runs/one/b.txt"]


def test_empty_folder_is_filled(tmp_path):
    with staged_folder(tmp_path) as stage:
        fill(stage)
    assert names(tmp_path) == ["a.txt", "b.txt"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, DataFileError])
@pytest.mark.parametrize("out", ["runs/deep/one", "."])
def test_failure_leaves_nothing(tmp_path, out, error):
    with pytest.raises(error):
        fill_folder(tmp_path / out, error)
    assert names(tmp_path) == []


def test_failure_keeps_folders_that_were_there(tmp_path):
    (tmp_path / "runs").mkdir()
    with pytest.raises(KeyboardInterrupt):
        fill_folder(tmp_path / "runs" / "one", KeyboardInterrupt)
    assert names(tmp_path) == ["runs"]


def test_failure_while_moving_into_an_empty_folder_leaves_it_empty(tmp_path, monkeypatch):
    rename = Path.rename

    def fail_on_b(self, target):
        if self.name == "b.txt":
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail_on_b)
    with pytest.raises(DataFileError, match="Input/output error"), staged_folder(tmp_path) as stage:
        fill(stage)
    assert names(tmp_path) == []


def test_folder_that_is_filled_meanwhile_is_not_touched(tmp_path):
    out = tmp_path / "one"
    staged = staged_folder(out)
    fill(staged.__enter__())
    out.mkdir()
    (out / "other.txt").touch()
    with pytest.raises(DataFileError, match="could not be written"):
        staged.__exit__(None, None, None)
    assert names(tmp_path) == ["one", "one/other.txt"]


def test_folder_that_is_not_empty_is_refused(tmp_path):
    (tmp_path / "a.txt").touch()
    with pytest.raises(DataFileError) as error:
        check_free(tmp_path)
    assert str(error.value) == (
        f"The output folder {tmp_path} exists and is not empty. Remove it, or name another "
        "with --out."
    )


def test_file_in_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "a").touch()
    with pytest.raises(DataFileError, match=r"The output must be a folder; .*a is a file\."):
        check_free(tmp_path / "a")


def test_place_that_cannot_be_written_is_refused_before_the_work(tmp_path):
    (tmp_path / "a").touch()
    out = tmp_path / "a" / "run"
    with pytest.raises(DataFileError) as error, staged_folder(out):
        pytest.fail("the work started")
    assert str(error.value) == (
        f"{out} could not be written: Not a directory. Nothing is left there."
    )


def test_folder_that_may_not_be_written_is_refused(tmp_path, monkeypatch):
    def deny(self, *args, **kwargs):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(Path, "mkdir", deny)
    with (
        pytest.raises(DataFileError, match="could not be written: Permission denied"),
        staged_folder(tmp_path / "run"),
    ):
        pytest.fail("the work started")


posix = pytest.mark.skipif(os.name != "posix", reason="needs links and locks on folders")


@posix
@pytest.mark.parametrize("out", ["one", "."])
def test_leftover_of_a_killed_process_does_not_stand_in_the_way(tmp_path, out):
    folder = tmp_path / out
    stage = (folder if out == "." else tmp_path) / ".manyview-0123456789ab.tmp"
    stage.mkdir()
    (stage / "half.txt").touch()
    check_free(folder)
    with staged_folder(folder) as stage:
        fill(stage)
    assert names(folder) == ["a.txt", "b.txt"]
    assert not list(tmp_path.rglob(".*"))


@posix
@pytest.mark.parametrize("out", ["one", "."])
def test_folder_that_another_process_writes_is_refused_before_the_work(tmp_path, out):
    folder = tmp_path / out
    refused = "is being written by another process" if out == "one" else "is not empty"
    with staged_folder(folder) as stage:
        with pytest.raises(DataFileError, match=refused), staged_folder(folder):
            pytest.fail("the work started")
        fill(stage)
    assert names(folder) == ["a.txt", "b.txt"]


@posix
def test_moving_that_was_cut_short_is_a_finished_run(tmp_path):
    (tmp_path / "a.txt").touch()
    stage = tmp_path / ".manyview-0123456789ab.tmp"
    stage.mkdir()
    (stage / "b.txt").touch()
    (stage / ".moving").touch()
    with pytest.raises(DataFileError, match="exists and is not empty"):
        check_free(tmp_path)
    assert names(tmp_path) == ["a.txt", "b.txt"]


@posix
@pytest.mark.parametrize("target", ["nowhere", "link"])
def test_link_that_leads_to_no_folder_is_refused(tmp_path, target):
    (tmp_path / "link").symlink_to(target)
    with pytest.raises(DataFileError, match="link is a link that leads to no folder"):
        check_free(tmp_path / "link")


@posix
def test_link_to_an_empty_folder_is_filled(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to("empty")
    with staged_folder(tmp_path / "link") as stage:
        fill(stage)
    assert names(tmp_path / "empty") == ["a.txt", "b.txt"]
    assert (tmp_path / "link").is_symlink()


def test_name_that_is_too_long_is_refused_before_the_work(tmp_path):
    with (
        pytest.raises(DataFileError, match="could not be written: File name too long"),
        staged_folder(tmp_path / ("x" * 300)),
    ):
        pytest.fail("the work started")
    assert names(tmp_path) == []


def test_longest_name_can_be_written(tmp_path):
    with staged_folder(tmp_path / ("x" * 255)) as stage:
        fill(stage)
    assert names(tmp_path / ("x" * 255)) == ["a.txt", "b.txt"]


def test_error_of_the_block_stays_what_it_is(tmp_path):
    with pytest.raises(OSError, match="of the work"):
        fill_folder(tmp_path / "run", OSError("of the work"))
    assert names(tmp_path) == []


def test_new_folder_has_the_mode_of_any_new_folder(tmp_path):
    (tmp_path / "plain").mkdir()
    with staged_folder(tmp_path / "one") as stage:
        fill(stage)
    assert (tmp_path / "one").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_room_is_checked_where_the_folder_will_be(tmp_path):
    check_room(tmp_path / "runs" / "one", 1000)
    with pytest.raises(DataFileError, match=r"needs about 1,000,000,000,000\.00 MB for .*one, and"):
        check_room(tmp_path / "runs" / "one", 10**18)
