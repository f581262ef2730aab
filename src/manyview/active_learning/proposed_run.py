"""Propose samples of a run to label next, by sample id."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from manyview.active_learning.proposals import propose_labels
from manyview.data.io.label_files import read_label_file
from manyview.data.io.paths import find_files
from manyview.errors import DataFileError, ManyviewError
from manyview.methods import find_method
from manyview.runs.reading import fitted_ids, read_record
from manyview.runs.records import csv_text
from manyview.system.files import is_replaced
from manyview.system.paths import expand_user

HEADER: tuple[str, str] = ("sample_id", "label")


@dataclass(frozen=True)
class Proposal:
    """Samples to label next, most useful first, with their predicted labels.

    `n_unlabeled` counts all samples without a label. `header` names the columns of the file to fill
    in, as in the file of labels of the run. `label_files` are those that the run has read.
    """

    folder: Path
    strategy: str
    n_unlabeled: int
    sample_ids: tuple[str, ...]
    labels: np.ndarray
    probabilities: np.ndarray
    header: tuple[str, str] = HEADER
    label_files: tuple[str, ...] = ()

    def rows(self) -> Iterator[tuple[str, Any, float]]:
        """Return (sample id, predicted label, its probability), in order."""
        return zip(self.sample_ids, self.labels.tolist(), self.probabilities.tolist(), strict=True)

    def csv(self) -> str:
        """Return CSV to fill in: sample ids, and an empty label each."""
        return csv_text(self.header, ((name, "") for name in self.sample_ids))

    def document(self, out: Path | None = None) -> dict[str, Any]:
        """Return the JSON document."""
        return {
            "format": "manyview proposal",
            "format_version": 1,
            "run": str(self.folder),
            "strategy": self.strategy,
            "n_unlabeled": self.n_unlabeled,
            "samples": [
                {"sample_id": name, "label": label, "probability": probability}
                for name, label, probability in self.rows()
            ],
            **({} if out is None else {"file": str(out)}),
        }


def propose_for_run(folder: Path, n: int, *, strategy: str = "coverage") -> Proposal:
    """Load the model of a run and propose samples by id."""
    model = find_method(read_record(folder)["method"]).load(folder)
    ids = fitted_ids(model, folder)
    rows = propose_labels(model, n, strategy=strategy)
    return Proposal(
        folder,
        strategy,
        int((~model.is_labeled_).sum()),
        tuple(ids[row] for row in rows),
        model.transduction_[rows],
        model.label_distributions_[rows].max(axis=1),
        own_header(folder),
        tuple(map(str, _label_files(read_record(folder)))),
    )


def own_header(folder: Path) -> tuple[str, str]:
    """Return the names of the two columns in a run's own file of labels, if it can be read.

    With `--label-column` or `--id-column`, all files of labels must have these columns.
    """
    record = read_record(folder)
    settings = record.get("settings")
    asked: dict[str, Any] = settings if isinstance(settings, dict) else {}
    files = _label_files(record)
    names = {name: asked.get(name) for name in ("id_column", "label_column")}
    for file in files:
        try:
            found = read_label_file(expand_user(file), **names)
        except (ManyviewError, OSError):
            continue
        if found.id_name and found.label_name:
            return found.id_name, found.label_name
    return str(names["id_column"] or "sample_id"), str(names["label_column"] or "label")


def _label_files(record: dict[str, Any]) -> list[str]:
    """Return the files of labels that a run has read: those given, or in the folder of the data."""
    settings = record.get("settings")
    labels = settings.get("labels") if isinstance(settings, dict) else None
    if labels:
        return [labels] if isinstance(labels, str) else list(labels)
    paths: list[str] = record["data"].get("paths") or []
    if len(paths) != 1 or not Path(paths[0]).is_dir():
        return []
    try:
        return [str(file) for file in find_files([paths[0]]).label_paths]
    except (ManyviewError, OSError):
        return []


def check_unfilled(file: Path, header: tuple[str, str] = HEADER) -> None:
    """Refuse to replace a file that a person may have filled in, or that is none of ours.

    `header` is that of the proposal's own file.
    """
    if not is_replaced(file):
        return
    try:
        with file.open(newline="", encoding="utf-8") as lines:
            rows = list(csv.reader(lines))
    except (ValueError, csv.Error):
        rows = [[]]
    except OSError as error:
        raise DataFileError(f"{file} cannot be read: {error.strerror or error}.") from error
    if not rows:  # an empty file
        return
    if tuple(rows[0]) not in (HEADER, header) or any(len(row) not in (0, 2) for row in rows):
        raise DataFileError(
            f"{file} exists and is not a table that `manyview propose` wrote. It stays as it is; "
            "name another file with --out."
        )
    n_labels = sum(bool(row[1].strip()) for row in rows[1:] if row)
    if n_labels:
        raise DataFileError(
            f"{file} has {n_labels} label{'s' * (n_labels > 1)} filled in and stays as it is. Use "
            f"{'them' if n_labels > 1 else 'it'} with `manyview fit DATA --labels {file}`, or name "
            "another file with --out."
        )
