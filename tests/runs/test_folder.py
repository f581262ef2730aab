import errno
import json
import os
import re
import subprocess
import sys
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


@pytest.fixture
def old_run(tmp_path):
    """The folder of a run, as far as `--overwrite` looks at it."""
    folder = tmp_path / "runs" / "mine"
    folder.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps({"format": "manyview run"}))
    (folder / "results.h5ad").write_text("old")
    return folder


def overwrite(folder, meanwhile=lambda: None):
    with staged_folder(folder, overwrite=True) as stage:
        (stage / "run.json").write_text("new")
        meanwhile()


def interrupt():
    raise KeyboardInterrupt


def test_run_is_replaced_and_nothing_of_it_is_left(old_run):
    overwrite(old_run)
    assert (old_run / "run.json").read_text() == "new"
    assert names(old_run.parent) == ["mine", "mine/run.json"]


def test_run_is_offered_for_replacement_and_stays_without_it(old_run):
    with pytest.raises(DataFileError, match=r"not empty\. Replace it with --overwrite, or name"):
        check_free(old_run)
    assert (old_run / "results.h5ad").read_text() == "old"


def test_run_stays_as_it_was_until_the_block_has_ended(old_run):
    with staged_folder(old_run, overwrite=True) as stage:
        (stage / "run.json").write_text("new")
        assert (old_run / "results.h5ad").read_text() == "old"
    assert not (old_run / "results.h5ad").exists()


def test_failure_keeps_the_old_run(old_run):
    before = names(old_run.parent)
    with pytest.raises(KeyboardInterrupt):
        overwrite(old_run, interrupt)
    assert names(old_run.parent) == before
    assert (old_run / "results.h5ad").read_text() == "old"


def test_failure_of_the_exchange_keeps_the_old_run(old_run, monkeypatch):
    before = names(old_run.parent)
    rename = Path.rename

    def fail(path, target):
        if str(path.name).startswith(".manyview-"):
            raise OSError(errno.ENOSPC, "No space left on device")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(DataFileError, match="No space left"):
        overwrite(old_run)
    assert names(old_run.parent) == before


@pytest.mark.parametrize("name", ["notes.txt", "run.json.bak", ".hidden", "figures"])
def test_file_that_a_person_added_is_named_and_nothing_is_replaced(old_run, name):
    if name == "figures":
        (old_run / name).mkdir()
    else:
        (old_run / name).write_text("mine")
    before = names(old_run)
    with pytest.raises(DataFileError, match=rf"no fit wrote: {re.escape(name)}\. Move it"):
        overwrite(old_run)
    assert names(old_run) == before


def test_file_that_was_added_during_the_fit_is_kept(old_run):
    with pytest.raises(DataFileError, match=r"no fit wrote: late\.txt"):
        overwrite(old_run, (old_run / "late.txt").touch)
    assert names(old_run) == ["late.txt", "results.h5ad", "run.json"]


def test_link_in_a_run_is_not_taken_for_a_file_of_the_fit(old_run, tmp_path):
    (tmp_path / "elsewhere.csv").write_text("mine")
    (old_run / "predictions.csv").symlink_to(tmp_path / "elsewhere.csv")
    with pytest.raises(DataFileError, match=r"no fit wrote: predictions\.csv"):
        overwrite(old_run)


@pytest.mark.parametrize("record", [None, "{}", "not JSON", '{"format": "another tool"}'])
def test_only_folders_of_runs_are_replaced(tmp_path, record):
    folder = tmp_path / "photos"
    folder.mkdir()
    (folder / "a.jpg").write_text("mine")
    if record is not None:
        (folder / "run.json").write_text(record)
    before = names(folder)
    with pytest.raises(DataFileError, match=r"--overwrite replaces only folders of runs; .*photos"):
        overwrite(folder)
    assert names(folder) == before


def test_overwrite_fills_new_and_empty_folders_too(tmp_path):
    (tmp_path / "empty").mkdir()
    for name in ("new", "empty"):
        overwrite(tmp_path / name)
        assert names(tmp_path / name) == ["run.json"]


def test_link_to_a_run_stays_and_the_run_is_replaced(old_run, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(old_run, target_is_directory=True)
    overwrite(link)
    assert link.is_symlink()
    assert (old_run / "run.json").read_text() == "new"


@pytest.mark.parametrize("rename_number", [1, 2])
def test_exchange_that_a_kill_cut_short_is_finished_by_the_next_fit(old_run, rename_number):
    """The process is killed right after the first or the second rename."""
    script = f"""
import os, sys
from pathlib import Path
from manyview.runs.folder import staged_folder
rename, count = Path.rename, []
def kill(path, target):
    moved = rename(path, target)
    count.append(1)
    if len(count) == {rename_number}:
        os._exit(9)
    return moved
folder = Path(sys.argv[1])
with staged_folder(folder, overwrite=True) as stage:
    (stage / "run.json").write_text('{{"format": "manyview run", "new": true}}')
    Path.rename = kill
"""
    run = subprocess.run([sys.executable, "-c", script, old_run], timeout=120, check=False)
    assert run.returncode == 9
    assert old_run.exists() == (rename_number == 2)
    with pytest.raises(DataFileError, match="Replace it with --overwrite"):
        check_free(old_run)
    assert '"new"' in (old_run / "run.json").read_text()
    check_free(old_run, overwrite=True)
    assert names(old_run.parent) == ["mine", "mine/run.json"]
