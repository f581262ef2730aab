"""Files are written whole or not at all."""

import errno
import os
import stat
import threading
from pathlib import Path

import pytest

from manyview.errors import DataFileError
from manyview.system.files import (
    check_writable,
    finished_paths,
    is_replaced,
    is_standard_output,
    whole_file,
    write_whole,
)


def fail_with(code):
    def write(self, data):
        raise OSError(code, os.strerror(code))

    return write


def write_half(file):
    file.write_text("half")
    raise KeyboardInterrupt


@pytest.mark.parametrize("content", ["a,b\n1,é\n", b"\x00\x01"], ids=["text", "bytes"])
def test_file_holds_what_was_written_and_nothing_else_is_left(tmp_path, content):
    file = tmp_path / "a.csv"
    write_whole(file, content)
    assert file.read_bytes() == (content.encode() if isinstance(content, str) else content)
    assert list(tmp_path.iterdir()) == [file]


def test_file_that_was_there_is_replaced(tmp_path):
    file = tmp_path / "a.csv"
    write_whole(file, "long content")
    write_whole(file, "short")
    assert file.read_text() == "short"


def test_full_disk_leaves_the_old_file_and_one_sentence(tmp_path, monkeypatch):
    file = tmp_path / "a.csv"
    write_whole(file, "old")
    monkeypatch.setattr(Path, "write_bytes", fail_with(errno.ENOSPC))
    with pytest.raises(DataFileError) as error:
        write_whole(file, "new")
    assert str(error.value) == (
        f"{file} could not be written: No space left on device. Nothing was changed."
    )
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_missing_folder_is_an_error_of_one_sentence(tmp_path):
    with pytest.raises(DataFileError, match=r"a\.csv could not be written: No such file or dir"):
        write_whole(tmp_path / "nowhere" / "a.csv", "new")


def test_error_in_the_middle_leaves_the_old_file(tmp_path):
    file = tmp_path / "a.csv"
    write_whole(file, "old")
    with pytest.raises(KeyboardInterrupt), whole_file(file) as temporary:
        write_half(temporary)
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_output_must_be_a_file_in_a_folder_that_exists(tmp_path):
    check_writable(tmp_path / "new.csv")
    with pytest.raises(DataFileError, match=r"The output must be a file; .* is a folder\."):
        check_writable(tmp_path)
    with pytest.raises(DataFileError, match=r"There is no folder .*nowhere to write a\.csv in\."):
        check_writable(tmp_path / "nowhere" / "a.csv")


posix = pytest.mark.skipif(os.name != "posix", reason="needs modes, links and devices")
root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root")


@posix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_replaced_file_keeps_its_mode(tmp_path, mode):
    file = tmp_path / "a.csv"
    file.write_text("old")
    file.chmod(mode)
    write_whole(file, "new")
    assert (file.read_text(), stat.S_IMODE(file.stat().st_mode)) == ("new", mode)


@root
def test_replaced_file_keeps_its_owner(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("old")
    os.chown(file, 12345, 54321)
    file.chmod(0o600)
    write_whole(file, "new")
    kept = file.stat()
    assert (kept.st_uid, kept.st_gid, stat.S_IMODE(kept.st_mode)) == (12345, 54321, 0o600)


@posix
def test_link_stays_and_its_target_is_replaced(tmp_path):
    (tmp_path / "data").mkdir()
    target, link, second = tmp_path / "data" / "a.csv", tmp_path / "link", tmp_path / "second"
    target.write_text("old")
    link.symlink_to(Path("data") / "a.csv")
    second.symlink_to(link)
    check_writable(second)
    write_whole(second, "new")
    assert target.read_text() == "new"
    assert link.is_symlink()
    assert second.is_symlink()
    assert sorted(one.name for one in tmp_path.rglob("*")) == ["a.csv", "data", "link", "second"]


@posix
@pytest.mark.parametrize("write", [check_writable, lambda path: write_whole(path, "new")])
def test_links_that_lead_nowhere_are_refused(tmp_path, write):
    (tmp_path / "link").symlink_to("nowhere.csv")
    with pytest.raises(DataFileError) as error:
        write(tmp_path / "link")
    assert str(error.value) == (
        f"{tmp_path / 'link'} is a link to nowhere.csv, which does not exist. Remove the link, or "
        "name another file."
    )
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(DataFileError, match=r"a is a link that leads back to itself\. Remove"):
        write(tmp_path / "a")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a", "b", "link"]


@root
def test_device_is_written_into(tmp_path):
    device = tmp_path / "null"
    os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    check_writable(device)
    write_whole(device, "new")
    assert stat.S_ISCHR(device.stat().st_mode)
    assert list(tmp_path.iterdir()) == [device]


@posix
def test_named_pipe_is_written_into(tmp_path):
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write_whole(pipe, "new")
    reader.join(timeout=10)
    assert read == ["new"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@posix
def test_open_file_is_written_where_it_stands(tmp_path):
    file = tmp_path / "log"
    with file.open("wb") as opened:
        opened.write(b"before ")
        opened.flush()
        write_whole(Path(f"/dev/fd/{opened.fileno()}"), "new")
        opened.seek(0, os.SEEK_END)
        opened.write(b" after")
    assert file.read_text() == "before new after"
    assert is_replaced(file)
    assert not is_replaced(Path("/dev/stdout"))
    assert is_standard_output(Path("/dev/stdout"))
    assert not is_standard_output(file)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_full_device_is_one_sentence():
    with pytest.raises(DataFileError) as error:
        write_whole(Path("/dev/full"), "new")
    assert str(error.value) == "/dev/full could not be written: No space left on device."


@pytest.mark.parametrize("write", [check_writable, lambda path: write_whole(path, "new")])
def test_name_that_is_too_long_is_refused(tmp_path, write):
    with pytest.raises(DataFileError, match=r"could not be written: File name too long\."):
        write(tmp_path / ("x" * 300))
    assert list(tmp_path.iterdir()) == []


def test_longest_name_can_be_written(tmp_path):
    file = tmp_path / ("x" * 255)
    check_writable(file)
    write_whole(file, "new")
    assert file.read_text() == "new"


@posix
def test_file_that_may_not_be_written_is_refused_first(tmp_path, monkeypatch):
    file = tmp_path / "a.csv"
    file.write_text("old")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(DataFileError, match=r"a\.csv could not be written: Permission denied\."):
        check_writable(file)
    with pytest.raises(DataFileError, match=r"Permission denied\. Nothing was changed\."):
        write_whole(file, "new")
    assert file.read_text() == "old"


def test_text_with_bytes_of_a_path_that_is_not_utf8_is_written_as_json_does(tmp_path):
    write_whole(tmp_path / "a.json", os.fsdecode(b"odd\xff"))
    assert (tmp_path / "a.json").read_bytes() == b"odd\\udcff"


def test_name_that_the_locale_cannot_encode_is_one_sentence(tmp_path, monkeypatch):
    def encode(self, mode=0o777, **_):
        raise UnicodeEncodeError("ascii", "é", 0, 1, "ordinal not in range(128)")

    monkeypatch.setattr(Path, "mkdir", encode)
    with pytest.raises(
        DataFileError, match=r"the locale's encoding, ascii, does not have .*UTF8=1"
    ):
        write_whole(tmp_path / "é.csv", "new")


def test_finished_files_are_listed(tmp_path):
    with finished_paths() as finished:
        write_whole(tmp_path / "a.csv", "a")
        with pytest.raises(KeyboardInterrupt), whole_file(tmp_path / "b.csv") as temporary:
            write_half(temporary)
        assert finished == [tmp_path / "a.csv"]
