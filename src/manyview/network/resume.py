"""Progress of a fit on disk, from which the same fit continues after its process was killed.

A fit is a sequence of trainings: of its stages, and of its folds. All else follows from the data,
the settings and the trainings before. So the progress of a fit is the result of every training
that has finished, and the state of the one that runs. A fit that is started again computes all
else anew, and takes its trainings from here as far as they go.

    with checkpoints(folder):              opened by a script, or by `manyview fit`
        with fit_progress(identity):       by the fit of a classifier
            resume_training(state, ...)    by each training

    FOLDER/graphs/                         neighbors whose search took long
    FOLDER/fit-KEY/fit.json                what decides the fit; KEY is its checksum
    FOLDER/fit-KEY/2-final-0.safetensors   training 2 has finished; the part of process 0
    FOLDER/fit-KEY/3-000080-0.safetensors  training 3 after 80 epochs; the last two are kept

Each process of a shared fit writes its part. All continue from the newest epoch that all have.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from time import monotonic
from typing import Any

import torch
from safetensors import SafetensorError
from torch import Tensor

from manyview.distributed.world import ALONE, World, world
from manyview.errors import InputError, warn_user
from manyview.network.training_state import Saved, TrainingState, checksum_of, publish
from manyview.system.config import config_context, get_config
from manyview.system.paths import expand_user
from manyview.system.progress import show_message
from manyview.validation import check_number

SECONDS = 60.0  # between two checkpoints
MOST_TIME = 0.05  # fraction of a fit that writing may take
N_KEPT = 2  # states of trainings that are not finished
FINAL = "final"  # stands in the place of the epoch, and sorts after all of them
GRAPHS_NAME, FIT_NAME = "graphs", "fit.json"
CACHED_NAME = f"*-{'[0-9a-f]' * 64}.npz"  # of neighbors, by their checksum
WHAT = {
    "manyview": "another version of manyview",
    "processes": "another number of processes",
    "device": "another device",
    "seed": "another seed",
    "settings": "other settings",
    "views": "other views",
    "labels": "other labels",
}


@dataclass
class Checkpoints:
    """The folder of a `checkpoints` block."""

    folder: Path
    every: float  # seconds between two checkpoints
    used: list[Path] = field(default_factory=list)  # folders of the block's own fits

    @property
    def has_progress(self) -> bool:
        """Whether a fit of the block has written any."""
        return any(folder.exists() for folder in self.used)

    def remove(self) -> None:
        """Remove the progress of the block's own fits; that of others stays."""
        for folder in self.used:
            shutil.rmtree(folder, ignore_errors=True)
        graphs = self.folder / GRAPHS_NAME
        with suppress(OSError):
            for file in graphs.glob(CACHED_NAME):
                file.unlink()
        for folder in (graphs, self.folder):
            with suppress(OSError):  # it holds something else
                folder.rmdir()


_OPENED: ContextVar[Checkpoints | None] = ContextVar("manyview_checkpoints", default=None)
_FIT: ContextVar["FitProgress | None"] = ContextVar("manyview_fit_progress", default=None)


@contextmanager
def checkpoints(folder: str | Path, *, every: float = SECONDS) -> Iterator[Checkpoints]:
    """Keep the progress of fits in a folder, so that the same script continues a killed one.

    Fits of `ManyviewClassifier` and `MGCNDNSClassifier` within the block write their progress, but
    not those with callbacks or from a warm start. A fit with the same data, labels, settings,
    seed, version of manyview and number of processes continues from it, with the same result as
    without a break; any other fit does not use it. When the block has ended without an error, its
    progress is removed, so save the model within it.

    Parameters
    ----------
    folder
        Made when there is something to write. Processes that share a fit need the same one.
    every
        Seconds between two checkpoints; a shorter fit writes nothing. Where writing takes long, it
        is done less often. 0 writes after every epoch.

    Examples
    --------
    >>> from manyview import MGCNDNSClassifier, checkpoints, make_multiview_classification
    >>> views, labels = make_multiview_classification(60, 2, random_state=0)
    >>> with checkpoints("progress"):
    ...     model = MGCNDNSClassifier(random_state=0).fit(views, labels)
    """
    check_number("every", every, at_least=0)
    place = expand_user(Path(folder))
    if place.exists() and not place.is_dir():
        raise InputError(f"The folder of checkpoints must be a folder; {place} is a file.")
    opened = Checkpoints(place, every)
    token = _OPENED.set(opened)
    try:
        with ExitStack() as settings:
            if get_config().cache_dir is None:
                graphs = config_context(cache_dir=place / GRAPHS_NAME, cache_after=every)
                settings.enter_context(graphs)
            yield opened
    finally:
        _OPENED.reset(token)
    if world().rank == 0:
        opened.remove()


def has_checkpoints() -> bool:
    """Whether fits keep their progress here."""
    return _OPENED.get() is not None


@contextmanager
def fit_progress(identity: Callable[[], Mapping[str, Any]] | None) -> Iterator[None]:
    """Let the trainings of this block be those of one fit, where `checkpoints` are open.

    Parameters
    ----------
    identity
        Returns what decides the fit, as JSON can hold it (see `WHAT`); None keeps no progress.
    """
    opened = _OPENED.get()
    progress = None
    if opened is not None and identity is not None:
        progress = FitProgress(opened, identity)
    token = _FIT.set(progress)
    try:
        yield
    finally:
        _FIT.reset(token)


def resume_training(
    state: TrainingState, given: Sequence[Tensor | None], shared: World | None
) -> "TrainingProgress | None":
    """Continue a training that a fit has begun before; None where no progress is kept.

    Parameters
    ----------
    state
        As it starts; set to where the training was, if it was begun.
    given
        What it learns from: labels and soft targets.
    shared
        The processes that share the training; collective among them.
    """
    fit = _FIT.get()
    if fit is None:
        return None
    start = checksum_of([*given, *state.pack(is_final=True).tensors.values()])
    return TrainingProgress(fit, fit.count(), state, start, shared or ALONE)


class FitProgress:
    """Files of one fit, of which this process writes its part."""

    def __init__(self, opened: Checkpoints, identity: Callable[[], Mapping[str, Any]]) -> None:
        self.opened, self.describe, self.rank = opened, identity, world().rank
        self.n_trainings = 0
        self.written_at, self.pause = monotonic(), opened.every
        self.finished: dict[int, Saved] = {}  # results to be written with the next state
        self.kept: list[Path] = []  # states on the disk, the newest last
        self.has_failed = self.has_resumed = False
        if opened.folder.is_dir():  # otherwise the checksums can wait
            self._name_others()

    @cached_property
    def identity(self) -> dict[str, Any]:
        """What decides the fit."""
        return dict(self.describe())

    @cached_property
    def folder(self) -> Path:
        """Folder of the fit, which may not exist yet."""
        key = checksum_of([json.dumps(self.identity, sort_keys=True)])[:16]
        folder = self.opened.folder / f"fit-{key}"
        self.opened.used.append(folder)
        return folder

    def count(self) -> int:
        """Return the number of the next training, from 0."""
        self.n_trainings += 1
        return self.n_trainings - 1

    def path(self, number: int, name: str) -> Path:
        """Return the file of a training's state, by its epoch or `FINAL`."""
        return self.folder / f"{number}-{name}-{self.rank}.safetensors"

    def is_due(self) -> bool:
        """Whether it is time to write."""
        return monotonic() - self.written_at >= self.pause

    def read(self, number: int, start: str) -> dict[str, Saved]:
        """Return the states of a training that were written by a fit before, by their epoch."""
        found: dict[str, Saved] = {}
        if not self.opened.folder.is_dir():
            return found
        for path in sorted(self.folder.glob(f"{number}-*-{self.rank}.safetensors")):
            try:
                saved = Saved.read(path)
            except ValueError as error:
                reason = " ".join(str(error).split())[:120]
                show_message(f"{path} is damaged and not used ({reason}).")
                continue
            if saved.start == start:
                found[path.name.split("-")[1]] = saved
            else:
                show_message(
                    f"{path} is not used: its training started from other numbers. Continue on a "
                    "machine of the same kind, with the same packages and number of threads."
                )
        return found

    def resume(self, number: int, name: str) -> None:
        """Note that a training continues from a state."""
        if name != FINAL:
            self.kept = [self.path(number, name)]
        if not self.has_resumed and self.rank == 0:
            show_message(f"The fit continues from {self.folder}.")
        self.has_resumed = True

    def write(self, path: Path | None = None, saved: Saved | None = None) -> None:
        """Write what has finished, and the state of a training that runs."""
        if self.has_failed:
            return
        began = monotonic()
        try:
            self._make_folder()
            for number in list(self.finished):
                self.finished[number].write(self.path(number, FINAL))
                del self.finished[number]
            if path is not None and saved is not None:
                saved.write(path)
                self.kept = [*self.kept, path][-N_KEPT:]
                self._remove_old()
        except (OSError, SafetensorError) as error:
            self.has_failed = True
            message = f"the progress of the fit is not kept in {self.opened.folder}: {error}."
            warn_user(message, UserWarning)
        self.written_at = monotonic()
        if self.opened.every > 0:  # 0 writes after every epoch, however long that takes
            self.pause = max(self.opened.every, (self.written_at - began) / MOST_TIME)

    def _make_folder(self) -> None:
        if (self.folder / FIT_NAME).exists():
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        # Processes of several machines may have the same id.
        temporary = self.folder / f"{FIT_NAME}.{self.rank}.{os.getpid()}.tmp"
        temporary.write_text(json.dumps(self.identity, indent=1) + "\n", encoding="utf-8")
        publish(temporary, self.folder / FIT_NAME)

    def _remove_old(self) -> None:
        """Remove the own states that are not kept, and what a killed process has left."""
        for path in self.folder.glob(f"*-{self.rank}.safetensors*"):
            is_final = path.name.split("-")[1] == FINAL and path.suffix != ".tmp"
            if not is_final and path not in self.kept:
                path.unlink(missing_ok=True)

    def _name_others(self) -> None:
        """Show why the progress of other fits in the folder is not used, if there is no own."""
        if self.folder.exists() or self.rank > 0:
            return
        for other in sorted(self.opened.folder.glob(f"fit-*/{FIT_NAME}")):
            if other.parent in self.opened.used:
                continue
            with suppress(OSError, ValueError):
                theirs = json.loads(other.read_text(encoding="utf-8"))
                show_message(
                    f"{other.parent} has the progress of a fit with "
                    f"{differences(theirs, self.identity)}. It is kept there and not used: this "
                    "fit starts from the beginning."
                )


class TrainingProgress:
    """Progress of one training; methods are collective among the processes that share it."""

    def __init__(
        self, fit: FitProgress, number: int, state: TrainingState, start: str, shared: World
    ) -> None:
        self.fit, self.number, self.state, self.start = fit, number, state, start
        self.shared = shared
        found = fit.read(number, start)
        common = set.intersection(*map(set, shared.gather_objects(list(found))))
        newest = max(common, default="")
        self.has_finished = newest == FINAL
        if newest:
            state.unpack(found[newest], is_final=self.has_finished)
            fit.resume(number, newest)

    def end_epoch(self) -> None:
        """Write the state if it is time."""
        if self._is_due():
            path = self.fit.path(self.number, f"{self.state.curve.n_epochs:06}")
            self.fit.write(path, self._packed(is_final=False))

    def finish(self) -> None:
        """Keep the result, and write it if it is time."""
        self.fit.finished[self.number] = self._packed(is_final=True)
        if self._is_due():
            self.fit.write()

    def _packed(self, *, is_final: bool) -> Saved:
        packed = self.state.pack(is_final=is_final)
        return Saved(packed.tensors, packed.numbers, self.start)

    def _is_due(self) -> bool:
        """Whether it is time to write, by the clock of the first process."""
        return bool(self.shared.broadcast(torch.tensor(int(self.fit.is_due()))))


def differences(theirs: Mapping[str, Any], own: Mapping[str, Any]) -> str:
    """Describe in what two fits differ.

    Examples
    --------
    >>> one = {"processes": 1, "settings": {"hidden": 8}}
    >>> differences({"processes": 2, "settings": {"hidden": 9}}, one)
    'another number of processes (2), other settings (hidden)'
    """
    found = []
    for name, words in WHAT.items():
        their, mine = theirs.get(name), own.get(name)
        if their == mine:
            continue
        if isinstance(their, dict) and isinstance(mine, dict):
            names = sorted(one for one in their | mine if their.get(one) != mine.get(one))
            words = f"{words} ({', '.join(names)})"
        elif name not in ("views", "labels"):
            words = f"{words} ({their})"
        found.append(words)
    return ", ".join(found) or "another record of its settings"
