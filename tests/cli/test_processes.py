"""A fit in several processes, from the command line: one folder, and one line where it fails."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from shared_runs import (
    assert_equal_runs,
    assert_identical_runs,
    shell_environment,
    wait_for_checkpoint,
)

from manyview.network.resume import FitProgress

OPTIONS = ("--label-ratio", "0.2", "-p", "hidden=8", "-p", "max_epochs=40")


def command(*arguments, launcher=()):
    return [sys.executable, "-m", *launcher, *(["-m"] if launcher else []), "manyview", *arguments]


def members(*words):
    """Return the processes whose command has all words: rank -> process id."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parts = (folder / "cmdline").read_bytes().decode().split("\0")
            variables = (folder / "environ").read_bytes().decode().split("\0")
        except OSError:
            continue
        rank = next((one.partition("=")[2] for one in variables if one.startswith("RANK=")), None)
        if rank is not None and set(words) <= set(parts):
            found[int(rank)] = int(folder.name)
    return found


def test_the_first_of_several_processes_writes_the_run_of_one(manyview, ranks, shapes, tmp_path):
    assert manyview("fit", shapes, *OPTIONS, "--out", tmp_path / "one")[0] == 0
    shared = ["fit", str(Path(shapes).resolve()), *OPTIONS, "--out", str(tmp_path / "two")]
    (code, text), *others = ranks.run("run_command", 3, shared)
    assert code == 0
    assert "Result " in text
    assert others == [(0, ""), (0, "")]
    assert_equal_runs(tmp_path / "one", tmp_path / "two")


def test_an_interrupt_with_progress_says_that_the_same_command_continues(
    manyview, shapes, tmp_path, monkeypatch
):
    write = FitProgress.write

    def interrupted(self, *arguments):
        write(self, *arguments)
        raise KeyboardInterrupt  # in the first training, which has no network to keep

    monkeypatch.setattr(FitProgress, "write", interrupted)
    words = ("fit", shapes, *OPTIONS, "--out", tmp_path / "run", "--checkpoint-every", "0")
    assert manyview(*words) == (
        130,
        "",
        f"Interrupted; progress is kept in {tmp_path / 'run.checkpoint'}, and the same command "
        "continues.\n",
    )


def test_a_mistake_is_one_line_and_starts_no_process(manyview, shapes):
    for wrong, line in {
        ("--checkpoint-every", "-1"): ("Error: --checkpoint-every must be at least 0; got -1.0.\n"),
        ("--processes", "0"): "Error: --processes must be a whole number of at least 1; got 0.\n",
        ("--processes", "2", "--method", "knn"): (
            "Error: --processes must be 1 for the method knn, which trains in one; got 2. "
            "manyview and mgcn-dns can share a fit.\n"
        ),
    }.items():
        code, _, errors = manyview("fit", shapes, *wrong)
        assert (code, errors) == (2, line)


@pytest.mark.slow
def test_processes_write_one_run_with_the_predictions_of_one(manyview, shapes, tmp_path):
    assert manyview("fit", shapes, *OPTIONS, "--out", tmp_path / "one")[0] == 0
    shared = [str(shapes), *OPTIONS, "--out", str(tmp_path / "two"), "--processes", "2"]
    done = subprocess.run(
        command("fit", *shared),
        env=shell_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("Result ") == 1
    assert_equal_runs(tmp_path / "one", tmp_path / "two")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").exists(), reason="finds the processes in /proc")
def test_a_killed_process_ends_the_fit_with_a_line_that_names_it(shapes, tmp_path):
    out = str(tmp_path / "never")
    endless = ["-p", "max_epochs=1000000", "-p", "tol=none", "--label-ratio", "0.2"]
    arguments = [str(shapes), "--method", "mgcn-dns", *endless, "--out", out, "--processes", "2"]
    with subprocess.Popen(
        command("fit", *arguments), env=shell_environment(), stderr=subprocess.PIPE, text=True
    ) as fit:
        deadline = time.monotonic() + 60
        while len(found := members("fit", out)) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.2)
        time.sleep(15)
        os.kill(found[1], signal.SIGKILL)
        _, errors = fit.communicate(timeout=60)
    assert fit.returncode == 3
    *_, last = errors.splitlines()
    assert last == "Error: process 1 of 2 failed, and with it the fit: it was ended by SIGKILL."
    assert members("fit", out) == {}
    assert not (tmp_path / "never").exists()


@pytest.mark.slow
@pytest.mark.parametrize("n_processes", [1, 2])
@pytest.mark.skipif(not Path("/proc").exists(), reason="finds the processes in /proc")
def test_a_killed_fit_continues_with_the_same_command_and_result(tmp_path, n_processes):
    options = ["--label-ratio", "0.02", "--processes", str(n_processes), "--no-report"]
    out = tmp_path / "killed"
    fit = command("fit", "digits", *options, "--out", str(out), "--checkpoint-every", "0.3")
    with subprocess.Popen(
        fit, env=shell_environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as killed:
        wait_for_checkpoint(out, 3, n_processes - 1)
        victim = killed.pid if n_processes == 1 else members("fit", str(out))[n_processes - 1]
        os.kill(victim, signal.SIGKILL)
        _, errors = killed.communicate(timeout=60)
    assert killed.returncode == (-signal.SIGKILL if n_processes == 1 else 3)
    assert not out.exists()
    if n_processes > 1:
        assert f"progress is kept in {out}.checkpoint, and the same command continues" in errors
    again = subprocess.run(
        fit, env=shell_environment(), capture_output=True, text=True, check=False
    )
    assert again.returncode == 0, again.stderr
    assert f"The fit continues from {out}.checkpoint" in again.stderr
    assert not Path(f"{out}.checkpoint").exists()
    whole = command("fit", "digits", *options, "--out", str(tmp_path / "whole"))
    subprocess.run(whole, env=shell_environment(), capture_output=True, check=True)
    assert_identical_runs(tmp_path / "whole", out)


@pytest.mark.slow
def test_torchrun_writes_one_run_with_the_predictions_of_one_process(manyview, shapes, tmp_path):
    assert manyview("fit", shapes, *OPTIONS, "--out", tmp_path / "one")[0] == 0
    launcher = ("torch.distributed.run", "--standalone", "--nproc-per-node", "2")
    arguments = ["fit", str(shapes), *OPTIONS, "--out", str(tmp_path / "two")]
    done = subprocess.run(
        command(*arguments, launcher=launcher),
        env=shell_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Result ") == 1
    assert_equal_runs(tmp_path / "one", tmp_path / "two")
