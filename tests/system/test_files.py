import errno
import os
from pathlib import Path

import pytest

from manyview.errors import DataFileError
from manyview.system.files import whole_file, write_whole


def fail_with(code):
    def write(self, data):
        raise OSError(code, os.strerror(code))

    return write


def write_half(file):
    file.write_text("half")
    raise KeyboardInterrupt


@pytest.mark.parametrize("content", ["a,b\n1,é\n", b"\x00\x01"], ids=["text", "bytes"])
def test_file_holds_what_was_written_and_nothing_lies_beside_it(tmp_path, content):
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
