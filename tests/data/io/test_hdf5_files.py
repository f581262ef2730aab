"""HDF5 files that hang, crash, or lead elsewhere, are refused from a child process."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from manyview.data.io import hdf5_files
from manyview.data.io.hdf5_files import check_hdf5
from manyview.data.io.readers import read_views
from manyview.errors import DataFileError, InputError
from manyview.system.config import config_context

h5py = pytest.importorskip("h5py")


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "a.mat"
    with h5py.File(path, "w", userblock_size=512) as content:
        content["X"] = np.ones((3, 8))
        content["Y"] = np.arange(8.0)[None] % 2
    return path


def test_a_healthy_file_is_read(file):
    assert read_views(file).views.shape == (8, 3)


def put_external_link(content):
    content["W"] = h5py.ExternalLink("secret", "/")


def put_soft_link(content):
    content["W"] = h5py.SoftLink("/X")


def put_loop(content):
    content["W"] = content["/"]


def put_external_storage(content):
    content.create_dataset("W", (2, 2), "f8", external=[("secret", 0, 32)])


def put_virtual(content):
    layout = h5py.VirtualLayout((2, 2), "f8")
    layout[:] = h5py.VirtualSource("secret", "x", (2, 2))
    content.create_virtual_dataset("W", layout)


@pytest.mark.parametrize(
    ("put", "words"),
    [
        (put_external_link, "/W is a link to the file 'secret'"),
        (put_soft_link, "/W is a soft link to '/X'"),
        (put_loop, "/W is a second link to a group"),
        (put_external_storage, "/W is stored in 'secret'"),
        (put_virtual, "/W is a virtual data set of other files"),
    ],
)
def test_everything_that_leads_elsewhere_is_refused_by_name(file, put, words):
    with h5py.File(file, "r+") as content:
        put(content)
    with pytest.raises(DataFileError, match=rf"a\.mat leads outside of itself: {words}"):
        read_views(file)


def test_a_size_beyond_the_limit_is_refused_before_it_is_read(file):
    with h5py.File(file, "r+") as content:
        content.create_dataset("big", (2**36,), "f8", chunks=(1024,))
    with (
        config_context(max_memory=1.0),
        pytest.raises(InputError, match=r"a\.mat \(0\.000 GB, 512\.000 GB unpacked\) needs about"),
    ):
        read_views(file)


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("print('ready', flush=True); import time; time.sleep(60)", "did not end within 0 s"),
        ("print('ready', flush=True); import os; os.abort()", "ended with code -6"),
        ("import nothing_of_this_name", "no Python with h5py could be started"),
    ],
)
def test_a_library_that_hangs_or_crashes_is_said(file, tmp_path, monkeypatch, script, words):
    (tmp_path / "probe.py").write_text(script)
    monkeypatch.setattr(hdf5_files, "PROBE", tmp_path / "probe.py")
    monkeypatch.setattr(hdf5_files, "SECONDS", 0.3)
    with pytest.raises(DataFileError, match=words):
        check_hdf5(file, "a MATLAB 7.3 file")


def test_ctrl_c_ends_the_child_too(file, tmp_path):
    (tmp_path / "probe.py").write_text(
        "import os, time, pathlib\n"
        "print('ready', flush=True)\n"
        f"pathlib.Path({str(tmp_path / 'pid')!r}).write_text(str(os.getpid()))\n"
        "time.sleep(60)\n"
    )
    code = (
        "import pathlib, sys\n"
        "from manyview.data.io import hdf5_files\n"
        f"hdf5_files.PROBE = pathlib.Path({str(tmp_path / 'probe.py')!r})\n"
        f"hdf5_files.check_hdf5(pathlib.Path({str(file)!r}), 'x')\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE) as parent:
        deadline = time.monotonic() + 30
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
            assert time.monotonic() < deadline
            time.sleep(0.05)
        parent.send_signal(signal.SIGINT)
        assert b"KeyboardInterrupt" in parent.stderr.read()
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_a_cell_that_holds_itself_is_refused(file):
    with h5py.File(file, "r+") as content:
        content.create_dataset("C", (1, 1), h5py.ref_dtype)
        content["C"][0, 0] = content["C"].ref
    with pytest.raises(DataFileError, match="the cell /C holds itself"):
        read_views(file)


def test_parts_that_many_cells_refer_to_are_read_once(file):
    with h5py.File(file, "r+") as content:
        del content["X"]
        content["#refs#/part"] = np.ones((3, 8))
        references = np.array([[content["#refs#/part"].ref]] * 3, dtype=h5py.ref_dtype)
        content.create_dataset("X", data=references, dtype=h5py.ref_dtype)
    assert read_views(file).views.n_views == 3
