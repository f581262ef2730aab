"""`manyview label`: what it prints, refuses and leaves."""

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

pytest.importorskip("uvicorn", reason="needs the extra app")
SOURCE = Path(__file__).parent.parent.parent / "src"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch, shapes):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def started(*options):
    path = os.pathsep.join([str(SOURCE), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "manyview", "label", "shapes.npz", "--no-browser"]
    fast = ["-p", "max_epochs=5", "-p", "max_iter=1", "--label-ratio", "0.2", "--out", "run"]
    return subprocess.Popen(
        [*command, *fast, *options],
        env=os.environ | {"PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_it_prints_its_address_and_ctrl_c_writes_the_run(here):
    process = started()
    first = process.stdout.readline()
    address = re.fullmatch(r"Label shapes at (http://127\.0\.0\.1:\d+/\?token=\S+)\n", first)[1]
    with urlopen(address.replace("/?", "/api/state?"), timeout=120) as answer:
        assert b'"n_labeled":12' in answer.read()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert "12 labels are in run/labels.csv." in out
    assert (here / "run" / "report.html").exists()
    code = subprocess.run(
        [sys.executable, "-m", "manyview", "predict", "run", "shapes.npz", "--quiet"],
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
        capture_output=True,
    ).returncode
    assert code == 0


def test_a_host_that_others_can_reach_is_warned_of(here):
    process = started("--host", "0.0.0.0")
    address = re.search(r"http\S+", process.stdout.readline())[0]
    assert address.startswith("http://0.0.0.0:")
    process.kill()
    _, err = process.communicate()
    assert "Warning: the page listens on 0.0.0.0" in err


def test_a_busy_port_and_wrong_options_are_one_sentence(manyview, here):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, _, err = manyview("label", "shapes.npz", "--no-browser", "--port", port, "--out", "a")
    assert code == 2
    assert "in use" in err
    code, _, err = manyview("label", "shapes.npz", "--images", "none", "--out", "b")
    assert (code, err) == (2, "Error: --images: There is no folder of images none.\n")
    code, _, err = manyview("label", "nothing.csv")
    assert code == 2
    assert "There is no file or folder 'nothing.csv'" in err
    assert not (here / "b").exists()
