import errno
import os
from pathlib import Path

import pytest

from manyview.errors import DataFileError
from manyview.runs.folder import check_free, staged_folder


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
