"""The runs in a folder, each with what its record says; nothing heavy is imported."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from manyview.errors import DataFileError
from manyview.runs.names import RUN_NAME
from manyview.runs.reading import read_record

MAX_DEPTH = 3  # folders below the one that is listed


@dataclass(frozen=True)
class AccuracyEstimate:
    """An estimated accuracy with its 95% interval, where the record has one."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class ListedRun:
    """One run; None for what its record does not have.

    Attributes
    ----------
    estimate
        Accuracy estimated from the known labels.
    accuracy, n_scored
        Accuracy measured on hidden labels, and their number.
    written
        When the record was written, in ISO format.
    problem
        Why the record cannot be read; empty where it can.
    """

    folder: Path
    data: str = ""
    method: str = ""
    n_samples: int | None = None
    n_labeled: int | None = None
    estimate: AccuracyEstimate | None = None
    accuracy: float | None = None
    n_scored: int | None = None
    seconds: float | None = None
    written: str = ""
    problem: str = ""

    def document(self) -> dict[str, Any]:
        """Return the run as plain values."""
        return {**asdict(self), "folder": str(self.folder)}


def run_folders(folder: Path, max_depth: int = MAX_DEPTH) -> Iterator[Path]:
    """Find the folders of runs in a folder and below it, in the order of their names."""
    if (folder / RUN_NAME).is_file():
        yield folder
        return
    if max_depth == 0:
        return
    try:
        with os.scandir(folder) as entries:
            inner = [one.name for one in entries if one.is_dir() and one.name[0] != "."]
    except OSError:
        return
    for name in sorted(inner):
        yield from run_folders(folder / name, max_depth - 1)


def list_runs(folder: Path) -> list[ListedRun]:
    """Return the runs in a folder and below it, newest first."""
    if not folder.is_dir():
        kind = "is a file" if folder.exists() else "does not exist"
        raise DataFileError(
            f"The folder of runs must be a folder; {folder} {kind}. `manyview fit` writes its runs "
            "to the folder runs."
        )
    found = [listed_run(one) for one in run_folders(folder)]
    return sorted(found, key=lambda one: one.written, reverse=True)


def listed_run(folder: Path) -> ListedRun:
    """Return what the record of a run says; a record that cannot be read is a `problem`."""
    stamp = (folder / RUN_NAME).stat().st_mtime
    written = datetime.fromtimestamp(stamp, UTC).astimezone().isoformat(timespec="microseconds")
    try:
        record = read_record(folder)
    except DataFileError as error:
        return ListedRun(folder, written=written, problem=str(error))
    scores = _table(record, "scores")
    return ListedRun(
        folder=folder,
        data=str(_table(record, "data").get("name", "")),
        method=record["method"],
        n_samples=_number(_table(record, "data").get("n_samples"), int),
        n_labeled=_number(_table(record, "split").get("n_labeled"), int),
        estimate=_estimate(record),
        accuracy=_number(scores.get("accuracy"), float),
        n_scored=_number(scores.get("n_scored"), int),
        seconds=_number(_table(record, "training").get("seconds"), float),
        written=written,
    )


def _estimate(record: Mapping[str, Any]) -> AccuracyEstimate | None:
    """Return the estimated accuracy; records of runs without one have none."""
    found = _table(record, "estimate").get("accuracy")
    if isinstance(found, dict):
        value = _number(found.get("value"), float)
        low, high = (_number(found.get(name), float) for name in ("low", "high"))
        return None if value is None else AccuracyEstimate(value, low, high)
    value = _number(found, float)
    return None if value is None else AccuracyEstimate(value)


def _table(record: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = record.get(name)
    return found if isinstance(found, dict) else {}


def _number(value: Any, kind: type) -> Any:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return kind(value) if is_number else None
