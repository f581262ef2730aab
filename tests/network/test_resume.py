"""Progress of a fit on disk: what is written, what is read again, and what is refused."""

import json
from pathlib import Path

import pytest
import torch
from killed_fits import Killed, killed_after
from torch import nn

from manyview.errors import InputError
from manyview.network import resume
from manyview.network.resume import checkpoints, differences, fit_progress
from manyview.network.training import train
from manyview.network.training_state import Saved, TrainingState
from manyview.system.config import config_context, get_config

IDENTITY = {"manyview": "1", "processes": 1, "settings": {"hidden": "8"}, "views": "v"}


class Noisy(nn.Module):
    """A linear map with dropout, so that the generator's state matters."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(4, 3))

    def forward(self, inputs, generator=None):
        kept = torch.rand(inputs.shape, generator=generator) < 0.7
        return (inputs * kept) @ self.weight


def train_one(folder=None, identity=IDENTITY, n_trainings=1, seed=0, **changes):
    """Train on random numbers, `n_trainings` times one after the other; return weights, curve."""
    generator = torch.Generator().manual_seed(seed)
    inputs = torch.randn(30, 4, generator=torch.Generator().manual_seed(1))
    labels = torch.arange(30) % 4 - 1
    network, settings = Noisy(), {"learning_rate": 0.1, "max_epochs": 12, "tol": None} | changes

    def run():
        curves = [
            train(network, (inputs,), labels, generator=generator, **settings)
            for _ in range(n_trainings)
        ]
        return network.weight.detach().clone(), curves[-1], generator.get_state()

    if folder is None:
        return run()
    with checkpoints(folder, every=0), fit_progress(lambda: identity):
        return run()


def kill(folder, n_writes, **changes):
    with killed_after(n_writes), pytest.raises(Killed):
        train_one(folder, **changes)


def files(folder):
    return sorted(path.name for path in Path(folder).glob("fit-*/*"))


def assert_same(one, other):
    assert torch.equal(one[0], other[0])
    assert one[1] == other[1]
    assert torch.equal(one[2], other[2])


@pytest.mark.parametrize("n_writes", [1, 5, 11, 12, 13, 20])
def test_a_killed_training_continues_with_the_same_result(tmp_path, n_writes, capsys):
    kill(tmp_path / "p", n_writes, n_trainings=2)
    assert_same(train_one(tmp_path / "p", n_trainings=2), train_one(n_trainings=2))
    assert capsys.readouterr().err.startswith("The fit continues from ")
    assert not (tmp_path / "p").exists()


def test_a_training_that_stops_early_stays_stopped(tmp_path):
    target = {"target_loss": 1.05, "max_epochs": 200}
    assert train_one(**target)[1].stopped == "converged"
    kill(tmp_path, train_one(**target)[1].n_epochs, n_trainings=2, **target)  # the first has ended
    assert "0-final-0.safetensors" in files(tmp_path)
    again, expected = (train_one(one, n_trainings=2, **target) for one in (tmp_path, None))
    assert_same(again, expected)


def test_the_last_two_states_are_kept(tmp_path):
    kill(tmp_path, 5)
    assert files(tmp_path) == ["0-000004-0.safetensors", "0-000005-0.safetensors", "fit.json"]


def test_states_of_the_training_before_are_kept_until_there_are_two_newer_ones(tmp_path):
    kill(tmp_path, 14, n_trainings=2)  # 12 epochs, the result, and one more epoch
    assert files(tmp_path) == [
        "0-000012-0.safetensors",
        "0-final-0.safetensors",
        "1-000001-0.safetensors",
        "fit.json",
    ]


@pytest.mark.parametrize("damage", ["changed", "cut short", "empty", "missing"])
def test_a_damaged_state_is_refused_and_the_one_before_is_used(
    tmp_path, capsys, monkeypatch, damage
):
    kill(tmp_path, 6)
    (newest,) = tmp_path.glob("fit-*/0-000006-0.safetensors")
    content = bytearray(newest.read_bytes())
    content[-3] ^= 1
    if damage == "missing":
        newest.unlink()
    else:
        damaged = {"changed": content, "cut short": content[:-8], "empty": b""}[damage]
        newest.write_bytes(bytes(damaged))
    unpack, epochs = TrainingState.unpack, []

    def noted(self, saved, **words):
        epochs.append(len(saved.numbers["loss"]))
        unpack(self, saved, **words)

    monkeypatch.setattr(TrainingState, "unpack", noted)
    assert_same(train_one(tmp_path), train_one())
    assert epochs == [5]
    shown = capsys.readouterr().err
    assert (f"{newest} is damaged and not used" in shown) == (damage != "missing")


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"manyview": "0"}, "another version of manyview (1)"),
        ({"processes": 2}, "another number of processes (1)"),
        ({"views": "w", "settings": {"hidden": "9"}}, "other settings (hidden), other views"),
    ],
)
def test_progress_of_another_fit_is_named_kept_and_not_used(tmp_path, capsys, changed, words):
    kill(tmp_path, 5)
    before = files(tmp_path)
    assert_same(train_one(tmp_path, IDENTITY | changed), train_one())
    (other,) = tmp_path.iterdir()
    assert capsys.readouterr().err == (
        f"{other} has the progress of a fit with {words}. It is kept there and not used: this fit "
        "starts from the beginning.\n"
    )
    assert files(tmp_path) == before
    train_one(tmp_path)
    assert "The fit continues" in capsys.readouterr().err


def test_a_training_that_starts_from_other_numbers_is_not_continued(tmp_path, capsys):
    kill(tmp_path, 5)
    assert_same(train_one(tmp_path, seed=3), train_one(seed=3))
    assert "its training started from other numbers" in capsys.readouterr().err


def test_an_interrupted_training_is_not_taken_for_a_finished_one(tmp_path):
    def stop(curve, averaged):
        if curve.n_epochs == 6:
            raise KeyboardInterrupt

    with checkpoints(tmp_path, every=0), fit_progress(lambda: IDENTITY):
        assert train_one(on_epoch=stop)[1].stopped == "interrupted"
        names = ["0-000004-0.safetensors", "0-000005-0.safetensors", "fit.json"]
        assert files(tmp_path) == names


def test_short_fits_write_nothing(tmp_path):
    with checkpoints(tmp_path / "p"), fit_progress(lambda: pytest.fail("not needed")):
        train_one()
    assert not (tmp_path / "p").exists()


def test_finished_trainings_wait_for_the_next_checkpoint(tmp_path, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(resume, "monotonic", lambda: clock[0])

    def tick(curve, averaged):
        clock[0] += 1

    with (
        pytest.raises(Killed),
        killed_after(1),
        checkpoints(tmp_path, every=30),
        fit_progress(lambda: IDENTITY),
    ):
        train_one(n_trainings=3, on_epoch=tick)  # 12 seconds each
    names = ["0-final-0.safetensors", "1-final-0.safetensors", "2-000006-0.safetensors"]
    assert files(tmp_path) == [*names, "fit.json"]


def test_slow_writing_is_done_less_often(tmp_path, monkeypatch):
    clock, write = [0.0], Saved.write

    def slow(self, path):
        clock[0] += 3
        write(self, path)

    monkeypatch.setattr(resume, "monotonic", lambda: clock[0])
    monkeypatch.setattr(Saved, "write", slow)
    with checkpoints(tmp_path, every=1), fit_progress(lambda: IDENTITY):
        fit = resume._FIT.get()
        fit.write(fit.path(0, "000001"), Saved({"a": torch.ones(1)}, {}))
        assert fit.pause == pytest.approx(60)


def test_a_folder_that_cannot_be_written_is_a_warning(tmp_path, monkeypatch):
    def full(self, path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Saved, "write", full)
    with pytest.warns(UserWarning, match="is not kept in .* No space left"):
        found = train_one(tmp_path / "p")
    assert_same(found, train_one())


def test_what_a_killed_process_left_is_removed(tmp_path):
    kill(tmp_path, 5)
    (folder,) = tmp_path.iterdir()
    (folder / "0-000006-0.safetensors.123.tmp").touch()
    (folder / "0-000006-1.safetensors.123.tmp").touch()
    kill(tmp_path, 2)
    names = {path.name for path in folder.iterdir()}
    assert "0-000006-0.safetensors.123.tmp" not in names
    assert "0-000006-1.safetensors.123.tmp" in names  # of another process


def test_a_block_that_fails_keeps_its_progress_and_one_that_ends_removes_its_own(tmp_path):
    (tmp_path / "notes.txt").touch()

    def fit_and_fail():
        with checkpoints(tmp_path, every=0):
            with fit_progress(lambda: IDENTITY):
                train_one()
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fit_and_fail()
    assert files(tmp_path) == [
        "0-000011-0.safetensors",
        "0-000012-0.safetensors",
        "0-final-0.safetensors",
        "fit.json",
    ]
    assert json.loads(next(tmp_path.glob("fit-*/fit.json")).read_text()) == IDENTITY
    train_one(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_costly_neighbors_are_kept_with_the_progress_unless_there_is_a_cache(tmp_path):
    with checkpoints(tmp_path / "p", every=7):
        config = get_config()
        assert (config.cache_dir, config.cache_after) == (tmp_path / "p" / "graphs", 7)
    with config_context(cache_dir=tmp_path), checkpoints(tmp_path / "p"):
        assert get_config().cache_dir == tmp_path


def test_only_own_files_are_removed(tmp_path):
    own = tmp_path / "graphs" / f"neighbors-{'0a' * 32}.npz"
    own.parent.mkdir()
    others = [tmp_path / "graphs" / "mine.npz", tmp_path / "fit-mine" / "notes.txt"]
    others[1].parent.mkdir()
    for path in (own, *others):
        path.touch()
    train_one(tmp_path)
    assert not own.exists()
    assert all(path.exists() for path in others)


def test_trainings_outside_of_a_fit_keep_nothing(tmp_path):
    with checkpoints(tmp_path / "p", every=0):
        train_one()
        with fit_progress(None):
            train_one()
        assert not (tmp_path / "p").exists()


def test_folder_and_seconds_are_checked(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match=r"must be a folder; .* is a file"):
        checkpoints(tmp_path / "file").__enter__()
    with pytest.raises(InputError, match="every must be at least 0; got -1"):
        checkpoints(tmp_path, every=-1).__enter__()


def test_an_unknown_difference_is_still_a_sentence():
    assert differences({"new": 1}, {}) == "another record of its settings"
