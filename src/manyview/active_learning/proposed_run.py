"""Propose what to label next in a run, by the names of its samples."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from manyview.active_learning.proposals import propose_labels
from manyview.errors import DataFileError
from manyview.methods import find_method
from manyview.runs.records import PREDICTIONS_NAME, csv_text, read_record


@dataclass(frozen=True)
class Proposal:
    """Samples to label next, the most useful first, and what the run says of them."""

    folder: Path
    strategy: str
    n_open: int
    sample_ids: tuple[str, ...]
    labels: np.ndarray
    probabilities: np.ndarray

    def rows(self) -> Iterator[tuple[str, Any, float]]:
        """Give (sample, prediction so far, its probability), in order."""
        return zip(self.sample_ids, self.labels.tolist(), self.probabilities.tolist(), strict=True)

    def csv(self) -> str:
        """Lay the proposal out as CSV: sample_id, and an empty label to fill in."""
        return csv_text(("sample_id", "label"), ((name, "") for name in self.sample_ids))

    def document(self) -> dict[str, Any]:
        """Put everything into one JSON document."""
        return {
            "format": "manyview proposal",
            "format_version": 1,
            "run": str(self.folder),
            "strategy": self.strategy,
            "n_unlabeled": self.n_open,
            "samples": [
                {"sample_id": name, "label": label, "probability": probability}
                for name, label, probability in self.rows()
            ],
        }


def propose_for_run(folder: Path, n: int, *, strategy: str = "coverage") -> Proposal:
    """Load the model of a run and propose samples by name."""
    model = find_method(read_record(folder)["method"]).load(folder)
    file = folder / PREDICTIONS_NAME
    try:
        with file.open(encoding="utf-8", newline="") as stream:
            names = [row["sample_id"] for row in csv.DictReader(stream)]
    except (OSError, KeyError, UnicodeDecodeError) as error:
        raise DataFileError(f"{file}, which names the samples, cannot be read.") from error
    if len(names) != len(model.transduction_):
        raise DataFileError(
            f"{file} names {len(names)} samples, and the model has {len(model.transduction_)}: it "
            "was changed or cut short. Fit again."
        )
    rows = propose_labels(model, n, strategy=strategy)
    return Proposal(
        folder,
        strategy,
        int((~model.is_labeled_).sum()),
        tuple(names[row] for row in rows),
        model.transduction_[rows],
        model.label_distributions_[rows].max(axis=1),
    )
