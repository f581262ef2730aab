"""Tune a method on a user's data, and leave what was found in a folder."""

import json
import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from manyview.data.dataset import Dataset
from manyview.data.label_values import is_known
from manyview.errors import InputError, did_you_mean
from manyview.methods import find_method
from manyview.runs.fitting import default_name, labels_to_show
from manyview.runs.records import DataRecord, csv_text
from manyview.runs.settings import RunSettings
from manyview.system.files import write_whole
from manyview.tuning.result import Tuning
from manyview.tuning.sampler import need_optuna
from manyview.tuning.scorers import SCORERS
from manyview.tuning.search import OnTrial, tune
from manyview.tuning.space import default_space
from manyview.validation import check_choice

TUNING_NAME, TRIALS_NAME = "tuning.json", "trials.csv"
# From the result: files of the folder, name -> content.
ExtraFiles = Callable[[Tuning], Mapping[str, str]]


@dataclass(frozen=True)
class TunedData:
    """A tuning of one method on one data set, and the folder that holds it."""

    folder: Path
    settings: RunSettings
    data: DataRecord
    n_labeled: int
    files: tuple[str, ...]
    tuning: Tuning

    def document(self) -> dict[str, Any]:
        """Put everything but the model into one JSON document, the content of `tuning.json`."""
        asked = self.settings
        return {
            **self.tuning.document(),
            "params": dict(asked.params),
            "data": asdict(self.data),
            "split": {
                "protocol": None if asked.label_ratio is None else asked.protocol,
                "label_ratio": asked.label_ratio,
                "n_labeled": self.n_labeled,
            },
        }


def tune_data(
    settings: RunSettings,
    *,
    n_trials: int,
    minutes: float | None = None,
    scoring: str = "accuracy",
    force: bool = False,
    on_trial: OnTrial | None = None,
    extra_files: ExtraFiles | None = None,
) -> TunedData:
    """Load the data, hide labels where asked to, tune, and write the folder.

    Parameters in `settings.params` are held, and not tuned. The folder holds the trials, for the
    same call to go on, and when the tuning has ended or was interrupted `tuning.json`,
    `trials.csv` and what `extra_files` makes.
    """
    settings.check()
    check_choice("scoring", scoring, SCORERS)
    need_optuna()
    model = find_method(settings.method)().set_params(**settings.params)
    data = settings.source.load(settings.params.get("missing"))
    labels = labels_to_show(data, settings)
    space = _free_space(model, settings, data)
    folder = settings.out or Path("tuning") / default_name(data, settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the note says it
        tuning = tune(
            data.views,
            labels,
            method=model,
            n_trials=n_trials,
            minutes=minutes,
            space=space,
            scoring=scoring,
            random_state=settings.seed,
            folder=folder,
            force=force,
            on_trial=on_trial,
        )
    extras = {} if extra_files is None else extra_files(tuning)
    tuned = TunedData(
        folder,
        settings,
        DataRecord.of(data, settings.source),
        int(is_known(labels).sum()),
        (TUNING_NAME, *((TRIALS_NAME,) if tuning.trials_ else ()), *extras),
        tuning,
    )
    folder.mkdir(parents=True, exist_ok=True)
    if tuning.trials_:
        rows = tuning.table()
        write_whole(folder / TRIALS_NAME, csv_text(tuple(rows[0]), [[*r.values()] for r in rows]))
    for name, content in extras.items():
        write_whole(folder / name, content)
    document = json.dumps(tuned.document(), indent=2, ensure_ascii=False, default=str)
    write_whole(folder / TUNING_NAME, document + "\n")
    return tuned


def _free_space(model: Any, settings: RunSettings, data: Dataset) -> dict[str, Any]:
    space = default_space(model, len(data.views))
    free = {name: choices for name, choices in space.items() if name not in settings.params}
    if not free:
        raise InputError(
            "at least one parameter must be left to tune; all of them are given: "
            f"{', '.join(space)}."
        )
    return free


def read_params(file: Path, method: str) -> dict[str, Any]:
    """Read a method's parameters from the `tuning.json` of a tuning, or from plain JSON."""
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        near = [one.name for one in file.parent.glob("*.json")]
        raise InputError(f"There is no file {file}.{did_you_mean(file.name, near)}") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{file} cannot be read as JSON: {error}.") from error
    if not isinstance(document, dict):
        raise InputError(f"{file} must hold parameters by name; got {type(document).__name__}.")
    if "best_params" not in document:
        return document
    if document.get("method") != method:
        raise InputError(
            f"{file} holds parameters of {document.get('method')}, not of {method}. Name the "
            f"method: --method {document.get('method')}"
        )
    return {**document.get("params", {}), **document["best_params"]}
