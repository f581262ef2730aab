"""Records of runs: data, settings, training and results."""

import csv
import platform
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import f1_score, recall_score

from manyview.cross_fitting.performance import Estimate
from manyview.data.dataset import Dataset
from manyview.data.label_values import is_known
from manyview.runs.abstaining import Abstention
from manyview.runs.names import FORMAT, FORMAT_VERSION
from manyview.runs.settings import RunSettings
from manyview.runs.sources import DataSource

PACKAGES = ("manyview", "torch", "numpy", "scipy", "scikit-learn")


@dataclass(frozen=True)
class DataRecord:
    """The data of a run; `views` maps each feature view to its number of features."""

    name: str
    paths: tuple[str, ...]
    sha256: str
    n_samples: int
    views: dict[str, int]
    graphs: tuple[str, ...]
    classes: tuple[Any, ...]
    notes: tuple[str, ...]
    id_columns: dict[str, str]  # column of sample ids by view, in tables

    @classmethod
    def of(cls, data: Dataset, source: DataSource) -> "DataRecord":
        """Describe the data that were read."""
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
            id_columns=data.id_columns,
        )


@dataclass(frozen=True)
class ClassRecord:
    """One class.

    `n_labeled` samples have its label, and `n_found` others are predicted to.
    """

    label: Any
    n_labeled: int
    n_found: int


@dataclass(frozen=True)
class TrainingRecord:
    """Facts about the fit; None for what a method does not have.

    `n_epochs` counts the epochs of the last of the `n_networks` that were trained. By view,
    `neighbor_recall` is the fraction of true neighbors found (1 for exact search) and `scaling`
    what was done to its columns; `scaling_advice` names what was not, where its values call for it.
    """

    seconds: float
    n_neighbors: int | None
    n_epochs: int | None
    stopped: str | None
    neighbor_recall: dict[str, float] | None = None
    n_networks: int = 1
    scaling: dict[str, str] | None = None
    scaling_advice: tuple[str, ...] = ()


@dataclass(frozen=True)
class LeastConfident:
    """A sample whose predicted label has a low probability.

    `label` is the predicted one.
    """

    sample_id: str
    label: Any
    probability: float


@dataclass(frozen=True)
class Scores:
    """Agreement of predictions with labels that the method did not see."""

    n_scored: int
    accuracy: float
    balanced_accuracy: float
    macro_f1: float


@dataclass(frozen=True)
class CalibrationRecord:
    """Calibration of the probabilities, with its error (ECE) on the held-out labels.

    `is_weak` means that there are too few labels for a reliable temperature.
    """

    temperature: float
    n_held_out: int
    n_folds: int
    is_weak: bool
    error_before: float
    error_after: float


@dataclass(frozen=True)
class EstimateRecord:
    """Scores on the unlabeled samples, estimated from given labels that were hidden in turn.

    Attributes
    ----------
    n_labels
        Labels that were hidden.
    accuracy, balanced_accuracy, macro_f1
        With 95% intervals; None with too few labels.
    calibration_error
        Expected calibration error of the hidden labels' predictions; None with too few labels.
    weights
        Weight of each model in the predictions.
    """

    n_labels: int
    accuracy: Estimate | None
    balanced_accuracy: Estimate | None
    macro_f1: Estimate | None
    calibration_error: float | None
    weights: dict[str, float]


@dataclass(frozen=True)
class AuditRecord:
    """Summary of the label audit.

    Attributes
    ----------
    n_labels, n_suspicious, n_left_out
        Given labels, those that are more probably wrong than right, and those that the fit did
        not use.
    wrong_fraction, wrong_interval
        Estimated rate of wrong labels with its 95% interval.
    is_conclusive
        Whether wrong labels could be distinguished from wrong predictions.
    """

    n_labels: int
    n_suspicious: int
    n_left_out: int
    wrong_fraction: float
    wrong_interval: tuple[float, float]
    is_conclusive: bool


@dataclass(frozen=True)
class Run:
    """One method fitted once on one data set, and the folder that holds the result.

    Attributes
    ----------
    params
        See `flat_params`.
    n_labeled, n_unlabeled
        Samples whose label the method saw, and the others.
    classes
        Classes with a labeled sample.
    view_importance
        Weight of each view; None if the method has none.
    least_confident
        The unlabeled samples with the lowest probabilities.
    scores
        On the hidden labels; None without hidden labels.
    estimate
        Scores estimated from labels that were hidden in turn; None without cross-fitting.
    audit
        Summary of the label audit; None without one.
    calibration
        None if the probabilities were not calibrated.
    abstention
        None if every sample gets a prediction.
    has_files
        Whether the folder exists; False for a model that was fitted in Python.
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
    least_confident: tuple[LeastConfident, ...]
    scores: Scores | None
    warnings: tuple[str, ...]
    estimate: EstimateRecord | None = None
    audit: AuditRecord | None = None
    calibration: CalibrationRecord | None = None
    abstention: Abstention | None = None
    has_files: bool = True

    @property
    def n_hidden(self) -> int:
        """Number of known labels that the method did not see; they score the predictions."""
        return 0 if self.scores is None else self.scores.n_scored

    def document(self) -> dict[str, Any]:
        """Return the JSON document that `run.json` holds."""
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
                "n_hidden": self.n_hidden,
                "n_unlabeled": self.n_unlabeled,
            },
            "method": asked.method,
            "params": self.params,
            "training": asdict(self.training),
            "classes": [asdict(one) for one in self.classes],
            "view_importance": self.view_importance,
            "least_confident": [asdict(one) for one in self.least_confident],
            "scores": None if self.scores is None else asdict(self.scores),
            "estimate": None if self.estimate is None else asdict(self.estimate),
            "audit": None if self.audit is None else asdict(self.audit),
            "calibration": None if self.calibration is None else asdict(self.calibration),
            "abstention": None if self.abstention is None else asdict(self.abstention),
            "warnings": list(self.warnings),
        }


def score(predictions: np.ndarray, truth: np.ndarray | None, counts: np.ndarray) -> Scores | None:
    """Score predictions on the samples that count and whose true label is known.

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
    # Numbers instead of labels: scikit-learn does not take objects that are booleans.
    given, wanted = predictions[scored].tolist(), truth[scored].tolist()
    number_of = {label: number for number, label in enumerate(dict.fromkeys([*wanted, *given]))}
    y_pred = np.array([number_of[label] for label in given])
    y_true = np.array([number_of[label] for label in wanted])
    present = np.unique(y_true)
    return Scores(
        n_scored=len(y_pred),
        accuracy=float((y_pred == y_true).mean()),
        balanced_accuracy=float(
            recall_score(y_true, y_pred, labels=present, average="macro", zero_division=0)
        ),
        macro_f1=float(f1_score(y_true, y_pred, average="macro", zero_division=0)),
    )


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return rows as CSV; None is blank."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()
