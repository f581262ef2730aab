"""Give the reasons of a run's predictions: of one sample, or of all, view by view."""

import csv
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from manyview.errors import DataFileError, InputError
from manyview.explain.records import Explanation, ViewEffect, find_sample
from manyview.methods import METHODS, find_method
from manyview.runs.predicting import match_views
from manyview.runs.records import FORMAT_VERSION, PREDICTIONS_NAME, read_record
from manyview.runs.sources import DataSource


@dataclass(frozen=True)
class RunReasons:
    """Why a run predicted as it did.

    Attributes
    ----------
    explanation
        Of one sample; None where none was asked for.
    view_effects
        What leaving each view out changes; accuracies are on the labels the fit was given.
    """

    folder: Path
    method: str
    n_samples: int
    explanation: Explanation | None
    view_effects: tuple[ViewEffect, ...]

    def document(self) -> dict[str, Any]:
        """Put everything into one JSON document."""
        one = self.explanation
        return {
            "format": "manyview reasons",
            "format_version": FORMAT_VERSION,
            "run": str(self.folder),
            "method": self.method,
            "explanation": None if one is None else one.document(),
            "view_effects": [asdict(effect) for effect in self.view_effects],
        }


def explain_run(
    folder: Path, sample: str | None = None, source: DataSource | None = None
) -> RunReasons:
    """Load the model of a run and read off the reasons, for the sample of this id.

    With a source of other data, `sample` is one of theirs, which came after the fit.
    """
    if source is not None and sample is None:
        raise InputError("--data needs --sample, the id of one of the new samples; got none.")
    record = read_record(folder)
    method = find_method(record["method"])
    if not hasattr(method, "explainer"):
        able = ", ".join(name for name, one in METHODS.items() if hasattr(one, "explainer"))
        raise InputError(
            f"{method.card.title} gives no reasons for its predictions; {folder} was fitted with "
            f"it. Methods that do: {able}."
        )
    ids = _sample_ids(folder)
    row = None if sample is None or source is not None else find_sample(sample, ids, len(ids))
    model: Any = method.load(folder)
    if len(model.transduction_) != len(ids):
        raise DataFileError(
            f"{folder / PREDICTIONS_NAME} has {len(ids)} samples, but the model was fitted with "
            f"{len(model.transduction_)}: one of the two was changed. Fit the model again."
        )
    explainer = model.explainer()
    explanation = None if row is None else explainer.explain(row, ids)
    if source is not None:
        data = source.load(record["params"].get("missing"))
        views, new_ids = match_views(data, record["data"], []), list(map(str, data.sample_ids))
        explanation = model.explain_new(views, sample, new_ids=new_ids, sample_ids=ids)
    return RunReasons(
        folder=folder,
        method=record["method"],
        n_samples=len(ids),
        explanation=explanation,
        view_effects=explainer.view_effects(explainer.y_encoded),
    )


def _sample_ids(folder: Path) -> list[str]:
    """Read the ids of the fitted samples, in their order."""
    file = folder / PREDICTIONS_NAME
    try:
        with file.open(newline="", encoding="utf-8") as lines:
            return [row["sample_id"] for row in csv.DictReader(lines)]
    except FileNotFoundError as error:
        raise DataFileError(
            f"{folder} has no {PREDICTIONS_NAME}, which names its samples. Fit the model again."
        ) from error
    except (OSError, ValueError, KeyError, csv.Error) as error:
        raise DataFileError(f"{file} cannot be read: it is damaged.") from error
