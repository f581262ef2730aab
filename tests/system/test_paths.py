"""Paths as users write them: each failure is one sentence."""

import os
import socket

import pytest

from manyview.errors import DataFileError, InputError
from manyview.system.paths import check_regular, expand_user, file_mode, names_in


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("", "a path must name a file or a folder; got an empty text"),
        ("~nosuchuser/a.npz", "home folder of a user who does not exist"),
    ],
)
def test_paths_that_name_nothing_are_refused(path, words):
    with pytest.raises(InputError, match=words):
        expand_user(path)


def test_what_cannot_be_examined_is_refused(tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(DataFileError, match="loop cannot be opened: Too many levels"):
        file_mode(tmp_path / "loop")
    with pytest.raises(DataFileError, match=r"\(\d+ characters\) cannot be opened: File name too"):
        file_mode(tmp_path / ("a" * 300))
    with pytest.raises(DataFileError, match=r"cannot be opened: .*null"):
        file_mode(tmp_path / "a\0b")
    assert file_mode(tmp_path / "nothing") is None
    assert names_in(tmp_path / "nothing") == []


def test_pipes_devices_and_sockets_are_refused(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)  # names of sockets are short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        for name, path in {"pipe": "pipe", "socket": "socket", "device": os.devnull}.items():
            place = tmp_path / path
            with pytest.raises(DataFileError, match=f"must be a file; got a {name}. Save the"):
                check_regular(place, file_mode(place))
