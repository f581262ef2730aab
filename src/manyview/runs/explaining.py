"""Explain the predictions of a run: of one sample, or of all by removing views."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from manyview.errors import InputError
from manyview.estimators.mixins import NetworkOutputsMixin
from manyview.explain.records import Explanation, ViewEffect, find_sample
from manyview.methods import METHODS, find_method
from manyview.runs.names import FORMAT_VERSION
from manyview.runs.predicting import load_new, match_views
from manyview.runs.reading import fitted_ids, read_record
from manyview.runs.sources import DataSource


@dataclass(frozen=True)
class RunReasons:
    """Explanation of a run's predictions."""

    folder: Path
    method: str
    n_samples: int
    explanation: Explanation | None  # of one sample; None if no sample was asked for
    # what changes without each view; accuracies are on the labels of the fit
    view_effects: tuple[ViewEffect, ...]

    def document(self) -> dict[str, Any]:
        """Return the JSON document."""
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
    """Load the model of a run and explain its predictions, that of `sample` in detail.

    With a source of new data, `sample` is a sample of that data.
    """
    if source is not None and sample is None:
        raise InputError("--data needs --sample, the id of one of the new samples.")
    record = read_record(folder)
    method = find_method(record["method"])
    if not issubclass(method, NetworkOutputsMixin):
        able = [name for name, one in METHODS.items() if issubclass(one, NetworkOutputsMixin)]
        raise InputError(
            f"{method.card.title}, the method of {folder}, cannot explain its predictions. Methods "
            f"that can: {', '.join(able)}."
        )
    model = method.load(folder)
    ids = fitted_ids(model, folder)
    explainer = model.explainer()
    explanation = None
    if sample is not None and source is None:
        explanation = explainer.explain(find_sample(sample, ids, len(ids)), ids)
    elif sample is not None and source is not None:
        data = load_new(source, record, folder, model.column_kinds_)
        views, new_ids = match_views(data, record["data"], []), list(map(str, data.sample_ids))
        explanation = model.explain_new(views, sample, new_ids=new_ids, sample_ids=ids)
    return RunReasons(
        folder=folder,
        method=record["method"],
        n_samples=len(ids),
        explanation=explanation,
        view_effects=explainer.view_effects(explainer.y_encoded),
    )
