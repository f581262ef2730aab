"""A trial: one method, fitted once on one split of one data set."""

import hashlib
import json
import platform
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from manyview.data.dataset import Dataset
from manyview.data.label_values import is_known
from manyview.data.splits import hide_labels
from manyview.errors import InputError
from manyview.experiments.artifacts import collect_artifacts, record_test_accuracy
from manyview.methods import find_method
from manyview.runs.records import PACKAGES, score
from manyview.runs.sources import DataSource
from manyview.system.config import config_context
from manyview.system.memory import peak_memory, reset_peak_memory


@dataclass(frozen=True)
class Trial:
    """The settings that decide a trial's outcome, besides the data and the code.

    Attributes
    ----------
    dataset
        A name of the catalog, or a path.
    params
        Parameters of the method that differ from the defaults.
    artifacts
        What to store besides the scores: "curve", "weights", "graphs".
    max_memory
        GB that the fit may use; None is all free memory. Not part of the key.
    source
        Where the data are and how to read them; None reads `dataset`, without options.
    """

    dataset: str
    method: str
    params: Mapping[str, Any] = field(default_factory=dict)
    label_ratio: float = 0.1
    protocol: str = "stratified"
    seed: int = 0
    artifacts: tuple[str, ...] = ()
    max_memory: float | None = None
    source: DataSource | None = None

    def describe(self) -> dict[str, Any]:
        """Return the trial as plain values, as in its record."""
        described = {
            "dataset": self.dataset,
            "method": self.method,
            "params": dict(self.params),
            "label_ratio": self.label_ratio,
            "protocol": self.protocol,
            "seed": self.seed,
        }
        optional = {
            "artifacts": list(self.artifacts),
            "max_memory": self.max_memory,
            "source": None if self.source is None else self.source.describe(),
        }
        return described | {name: value for name, value in optional.items() if value}

    @classmethod
    def from_description(cls, described: Mapping[str, Any]) -> "Trial":
        """Return the trial of a description."""
        source = described.get("source")
        return cls(
            **{
                **described,
                "artifacts": tuple(described.get("artifacts", ())),
                "source": None if source is None else DataSource.from_description(source),
            }
        )

    def key(self, checksum: str, method_version: int | None = None) -> str:
        """Return a digest of everything that defines the trial.

        It changes with the content of the data, the version of the method (that on its card if
        None), a parameter, the split and the seed, and with how the data are read, but not with
        the name of the data.
        """
        content = replace(self, max_memory=None, source=None).describe() | {
            "dataset": checksum,
            "method_version": method_version or find_method(self.method).card.version,
        }
        options = {} if self.source is None else asdict(self.source.options)
        options = {name: value for name, value in options.items() if value is not None}
        if options:
            content["options"] = options
        text = json.dumps(content, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:20]


def checksum_of(dataset: str | DataSource, data_dir: str | None = None) -> str:
    """Return the checksum of the content of data and labels, without reading it into memory."""
    source = DataSource((dataset,), data_dir=data_dir) if isinstance(dataset, str) else dataset
    source.check_here()
    files = [
        file
        for path in (*source.paths(), *source.label_paths())
        for file in (sorted(path.rglob("*")) if path.is_dir() else [path])
        if file.is_file()
    ]
    if not files:
        return source.load().sha256
    stamps = tuple((str(file), file.stat().st_mtime_ns, file.stat().st_size) for file in files)
    return _checksum(stamps)


@cache
def _checksum(stamps: tuple[tuple[str, int, int], ...]) -> str:
    digest = hashlib.sha256()
    for name, _, _ in stamps:
        with Path(name).open("rb") as file:
            while block := file.read(2**20):
                digest.update(block)
    return digest.hexdigest()


def run_trial(trial: Trial, dataset: Dataset, cache_folder: Path | None = None) -> dict[str, Any]:
    """Fit the method with all but the split's labels hidden, and score it on the hidden ones.

    The method sees only the views and the labels of the split. Fits with the same cache folder
    read neighbors and other intermediate results from there.

    Returns
    -------
    Plain values: scores, times, artifacts and a checksum of the predictions.
    """
    if dataset.labels is None:
        raise InputError(f"{dataset.name} has no labels, so nothing can be scored on it.")
    labels = hide_labels(
        dataset.labels, trial.label_ratio, protocol=trial.protocol, random_state=trial.seed
    )
    hidden = ~is_known(labels)
    model = find_method(trial.method)()
    model.set_params(random_state=trial.seed, **trial.params)
    max_memory = "auto" if trial.max_memory is None else trial.max_memory
    reset_peak_memory()
    start = perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        with (
            config_context(cache_dir=cache_folder, max_memory=max_memory),
            record_test_accuracy(trial.artifacts, dataset.labels, hidden) as curve,
        ):
            model.fit(dataset.views, labels)
    seconds = perf_counter() - start
    scores = score(model.transduction_, dataset.labels, hidden)
    if scores is None:
        raise InputError(f"{dataset.name} has no hidden label to score; lower label_ratio.")
    summary = model.fit_summary()
    trained = summary.training_curve
    numbers = {
        "n_labeled": int((~hidden).sum()),
        "n_classes_labeled": len(model.classes_),
        "accuracy": round(scores.accuracy, 6),
        "balanced_accuracy": round(scores.balanced_accuracy, 6),
        "macro_f1": round(scores.macro_f1, 6),
        "seconds": round(seconds, 2),
        "peak_memory_mb": round(peak_memory()),
        "n_iter": summary.n_iter,
        "stopped": None if trained is None else trained.stopped,
        "n_neighbors": summary.n_neighbors,
        "predictions": _digest(model.transduction_),
        "warnings": [
            " ".join(str(one.message).split())
            for one in caught
            if issubclass(one.category, ConvergenceWarning)
        ],
    }
    artifacts = collect_artifacts(model, trial.artifacts, dataset.labels, curve)
    return {name: value for name, value in numbers.items() if value not in (None, [])} | artifacts


def versions() -> dict[str, str]:
    """Return the versions of the packages that decide a result."""
    return {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}


def _digest(predictions: np.ndarray) -> str:
    return hashlib.sha256(json.dumps(predictions.tolist()).encode()).hexdigest()[:12]
