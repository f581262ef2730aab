"""Label new samples with the model of a run."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from manyview.base.persistence import TENSORS_NAME, TREE_NAME
from manyview.data.dataset import Dataset
from manyview.data.views import MultiView
from manyview.errors import DataFileError, InputError, MissingValuesError
from manyview.methods import find_method
from manyview.runs.abstaining import UNKNOWN_WORD, abstain, check_class_names
from manyview.runs.names import FORMAT_VERSION, PREDICTIONS_NAME, RUN_NAME
from manyview.runs.reading import read_record, recorded_id_columns
from manyview.runs.recorded_warnings import record_warnings
from manyview.runs.records import (
    DataRecord,
    Scores,
    csv_text,
    score,
)
from manyview.runs.sources import DataSource
from manyview.system.files import check_writable, write_whole
from manyview.system.paths import expand_user
from manyview.validation import check_fraction


@dataclass(frozen=True)
class Prediction:
    """Labels of new samples."""

    folder: Path
    method: str
    data: DataRecord
    # one per sample; a label is `unknown` if its probability is below `abstain_below`
    sample_ids: np.ndarray
    labels: np.ndarray
    probabilities: np.ndarray
    scores: Scores | None  # none if the new data have no labels
    # how the new views were matched with those of the run, and how they are unlike them
    notes: tuple[str, ...]
    abstain_below: float | None = None

    @property
    def n_unknown(self) -> int:
        """Return the number of samples without a prediction."""
        if self.abstain_below is None:
            return 0
        return sum(label == UNKNOWN_WORD for label in self.labels.tolist())

    def csv(self) -> str:
        """Return the labels as CSV: sample_id, label, probability."""
        return csv_text(
            ("sample_id", "label", "probability"),
            ((name, label, f"{probability:.6f}") for name, label, probability in self._rows()),
        )

    def document(self, out: Path | None) -> dict[str, Any]:
        """Return the JSON document, with the labels unless they are in a file."""
        predictions = [
            {"sample_id": name, "label": label, "probability": probability}
            for name, label, probability in self._rows()
        ]
        return {
            "format": "manyview predictions",
            "format_version": FORMAT_VERSION,
            "run": str(self.folder),
            "method": self.method,
            "data": asdict(self.data),
            "scores": None if self.scores is None else asdict(self.scores),
            "notes": list(self.notes),
            "abstain_below": self.abstain_below,
            **({"predictions": predictions} if out is None else {"file": str(out)}),
        }

    def _rows(self) -> Iterator[tuple[str, Any, float]]:
        return zip(
            self.sample_ids.tolist(),
            self.labels.tolist(),
            self.probabilities.tolist(),
            strict=True,
        )


def predict_run(
    folder: Path, source: DataSource, *, abstain_below: float | None = None
) -> Prediction:
    """Load the model of a run and label the samples of other data.

    Views are matched by name; a single view may have another name than in the run. Predictions
    with a probability below `abstain_below` become `unknown`; the scores count all predictions.
    """
    if abstain_below is not None:
        check_fraction("abstain_below", abstain_below)
    record = read_record(folder)
    method = find_method(record["method"])
    method.check_inductive()
    fitted = record["data"]
    model = method.load(folder)
    if abstain_below is not None:
        check_class_names(model.classes_)
    data = load_new(source, record, folder, model.column_kinds_)
    notes: list[str] = []
    views = match_views(data, fitted, notes)
    if data.sha256 == fitted["sha256"]:
        notes.append(
            "These are the data of the fit, labeled as if they were new. The predictions of the "
            f"fit are in {folder / 'predictions.csv'}."
        )
    probabilities, warned = record_warnings(lambda: model.predict_proba(views))
    notes += [sentence[:1].upper() + sentence[1:] for sentence in warned]
    labels = model.classes_[probabilities.argmax(axis=1)]
    return Prediction(
        folder=folder,
        method=record["method"],
        data=DataRecord.of(data, source),
        sample_ids=data.sample_ids,
        labels=abstain(labels, probabilities.max(axis=1), abstain_below),
        probabilities=probabilities.max(axis=1),
        scores=score(labels, data.labels, np.ones(len(labels), dtype=bool)),
        notes=tuple(notes),
        abstain_below=abstain_below,
    )


def load_new(
    source: DataSource, record: dict[str, Any], folder: Path, kinds: dict[str, dict[str, str]]
) -> Dataset:
    """Read new data by the run's rules for missing cells and ids, with its `kinds` of columns."""
    missing = record["params"].get("missing")
    try:
        return source.load(missing, kinds, recorded_id_columns(record))
    except MissingValuesError as error:
        refit = (
            f", or fit {folder} again with `--missing impute`, which fills single cells with the "
            "mean of their column in the fit"
        )
        can_refit = "missing" in record["params"]
        raise error.advising(f"Fill or remove these rows{refit if can_refit else ''}.") from None


def write_predictions(prediction: Prediction, file: Path) -> None:
    """Write the labels as CSV, replacing the file."""
    write_whole(file, prediction.csv())


def check_output(file: Path, folder: Path, source: DataSource) -> None:
    """Refuse, before any work starts, a file that cannot be written or that the work reads.

    Other files are replaced.
    """
    check_writable(file)
    if not file.is_file():
        return
    given: Any = source.labels or ()
    labels = [expand_user(one) for one in ((given,) if isinstance(given, str) else given)]
    model = [folder / name for name in (RUN_NAME, PREDICTIONS_NAME, TREE_NAME, TENSORS_NAME)]
    for read in (*source.paths(), *labels, *model):
        if read.exists() and file.samefile(read):
            raise DataFileError(
                f"The output {file} is a file that this command reads. Name another with --out."
            )


def match_views(data: Dataset, fitted: dict[str, Any], notes: list[str]) -> MultiView:
    """Check that the new views are those of the run, by name and number of features."""
    views = data.views
    names = [*fitted["views"], *fitted["graphs"]]
    if len(names) == views.n_views == 1 and views.names[0] != names[0]:
        notes.append(f"View {views.names[0]} is used as the run's only view, {names[0]}.")
        (given,) = views.names
        columns = {names[0]: views.columns[given]} if given in views.columns else {}
        views = MultiView({names[0]: views[given]}, graphs=fitted["graphs"], columns=columns)
    if set(names) != set(views.names):
        raise InputError(
            f"{data.name} must have the views of the run ({', '.join(names)}); it has "
            f"{', '.join(views.names)}. A table's view is named after its file."
        )
    return views
