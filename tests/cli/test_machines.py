"""Several machines, each a network namespace of this one: torchrun lets their processes meet."""

import os
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from machines import NotAllowedError, machines
from shared_runs import assert_equal_runs, assert_identical_runs, wait_for_checkpoint

REAL_DATA = Path(os.environ.get("MANYVIEW_DATA", "")).absolute()  # tests here do not see it
OPTIONS = ("--label-ratio", "0.2", "-p", "hidden=8", "-p", "max_epochs=40")
MINUTE = 60


@pytest.fixture
def network():
    """Make some machines; skipped where the system does not allow it."""
    with ExitStack() as opened:

        def make(n_machines):
            try:
                return opened.enter_context(machines(n_machines))
            except NotAllowedError as error:
                pytest.skip(str(error))

        yield make


def test_two_machines_write_the_run_of_one_process(manyview, shapes, network, tmp_path):
    two = network(2)
    assert manyview("fit", shapes, *OPTIONS, "--out", tmp_path / "one")[0] == 0
    started = two.start(["fit", shapes, *OPTIONS, "--out", tmp_path / "two"], n_processes=2)
    results = two.wait(started)
    assert [code for code, _, _ in results] == [0, 0], results
    assert sum(out.count("Result ") for _, out, _ in results) == 1
    assert_equal_runs(tmp_path / "one", tmp_path / "two")


def kill_one_and_continue(network, n_machines, data, options, folder, *, seconds):
    """Fit on some machines; kill one of two fits in the middle, continue it, and compare."""
    group = network(n_machines)
    fit = ["fit", data, *options, "--no-report", "--out"]
    results = group.wait(group.start([*fit, folder / "whole"]), seconds)
    assert {code for code, _, _ in results} == {0}, results
    out = folder / "killed"
    killed = [*fit, out, "--checkpoint-every", "0.5"]
    started = group.start(killed)
    wait_for_checkpoint(out, 3, n_machines - 1, seconds)
    began = time.monotonic()
    group.kill(n_machines - 1)
    results = group.wait(started, seconds)
    assert time.monotonic() - began < MINUTE
    assert all(code != 0 for code, _, _ in results), results
    for _, _, errors in results[:-1]:
        lines = [line for line in errors.splitlines() if "same command continues" in line]
        assert len(lines) == 1, errors
        assert "another process of this fit has ended or does not answer" in lines[0]
    assert not out.exists()
    results = group.wait(group.start(killed), seconds)
    assert {code for code, _, _ in results} == {0}, results
    assert sum(errors.count("The fit continues from") for _, _, errors in results) == 1
    assert_identical_runs(folder / "whole", out)
    assert not out.with_name("killed.checkpoint").exists()


@pytest.mark.parametrize("n_machines", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_a_machine_is_killed_and_the_same_command_continues(network, tmp_path, n_machines):
    options = ["--label-ratio", "0.02"]
    kill_one_and_continue(network, n_machines, "digits", options, tmp_path, seconds=300)


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("n_machines", [2, 4])
def test_a_killed_fit_of_70_000_digits_continues(network, tmp_path, n_machines):
    options = ["--label-ratio", "0.01", "--data-dir", REAL_DATA]
    kill_one_and_continue(network, n_machines, "mnist-70k", options, tmp_path, seconds=3600)
