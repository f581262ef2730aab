"""Tune a method on a user's data, and write the result to a folder."""

import json
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from manyview.base.classifier import MultiViewClassifier
from manyview.base.parameters import parameter_path
from manyview.data.dataset import Dataset
from manyview.data.label_values import is_known
from manyview.errors import InputError, did_you_mean
from manyview.runs.fitting import default_name, labels_to_show
from manyview.runs.records import DataRecord, csv_text
from manyview.runs.settings import RunSettings
from manyview.system.files import write_whole
from manyview.system.paths import check_regular, file_mode
from manyview.tuning.journal import stored_candidates
from manyview.tuning.result import Tuning
from manyview.tuning.sampler import need_optuna
from manyview.tuning.scorers import SCORERS
from manyview.tuning.search import OnStep, tune
from manyview.tuning.space import default_space
from manyview.validation import check_choice

TUNING_NAME, CANDIDATES_NAME = "tuning.json", "candidates.csv"
# Makes more files of the folder (name -> content) from the result.
ExtraFiles = Callable[[Tuning], Mapping[str, str]]


@dataclass(frozen=True)
class TunedData:
    """A tuning of one method on one data set, and its folder."""

    folder: Path
    settings: RunSettings
    data: DataRecord
    n_labeled: int
    files: tuple[str, ...]
    tuning: Tuning

    def document(self) -> dict[str, Any]:
        """Return the JSON document that `tuning.json` holds."""
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
    n_candidates: int,
    minutes: float | None = None,
    scoring: str = "accuracy",
    force: bool = False,
    on_step: OnStep | None = None,
    extra_files: ExtraFiles | None = None,
) -> TunedData:
    """Load the data, hide labels if asked to, tune, and write the folder.

    Parameters in `settings.params` stay fixed. The folder has the journal, from which the same
    call continues, and at the end or after an interruption `tuning.json`, `candidates.csv` and
    the files that `extra_files` returns.
    """
    settings.check()
    check_choice("scoring", scoring, SCORERS)
    need_optuna()
    model = settings.build_model(verbose=False)
    data = settings.load()
    labels = labels_to_show(data, settings)
    space = _free_space(model, settings, data)
    folder = settings.out or Path("tuning") / default_name(data, settings)
    with warnings.catch_warnings(), _interruption_says_what_is_kept(folder):
        warnings.simplefilter("ignore", UserWarning)  # the note has the same text
        tuning = tune(
            data.views,
            labels,
            method=model,
            n_candidates=n_candidates,
            minutes=minutes,
            space=space,
            scoring=scoring,
            random_state=settings.seed,
            folder=folder,
            force=force,
            on_step=on_step,
        )
        extras = {} if extra_files is None else extra_files(tuning)
        return _write(folder, settings, data, labels, tuning, extras)


@contextmanager
def _interruption_says_what_is_kept(folder: Path) -> Iterator[None]:
    """Give an interruption the sentence of what is kept."""
    try:
        yield
    except KeyboardInterrupt:
        n_kept = stored_candidates(folder)
        kept = "1 candidate is" if n_kept == 1 else f"{n_kept or 'no'} candidates are"
        raise KeyboardInterrupt(
            f"Interrupted; {kept} recorded in {folder}. The same command continues."
        ) from None


def _write(
    folder: Path,
    settings: RunSettings,
    data: Dataset,
    labels: np.ndarray,
    tuning: Tuning,
    extras: Mapping[str, str],
) -> TunedData:
    tuned = TunedData(
        folder,
        settings,
        DataRecord.of(data, settings.source),
        int(is_known(labels).sum()),
        (TUNING_NAME, *((CANDIDATES_NAME,) if tuning.candidates_ else ()), *extras),
        tuning,
    )
    folder.mkdir(parents=True, exist_ok=True)
    if tuning.candidates_:
        rows = tuning.table()
        table = csv_text(tuple(rows[0]), [[*row.values()] for row in rows])
        write_whole(folder / CANDIDATES_NAME, table)
    for name, content in extras.items():
        write_whole(folder / name, content)
    document = json.dumps(tuned.document(), indent=2, ensure_ascii=False, default=str)
    write_whole(folder / TUNING_NAME, document + "\n")
    return tuned


def _free_space(model: MultiViewClassifier, settings: RunSettings, data: Dataset) -> dict[str, Any]:
    space = default_space(model, len(data.views))
    fixed = {parameter_path(model, name) for name in settings.params}
    free = {path: choices for path, choices in space.items() if path not in fixed}
    if not free:
        raise InputError(
            f"at least one parameter must be left to tune; all are fixed: {', '.join(space)}."
        )
    return free


def read_params(file: Path, method: str) -> dict[str, Any]:
    """Read a method's parameters from a `tuning.json`, or from a JSON document of parameters."""
    mode = file_mode(file)
    if mode is not None:
        check_regular(file, mode)
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        near = [one.name for one in file.parent.glob("*.json")]
        raise InputError(f"There is no file {file}.{did_you_mean(file.name, near)}") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{file} cannot be read as JSON: {error}.") from error
    if not isinstance(document, dict):
        raise InputError(f"{file} must be a JSON object of parameters by name.")
    if "best_params" not in document:
        return document
    if document.get("method") != method:
        raise InputError(
            f"{file} has parameters of {document.get('method')}, not of {method}. Name the "
            f"method: --method {document.get('method')}"
        )
    return {**document.get("params", {}), **document["best_params"]}
