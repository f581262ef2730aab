"""Processes of one fit on this machine; small programs stand for the fit."""

import os
import subprocess
import sys

import pytest

from manyview.distributed import launch as module
from manyview.distributed.launch import is_member, launch, n_members, n_members_here
from manyview.errors import ProcessError
from manyview.system import interrupts

PROGRAM = """
import os, signal, sys, time
rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
open(f"seen-{rank}", "w").write(f"{size} {os.environ['OMP_NUM_THREADS']} {sys.argv[1:]}")
how = sys.argv[1]
if how == "wrong" and rank == 1:
    sys.stderr.write("something before\\nError: the disk is full.\\n")
    sys.exit(2)
if how == "killed" and rank == 1:
    os.kill(os.getpid(), signal.SIGKILL)
if how == "first killed" and rank == 0:
    os.kill(os.getpid(), signal.SIGKILL)
if how == "first wrong":
    sys.exit(2 if rank == 0 else 3)
if how == "hangs" and rank == 0:
    sys.exit(2)
if how in ("wrong", "killed"):
    sys.exit(3)
if how in ("first killed", "hangs"):
    time.sleep(600)
"""


@pytest.fixture
def program(tmp_path, monkeypatch):
    (tmp_path / "program.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(module, "GRACE_SECONDS", 0.3)
    return tmp_path


def test_every_process_knows_its_number_and_gets_the_arguments(program, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    assert launch(["program", "works", "--option"], 3) == 0
    for rank in range(3):
        assert (program / f"seen-{rank}").read_text() == "3 7 ['works', '--option']"


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("wrong", "process 1 of 2 failed, and with it the fit: the disk is full."),
        ("killed", "process 1 of 2 failed, and with it the fit: it was ended by SIGKILL."),
        ("first killed", "process 0 of 2 failed, and with it the fit: it was ended by SIGKILL."),
    ],
)
def test_the_process_that_failed_first_is_named_with_its_reason(program, how, message):
    with pytest.raises(ProcessError) as failure:
        launch(["program", how], 2)
    assert str(failure.value) == message


@pytest.mark.parametrize("how", ["first wrong", "hangs"])
def test_an_error_of_the_first_process_ends_all_with_its_code(program, how):
    assert launch(["program", how], 2) == 2


def test_no_process_is_left_when_this_one_is_interrupted(program, monkeypatch):
    started = []

    def interrupt(members):
        started.extend(members)
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "_wait", interrupt)
    monkeypatch.setattr(interrupts, "_received", [])  # signals of earlier tests
    with pytest.raises(SystemExit) as end:
        launch(["program", "hangs"], 2)
    assert end.value.code == 130
    assert len(started) == 2
    assert all(member.code is not None for member in started)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, (False, 1, 1)),
        ({"RANK": "0", "WORLD_SIZE": "1", "MANYVIEW_RENDEZVOUS": "file:///x"}, (False, 1, 1)),
        ({"RANK": "1", "WORLD_SIZE": "4"}, (False, 1, 1)),  # of another program
        (
            {"RANK": "1", "WORLD_SIZE": "4", "MASTER_ADDR": "h", "MASTER_PORT": "1"},
            (True, 4, 1),
        ),
        (
            {"RANK": "1", "WORLD_SIZE": "4", "LOCAL_WORLD_SIZE": "2", "MANYVIEW_RENDEZVOUS": "x"},
            (True, 4, 2),
        ),
    ],
)
def test_membership_is_read_from_the_environment(monkeypatch, given, expected):
    for name in ("RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"):
        monkeypatch.delenv(name, raising=False)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    assert (is_member(), n_members(), n_members_here()) == expected


def test_starting_processes_does_not_import_torch():
    code = "import sys, manyview.distributed.launch; sys.exit('torch' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
