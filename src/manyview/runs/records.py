"""Records of runs: what was given, what was done, what was found."""

import csv
import json
import platform
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import f1_score, recall_score

from manyview.data.dataset import Dataset
from manyview.data.label_values import is_known
from manyview.errors import DataFileError, did_you_mean
from manyview.runs.abstaining import Abstention
from manyview.runs.settings import RunSettings
from manyview.runs.sources import DataSource

FORMAT, FORMAT_VERSION = "manyview run", 1
PACKAGES = ("manyview", "torch", "numpy", "scipy", "scikit-learn")
RUN_NAME, PREDICTIONS_NAME, HISTORY_NAME = "run.json", "predictions.csv", "history.csv"


@dataclass(frozen=True)
class DataRecord:
    """The data of a run; `views` has the number of features of each view that is no graph."""

    name: str
    paths: tuple[str, ...]
    sha256: str
    n_samples: int
    views: dict[str, int]
    graphs: tuple[str, ...]
    classes: tuple[Any, ...]
    notes: tuple[str, ...]

    @classmethod
    def of(cls, data: Dataset, source: DataSource) -> "DataRecord":
        """Note down what was read."""
        labels = data.labels
        classes = [] if labels is None else sorted(set(labels[is_known(labels)].tolist()))
        return cls(
            name=data.name,
            paths=tuple(str(path) for path in source.paths()),
            sha256=data.sha256,
            n_samples=len(data.views),
            views={name: data.views[name].shape[1] for name in data.views.feature_names},
            graphs=tuple(name for name in data.views.names if name in data.views.graph_names),
            classes=tuple(classes),
            notes=data.notes,
        )


@dataclass(frozen=True)
class ClassRecord:
    """One class: how many samples came with its label, and how many others were given it."""

    label: Any
    n_labeled: int
    n_found: int


@dataclass(frozen=True)
class TrainingRecord:
    """How the fit went; None for what a method does not have.

    `neighbor_recall` is the share of the true neighbors in each view's graph; 1 where they were
    searched exactly. `n_networks` counts those that were trained one after the other; epochs are
    those of the last. `scaling` is that of each view.
    """

    seconds: float
    n_neighbors: int | None
    n_epochs: int | None
    stopped: str | None
    neighbor_recall: dict[str, float] | None = None
    n_networks: int = 1
    scaling: dict[str, str] | None = None


@dataclass(frozen=True)
class LeastConfident:
    """A sample whose label is little certain."""

    sample_id: str
    label: Any
    probability: float


@dataclass(frozen=True)
class Scores:
    """Agreement of predictions with a truth that the method did not see."""

    n_scored: int
    accuracy: float
    balanced_accuracy: float
    macro_f1: float


@dataclass(frozen=True)
class CalibrationRecord:
    """How probabilities were calibrated; the errors (ECE) are on the held-out labels.

    `is_weak` where the labels are too few for more than a hint.
    """

    temperature: float
    n_held_out: int
    n_folds: int
    is_weak: bool
    error_before: float
    error_after: float


@dataclass(frozen=True)
class Run:
    """One method fitted once on one data set, and the folder that holds the result.

    Attributes
    ----------
    n_labeled, n_unlabeled
        Samples whose label the method saw, and the others.
    classes
        The classes the method knows.
    view_importance
        Share of each view; None where the method has none.
    doubts
        The unlabeled samples of least probability.
    scores
        On the hidden labels; None where none were hidden.
    calibration
        None where the probabilities are as the method gives them.
    abstention
        None where every sample gets a prediction.
    """

    folder: Path
    settings: RunSettings
    params: dict[str, Any]
    data: DataRecord
    n_labeled: int
    n_unlabeled: int
    training: TrainingRecord
    classes: tuple[ClassRecord, ...]
    view_importance: dict[str, float] | None
    doubts: tuple[LeastConfident, ...]
    scores: Scores | None
    warnings: tuple[str, ...]
    calibration: CalibrationRecord | None = None
    abstention: Abstention | None = None

    def document(self) -> dict[str, Any]:
        """Put everything into one JSON document, the content of `run.json`."""
        asked = self.settings
        return {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "versions": {
                "python": platform.python_version(),
                **{name: version(name) for name in PACKAGES},
            },
            "settings": {
                "data": list(asked.source.names),
                "labels": asked.source.labels,
                "data_dir": asked.source.data_dir,
                **asdict(asked.source.options),
                "method": asked.method,
                "params": dict(asked.params),
                "label_ratio": asked.label_ratio,
                "protocol": asked.protocol,
                "seed": asked.seed,
                "abstain_below": asked.abstain_below,
                "annotate": asked.annotate,
                "out": str(self.folder),
            },
            "data": asdict(self.data),
            "split": {
                "protocol": None if asked.label_ratio is None else asked.protocol,
                "label_ratio": asked.label_ratio,
                "seed": asked.seed,
                "n_labeled": self.n_labeled,
                "n_unlabeled": self.n_unlabeled,
            },
            "method": asked.method,
            "params": self.params,
            "training": asdict(self.training),
            "classes": [asdict(one) for one in self.classes],
            "view_importance": self.view_importance,
            "least_certain": [asdict(one) for one in self.doubts],
            "scores": None if self.scores is None else asdict(self.scores),
            "calibration": None if self.calibration is None else asdict(self.calibration),
            "abstention": None if self.abstention is None else asdict(self.abstention),
            "warnings": list(self.warnings),
        }


def read_record(folder: Path) -> dict[str, Any]:
    """Read the `run.json` of a run's folder."""
    if not folder.is_dir():
        near = [one.name for one in folder.parent.glob("*") if one.is_dir()]
        way_out = did_you_mean(folder.name, near) or " `manyview fit DATA --out FOLDER` makes one."
        raise DataFileError(f"There is no run {folder}.{way_out}")
    file = folder / RUN_NAME
    if not file.is_file():
        raise DataFileError(f"{folder} is not the folder of a run: it has no {RUN_NAME}.")
    try:
        record = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataFileError(f"{file} cannot be read: it is damaged or cut short.") from error
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise DataFileError(f"{file} is not the record of a manyview run.")
    if record.get("format_version") != FORMAT_VERSION:
        made_by = record.get("versions", {}).get("manyview")
        raise DataFileError(
            f"{file} has format version {record.get('format_version')}, this manyview reads "
            f"version {FORMAT_VERSION}. Use manyview {made_by}."
        )
    return record


def score(predictions: np.ndarray, truth: np.ndarray | None, counts: np.ndarray) -> Scores | None:
    """Compare predictions with the truth where it is known, on the samples that count.

    Examples
    --------
    >>> score(np.array([1, 2, 2]), np.array([1, 2, 1]), np.array([True, True, True])).accuracy
    0.6666666666666666
    """
    if truth is None:
        return None
    scored = counts & is_known(truth)
    if not scored.any():
        return None
    # Numbers instead of labels: scikit-learn knows no objects that are booleans.
    given, wanted = predictions[scored].tolist(), truth[scored].tolist()
    number_of = {label: number for number, label in enumerate(dict.fromkeys([*wanted, *given]))}
    y_encoded = np.array([number_of[label] for label in given])
    true_codes = np.array([number_of[label] for label in wanted])
    present = np.unique(true_codes)
    return Scores(
        n_scored=len(y_encoded),
        accuracy=float((y_encoded == true_codes).mean()),
        balanced_accuracy=float(
            recall_score(true_codes, y_encoded, labels=present, average="macro", zero_division=0)
        ),
        macro_f1=float(f1_score(true_codes, y_encoded, average="macro", zero_division=0)),
    )


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Lay rows out as CSV; None is blank."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()
