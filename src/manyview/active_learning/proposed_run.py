"""Propose samples of a run to label next, by sample id."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from manyview.active_learning.proposals import propose_labels
from manyview.methods import find_method
from manyview.runs.records import csv_text, read_record, read_sample_ids


@dataclass(frozen=True)
class Proposal:
    """Samples to label next, most useful first, with their predicted labels.

    `n_unlabeled` counts all samples without a label.
    """

    folder: Path
    strategy: str
    n_unlabeled: int
    sample_ids: tuple[str, ...]
    labels: np.ndarray
    probabilities: np.ndarray

    def rows(self) -> Iterator[tuple[str, Any, float]]:
        """Return (sample id, predicted label, its probability), in order."""
        return zip(self.sample_ids, self.labels.tolist(), self.probabilities.tolist(), strict=True)

    def csv(self) -> str:
        """Return CSV to fill in: sample_id, and an empty label."""
        return csv_text(("sample_id", "label"), ((name, "") for name in self.sample_ids))

    def document(self) -> dict[str, Any]:
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
        }


def propose_for_run(folder: Path, n: int, *, strategy: str = "coverage") -> Proposal:
    """Load the model of a run and propose samples by id."""
    model = find_method(read_record(folder)["method"]).load(folder)
    ids = read_sample_ids(folder, len(model.transduction_))
    rows = propose_labels(model, n, strategy=strategy)
    return Proposal(
        folder,
        strategy,
        int((~model.is_labeled_).sum()),
        tuple(ids[row] for row in rows),
        model.transduction_[rows],
        model.label_distributions_[rows].max(axis=1),
    )
