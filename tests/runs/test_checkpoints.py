"""The progress of a run: beside its folder, removed with its end, kept when it is killed."""

from pathlib import Path

import pytest
from killed_fits import Killed, killed_after
from shared_runs import assert_identical_runs

from manyview.errors import InputError, ProcessError
from manyview.network.resume import FitProgress
from manyview.runs.checkpoints import checkpoint_folder, run_checkpoints
from manyview.runs.fitting import fit_run
from manyview.runs.shared import take_part


@pytest.mark.parametrize("method", ["manyview", "mgcn-dns"])
def test_a_killed_run_continues_with_the_same_settings(quick, tmp_path, capsys, method):
    settings = quick(method=method)
    whole = fit_run(quick(method=method, out=tmp_path / "whole"))
    with killed_after(4), pytest.raises(Killed):
        fit_run(settings, checkpoint_every=0)
    assert not (tmp_path / "run").exists()
    assert (tmp_path / "run.checkpoint").is_dir()
    run = fit_run(settings)  # the seconds between checkpoints may differ
    assert "The fit continues from" in capsys.readouterr().err
    assert not (tmp_path / "run.checkpoint").exists()
    assert_identical_runs(whole.folder, run.folder)


def test_a_run_that_fails_after_its_fit_is_finished_without_training(quick, tmp_path, monkeypatch):
    def fail(run, data, labels, model):
        raise RuntimeError("no report")

    with pytest.raises(RuntimeError):
        fit_run(quick(), extra_files=fail, checkpoint_every=0)
    monkeypatch.setattr(FitProgress, "write", lambda *_: pytest.fail("a training was not kept"))
    fit_run(quick(), checkpoint_every=0)


def test_an_interrupt_of_the_training_keeps_the_run_and_no_progress(quick, tmp_path, monkeypatch):
    write, settings = FitProgress.write, quick(method="mgcn-dns")

    def interrupted(self, path=None, saved=None):
        write(self, path, saved)
        if path is not None and "000003" in path.name:
            raise KeyboardInterrupt

    monkeypatch.setattr(FitProgress, "write", interrupted)
    run = fit_run(settings, checkpoint_every=0)
    assert (run.training.stopped, run.training.n_epochs) == ("interrupted", 3)
    assert not (tmp_path / "run.checkpoint").exists()


def test_other_processes_keep_their_part(quick, tmp_path):
    with killed_after(3), pytest.raises(Killed):
        take_part(quick(), checkpoint_every=0)
    assert list((tmp_path / "run.checkpoint").glob("fit-*/0-000003-0.safetensors"))


@pytest.mark.parametrize("error", [KeyboardInterrupt(), ProcessError("Process 1 has ended.")])
def test_an_error_says_that_the_same_command_continues(quick, tmp_path, monkeypatch, error):
    write = FitProgress.write

    def interrupted(self, *arguments):
        write(self, *arguments)
        raise error

    monkeypatch.setattr(FitProgress, "write", interrupted)
    # The first training makes pseudo-labels, and an interrupt ends the run.
    with pytest.raises(type(error)) as raised:
        fit_run(quick(), checkpoint_every=0)
    words = f"progress is kept in {tmp_path / 'run.checkpoint'}, and the same command continues."
    assert str(raised.value) in (f"Interrupted; {words}", f"Process 1 has ended. The {words}")


@pytest.mark.parametrize("error", [KeyboardInterrupt, ProcessError])
def test_an_error_without_progress_stays_as_it_is(tmp_path, error):
    with pytest.raises(error) as raised, run_checkpoints(tmp_path / "run", "manyview"):
        raise error
    assert str(raised.value) == ""


def test_methods_without_the_network_keep_no_progress(quick, tmp_path):
    fit_run(quick(method="gcn-fusion", params={"max_epochs": 3}), checkpoint_every=0)
    assert not (tmp_path / "run.checkpoint").exists()


def test_seconds_are_checked_before_the_data_are_read(quick):
    with pytest.raises(InputError, match="checkpoint_every must be at least 0; got -1"):
        fit_run(quick(), checkpoint_every=-1)


def test_the_folder_of_here_has_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert checkpoint_folder(Path()) == tmp_path.with_name(f"{tmp_path.name}.checkpoint")
