"""The journal of a tuning: what was tried, in memory or in a folder that outlives a crash.

FOLDER/study.json       what is tuned on what: another study in this folder is refused
FOLDER/records.jsonl    one line a configuration; the same call goes on behind the last
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from manyview.errors import DataFileError, InputError
from manyview.experiments.store import Store
from manyview.system.files import write_whole

STUDY_NAME = "study.json"
FORMAT, FORMAT_VERSION = "manyview tuning study", 1
SEARCH, CONFIRMATION = "search", "confirmation"
CLAIM = "tuning"
# How a part of a study is called when it is not that of the folder.
WORDS = {
    "views": "other samples",
    "labels": "other labels",
    "method": "another method",
    "params": "other parameters of the method",
    "space": "another space",
    "scoring": "another scoring",
    "n_splits": "another n_splits",
    "n_repeats": "another n_repeats",
    "seed": "another random_state",
}


@dataclass(frozen=True)
class Trial:
    """One configuration, scored on all folds of a stage.

    Attributes
    ----------
    number
        0 for the defaults, then in the order in which they were tried.
    stage
        "search", or "confirmation" for the best of it on fresh folds.
    params
        The tuned parameters.
    scores
        One a fold; none where it failed.
    error
        Why it failed.
    """

    number: int
    stage: str
    params: dict[str, Any]
    scores: tuple[float, ...]
    seconds: float
    error: str | None = None

    @property
    def score(self) -> float | None:
        """Mean over the folds; None where it failed."""
        return fmean(self.scores) if self.scores else None

    @property
    def key(self) -> str:
        """Name of the record."""
        return f"{self.stage}-{self.number:04d}"


class Journal:
    """Trials by stage, in order; kept in a folder where one is named."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        self.trials: list[Trial] = []
        self._store = None if folder is None else Store(folder)

    @contextmanager
    def open(self, study: Mapping[str, Any]) -> Iterator[None]:
        """Read what is there, and keep others out of the folder meanwhile.

        A folder that holds another study, or anything else, is refused.
        """
        if self.folder is None or self._store is None:
            yield
            return
        _check_folder(self.folder, study)
        self._store.open()
        if self._store.claim([CLAIM]) is None:
            raise InputError(
                f"{self.folder} is in use by another tuning. Wait for it, or name another folder."
            )
        try:
            if not (self.folder / STUDY_NAME).exists():
                head = {"format": FORMAT, "format_version": FORMAT_VERSION}
                text = json.dumps({**head, **study}, indent=2) + "\n"
                write_whole(self.folder / STUDY_NAME, text)
            self.trials = [_trial(record) for record in self._store.records().values()]
            yield
        finally:
            self._store.release(CLAIM)

    def add(self, trial: Trial) -> None:
        """Write one trial down."""
        self.trials.append(trial)
        if self._store is not None:
            self._store.add({"key": trial.key, **asdict(trial)})

    def of(self, stage: str) -> list[Trial]:
        """Return the trials of a stage, by number."""
        return sorted(
            (trial for trial in self.trials if trial.stage == stage), key=lambda one: one.number
        )


def stored_seed(folder: Path | None) -> int | None:
    """Return the seed of the study in a folder, for calls that do not say theirs."""
    if folder is None or not (folder / STUDY_NAME).is_file():
        return None
    seed = _read(folder / STUDY_NAME).get("seed")
    return seed if isinstance(seed, int) else None


def _check_folder(folder: Path, study: Mapping[str, Any]) -> None:
    file = folder / STUDY_NAME
    if folder.exists() and not folder.is_dir():
        raise InputError(f"the folder of a tuning must be a folder; {folder} is a file.")
    if not file.exists():
        if folder.is_dir() and any(folder.iterdir()):
            raise InputError(
                f"{folder} holds something else than a tuning. Name a new folder, or empty this."
            )
        return
    stored = _read(file)
    asked = json.loads(json.dumps(study))
    differ = [name for name in WORDS if stored.get(name) != asked.get(name)]
    if differ:
        raise InputError(
            f"{folder} holds the tuning of another study: it has "
            f"{', '.join(WORDS[name] for name in differ)}. Name another folder, or repeat the "
            "call that began it."
        )


def _read(file: Path) -> dict[str, Any]:
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataFileError(f"{file} cannot be read: it is damaged or cut short.") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise DataFileError(f"{file} is not the study of a manyview tuning.")
    return document


def _trial(record: Mapping[str, Any]) -> Trial:
    return Trial(
        record["number"],
        record["stage"],
        record["params"],
        tuple(record["scores"]),
        record["seconds"],
        record["error"],
    )
