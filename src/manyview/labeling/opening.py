"""Open a labeling session in the folder of a run, and write the run when it is closed.

RUN/labeling.json    which data it belongs to
RUN/journal.jsonl    every act of the person
RUN/labels.csv       the labels
RUN/state/           what the model has learned, to continue from
RUN/run.json, ...    the files of `manyview fit`, when the session is closed
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from manyview.base.parameters import parameter_path
from manyview.data.dataset import Dataset
from manyview.data.label_values import is_known
from manyview.data.pixels import PIXEL_VIEWS
from manyview.errors import DataFileError, InputError
from manyview.labeling.images import Images
from manyview.labeling.labels_file import LABELS_NAME
from manyview.labeling.service import Service
from manyview.labeling.session import Session
from manyview.runs.fitting import ExtraFiles, default_name, fit_known, labels_to_show, write_run
from manyview.runs.names import RUN_NAME
from manyview.runs.reading import read_document
from manyview.runs.records import Run
from manyview.runs.settings import RunSettings
from manyview.system.files import not_written, write_whole
from manyview.system.stages import move_up, open_stage

SETTINGS_NAME = "labeling.json"
FORMAT, FORMAT_VERSION = "manyview labeling", 1


@dataclass(frozen=True)
class LabelingSettings:
    """Everything that decides a labeling session.

    Attributes
    ----------
    run
        The data, the parameters of the model, the folder.
    classes
        Names of classes that have no label yet.
    images, pixels
        See `Images`.
    """

    run: RunSettings
    classes: tuple[str, ...] = ()
    images: Path | None = None
    pixels: str | None = None


@dataclass(frozen=True)
class Labeling:
    """An open session: the service behind the page, and what to write when it is closed."""

    settings: LabelingSettings
    folder: Path
    data: Dataset
    service: Service

    def close(self, extra_files: ExtraFiles | None = None) -> Run | None:
        """End the session, fit once more from scratch, and write the files of a run.

        None is returned where fewer than two classes have labels, so that nothing can be fitted.
        """
        task = self.service.task()
        self.service.close()
        if not task.can_be_fitted:
            return None
        return write_final(self, task.labels(), extra_files)


def open_labeling(settings: LabelingSettings) -> Labeling:
    """Load the data, and open or continue the session in the folder of the run."""
    settings.run.check()
    data = settings.run.load()
    return start_labeling(settings, data, hides_labels=settings.run.source.is_catalog())


def start_labeling(
    settings: LabelingSettings, data: Dataset, *, hides_labels: bool = False
) -> Labeling:
    """Open or continue the session of data that are loaded already.

    With `hides_labels`, the labels of the data only measure the predictions, unless a label ratio
    shows some of them.
    """
    asked = _learning_from_all(settings.run)
    settings = replace(settings, run=asked)
    ids = [str(name) for name in data.sample_ids]
    shown: np.ndarray | None = None if hides_labels else data.labels
    if asked.label_ratio is not None:
        shown = labels_to_show(data, asked)
    hidden = None
    if data.labels is not None and shown is not data.labels:
        hidden = _names(data.labels)
    folder = asked.out or Path("runs") / f"{default_name(data, asked)}-labels"
    images = Images(data.views, ids, settings.images, settings.pixels or PIXEL_VIEWS.get(data.name))
    _claim_folder(folder, data, asked)
    session = Session(folder, ids)
    try:
        known = [] if hidden is None else sorted({n for n in hidden if n is not None}, key=_by_size)
        given = [] if shown is None else _names(shown)
        labels = {one: name for one, name in zip(ids, given, strict=False) if name is not None}
        given_classes = sorted(set(labels.values()), key=_by_size)
        classes = list(dict.fromkeys([*settings.classes, *known, *given_classes]))
        session.start(labels, classes, source=_source_name(asked))
        service = Service(data, session, images, _model_params(asked), hidden=hidden)
    except BaseException:
        session.journal.close()
        raise
    return Labeling(settings, folder, data, service)


def write_final(
    labeling: Labeling, labels: np.ndarray, extra_files: ExtraFiles | None = None
) -> Run:
    """Fit the labels from scratch, and write the files of a run beside them.

    The same fit as `manyview fit -p label_audit=report` with the `labels.csv` of the folder.
    """
    folder, data, asked = labeling.folder, labeling.data, labeling.settings.run
    source = replace(asked.source, labels=str(folder / LABELS_NAME))
    settings = replace(asked, source=source, label_ratio=None, out=folder)
    truth = labels if labeling.service.hidden is None else data.labels
    if truth is not None and truth.dtype.kind != labels.dtype.kind:
        truth = np.array(_names(truth), dtype=object)
        labels = np.array(_names(labels), dtype=object)
    data = replace(data, labels=truth)
    run, model = fit_known(settings, folder, data, labels)
    with open_stage(folder) as stage:
        write_run(run, stage, data, labels, model, extra_files)
        move_up(stage)
    return run


def _claim_folder(folder: Path, data: Dataset, asked: RunSettings) -> None:
    """Refuse a folder that belongs to something else; mark a new one."""
    file = folder / SETTINGS_NAME
    if folder.exists() and not folder.is_dir():
        raise DataFileError(f"The output must be a folder; {folder} is a file.")
    if file.is_file():
        found = read_document(file, FORMAT, "the settings of a labeling session")
        if found.get("sha256") != data.sha256 or found.get("n_samples") != len(data.views):
            raise DataFileError(
                f"{folder} holds labels of other data, {found.get('data')}. Name another folder "
                "with --out."
            )
        return
    if (folder / RUN_NAME).is_file():
        raise DataFileError(
            f"{folder} holds a run of `manyview fit`. Name another folder with --out, and pass the "
            "labels that you have with --labels."
        )
    if folder.is_dir() and any(not one.name.startswith(".") for one in folder.iterdir()):
        raise DataFileError(
            f"The output folder {folder} is not empty and holds no labels of this data. Name "
            "another with --out."
        )
    document = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "data": list(asked.source.names),
        "sha256": data.sha256,
        "n_samples": len(data.views),
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise not_written(folder, error) from error
    write_whole(file, json.dumps(document, indent=2) + "\n")


def _learning_from_all(asked: RunSettings) -> RunSettings:
    """Return settings by which no label is left out, unless they say so.

    The person is asked about doubtful labels. And the queue picks samples that are hard, which are
    predicted wrongly more often, so that right labels look wrong.
    """
    return replace(asked, params={"label_audit": "report", **asked.params})


def _model_params(asked: RunSettings) -> dict[str, Any]:
    from manyview.estimators.manyview import ManyviewClassifier

    model = ManyviewClassifier()
    params = {parameter_path(model, name): value for name, value in asked.params.items()}
    if "warm_start" in params:
        raise InputError("warm_start is always on while labels are given; leave it out.")
    return {"random_state": asked.seed, **params}


def _source_name(asked: RunSettings) -> str:
    labels = asked.source.labels
    if labels is None:
        return "the data"
    return labels if isinstance(labels, str) else " and ".join(labels)


def _names(labels: np.ndarray) -> list[str | None]:
    known = is_known(labels).tolist()
    return [str(label) if one else None for label, one in zip(labels.tolist(), known, strict=True)]


def _by_size(name: str) -> tuple[Any, ...]:
    """Order names as numbers where they are, else as texts."""
    return (0, int(name), name) if name.lstrip("-").isdecimal() else (1, 0, name)


def closing_lines(folder: Path, run: Run | None, n_labels: int) -> Sequence[str]:
    """Describe what a closed session leaves."""
    if run is None:
        return (
            f"{n_labels} labels are in {folder / LABELS_NAME}. Two classes need a label before a "
            "model can be fitted.",
        )
    return (
        f"{n_labels} labels are in {folder / LABELS_NAME}.",
        f"{folder} also holds report.html, predictions.csv, run.json and the model.",
    )
