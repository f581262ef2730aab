"""The label audit of a run: its given labels, those that are most probably wrong first."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from manyview.errors import DataFileError, InputError
from manyview.methods import find_method
from manyview.runs.reading import fitted_ids, read_record
from manyview.runs.records import csv_text
from manyview.system.files import is_replaced

HEADER = ("sample_id", "given", "suggested", "probability_wrong")


@dataclass(frozen=True)
class AuditedLabel:
    """A given label, the class that fits best instead, and how probably it is wrong."""

    sample_id: str
    given: Any
    suggested: Any
    probability_wrong: float


@dataclass(frozen=True)
class LabelAudit:
    """The given labels of a run, most probably wrong first.

    `n_suspicious` of them are more probably wrong than right. The rate of wrong labels has a 95%
    interval. Where the audit is not conclusive, no label is doubted.
    """

    folder: Path
    n_suspicious: int
    wrong_fraction: float
    wrong_interval: tuple[float, float]
    is_conclusive: bool
    labels: tuple[AuditedLabel, ...]

    def csv(self) -> str:
        """Return all labels as CSV."""
        rows = ((*asdict(one).values(),) for one in self.labels)
        return csv_text(HEADER, ((*row[:3], f"{row[3]:.4f}") for row in rows))

    def document(self, out: Path | None = None) -> dict[str, Any]:
        """Return the JSON document."""
        return {
            "format": "manyview audit",
            "format_version": 1,
            "run": str(self.folder),
            "n_labels": len(self.labels),
            "n_suspicious": self.n_suspicious,
            "wrong_fraction": self.wrong_fraction,
            "wrong_interval": list(self.wrong_interval),
            "is_conclusive": self.is_conclusive,
            "labels": [asdict(one) for one in self.labels],
            **({} if out is None else {"file": str(out)}),
        }


def audit_run(folder: Path) -> LabelAudit:
    """Load the model of a run and list its labels, most probably wrong first."""
    record = read_record(folder)
    model = find_method(record["method"]).load(folder)
    issues = model.label_issues_
    if issues is None:
        raise InputError(
            f"The model of {folder} has no label audit. `manyview fit` with the method manyview "
            "makes one, unless -p label_audit=none."
        )
    ids, classes = fitted_ids(model, folder), model.classes_.tolist()
    return LabelAudit(
        folder,
        int(issues.is_suspicious.sum()),
        issues.wrong_fraction,
        issues.wrong_interval,
        issues.is_conclusive,
        tuple(
            AuditedLabel(
                ids[issues.samples[place]],
                classes[issues.y_encoded[place]],
                classes[issues.suggested[place]],
                float(issues.wrong[place]),
            )
            for place in issues.ranked.tolist()
        ),
    )


def check_same_or_new(file: Path, text: str) -> None:
    """Refuse to replace a file with other content, which a person may have edited."""
    if not is_replaced(file):
        return
    try:
        before = file.read_bytes()
    except OSError as error:
        raise DataFileError(f"{file} cannot be read: {error.strerror or error}.") from error
    if before and before != text.encode():
        raise DataFileError(
            f"{file} exists with other content and stays as it is. Name another file with --out."
        )
