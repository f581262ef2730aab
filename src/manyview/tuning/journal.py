"""The journal of a tuning: the scored candidates, in memory or in a folder that survives a crash.

FOLDER/study.json       method, data and settings; another tuning in this folder is refused
FOLDER/records.jsonl    one line per candidate; the same call continues after the last
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from types import NoneType
from typing import Any

from manyview.errors import InputError
from manyview.experiments.records import Fields
from manyview.experiments.store import OWN_NAMES, RECORDS_NAME, Store
from manyview.runs.reading import read_document
from manyview.system.files import write_whole

STUDY_NAME = "study.json"
FORMAT, FORMAT_VERSION = "manyview tuning study", 1
SEARCH, CONFIRMATION = "search", "confirmation"
CLAIM = "tuning"
_FIELDS: Fields = {
    "number": int, "stage": str, "params": dict, "scores": list, "seconds": (int, float),
    "error": (str, NoneType),
}  # fmt: skip


@dataclass(frozen=True)
class Candidate:
    """One configuration of the parameters, scored on all folds of a stage."""

    number: int  # 0 for the defaults; the others in order
    stage: str  # "search", or "confirmation" for the best ones on new folds
    params: dict[str, Any]  # the tuned parameters
    scores: tuple[float, ...]  # one per fold; empty if a fit failed
    seconds: float
    error: str | None = None  # why it failed

    @property
    def score(self) -> float | None:
        """Return the mean over the folds; None if it failed."""
        return fmean(self.scores) if self.scores else None

    @property
    def key(self) -> str:
        """Return the name of the record."""
        return f"{self.stage}-{self.number:04d}"


class Journal:
    """Candidates by stage, in order; stored in a folder if one is named."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        self.candidates: list[Candidate] = []
        self.n_damaged = 0  # lines that were set aside when it was opened
        self._store = None if folder is None else Store(folder, _FIELDS)

    @contextmanager
    def open(self, study: Mapping[str, Any]) -> Iterator[None]:
        """Read the stored candidates and lock the folder.

        A folder with another tuning, or with anything else, is refused.
        """
        if self.folder is None or self._store is None:
            yield
            return
        _check_folder(self.folder, study)
        self.n_damaged = self._store.open()
        if self._store.claim([CLAIM]) is None:
            raise InputError(
                f"{self.folder} is in use by another process. Wait for it, or name another folder."
            )
        try:
            if not (self.folder / STUDY_NAME).exists():
                head = {"format": FORMAT, "format_version": FORMAT_VERSION}
                text = json.dumps({**head, **study}, indent=2) + "\n"
                write_whole(self.folder / STUDY_NAME, text)
            self.candidates = [_candidate(record) for record in self._store.records().values()]
            yield
        finally:
            self._store.release()

    def add(self, candidate: Candidate) -> None:
        """Record one candidate."""
        self.candidates.append(candidate)
        if self._store is not None:
            self._store.add({"key": candidate.key, **asdict(candidate)})

    def of(self, stage: str) -> list[Candidate]:
        """Return the candidates of a stage, by number."""
        found = (candidate for candidate in self.candidates if candidate.stage == stage)
        return sorted(found, key=lambda candidate: candidate.number)

    def before_gap(self) -> list[Candidate]:
        """Return the candidates of the search up to the first that is missing.

        One is missing in the middle if its line was damaged. It is drawn again from those before
        it, which gives the same parameters.
        """
        found = self.of(SEARCH)
        return [one for number, one in enumerate(found) if one.number == number]


def stored_seed(folder: Path | None) -> int | None:
    """Return the seed of the tuning in a folder, for calls without a seed."""
    if folder is None or not (folder / STUDY_NAME).is_file():
        return None
    seed = _read(folder / STUDY_NAME).get("seed")
    return seed if isinstance(seed, int) else None


def stored_candidates(folder: Path) -> int:
    """Count the candidates that are stored in a folder."""
    return len(Store(folder, _FIELDS).records())


# What to call a field of study.json that differs.
_WORDS = {
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


def _check_folder(folder: Path, study: Mapping[str, Any]) -> None:
    file = folder / STUDY_NAME
    if folder.exists() and not folder.is_dir():
        raise InputError(f"the folder of a tuning must be a folder; {folder} is a file.")
    if not file.exists():
        if folder.is_dir() and not all(_is_leftover(one.name) for one in folder.iterdir()):
            raise InputError(
                f"{folder} is not empty and holds no tuning. Name a new folder, or empty this one."
            )
        return
    stored = _read(file)
    asked = json.loads(json.dumps(study))
    differ = [name for name in _WORDS if stored.get(name) != asked.get(name)]
    if differ:
        raise InputError(
            f"{folder} holds another tuning: it has {', '.join(_WORDS[name] for name in differ)}. "
            "Name another folder, or repeat the call that started it."
        )


def _is_leftover(name: str) -> bool:
    """Whether a file is of a tuning that was killed before it had written its first one."""
    is_own = name in OWN_NAMES and name != RECORDS_NAME
    return is_own or (name.startswith(".") and name.endswith(".tmp"))


def _read(file: Path) -> dict[str, Any]:
    return read_document(file, FORMAT, "the study of a manyview tuning")


def _candidate(record: Mapping[str, Any]) -> Candidate:
    values = {name: record[name] for name in Candidate.__annotations__}
    return Candidate(**{**values, "scores": tuple(record["scores"])})
