"""Fit one method once, and write the model, its predictions and the record to a folder."""

import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from manyview.base.classifier import MultiViewClassifier
from manyview.base.summary import FitSummary
from manyview.data.dataset import Dataset
from manyview.data.label_values import is_known, shown_names
from manyview.data.mixed_table import MixedTable
from manyview.data.splits import hide_labels
from manyview.errors import DataFileError, InputError
from manyview.estimators.calibration import expected_calibration_error
from manyview.estimators.mixins import NetworkOutputsMixin
from manyview.methods import find_method
from manyview.network.resume import SECONDS
from manyview.runs.abstaining import (
    abstain,
    check_class_names,
    describe_abstention,
    means_unknown,
)
from manyview.runs.annotated_copy import write_annotated_copy
from manyview.runs.checkpoints import run_checkpoints
from manyview.runs.folder import NOTHING_LEFT, check_free, check_room, staged_folder
from manyview.runs.names import HISTORY_NAME, PREDICTIONS_NAME, RUN_NAME
from manyview.runs.recorded_warnings import record_warnings
from manyview.runs.records import (
    AuditRecord,
    CalibrationRecord,
    ClassRecord,
    DataRecord,
    EstimateRecord,
    LeastConfident,
    Run,
    TrainingRecord,
    csv_text,
    score,
)
from manyview.runs.scaling import scaling_advice, scaling_used
from manyview.runs.settings import RunSettings, flat_params
from manyview.system.files import not_written, write_whole
from manyview.validation import check_number

N_LEAST_CONFIDENT = 5
# Makes more files of the folder (name -> content) from the record, the data, the labels the method
# saw and the model.
ExtraFiles = Callable[[Run, Dataset, np.ndarray, Any], Mapping[str, str]]
Fitted = tuple[Run, MultiViewClassifier]
PREDICTIONS_HEADER = ("sample_id", "label", "probability", "confidence", "known", "given")


def fit_run(
    settings: RunSettings,
    *,
    verbose: bool = False,
    extra_files: ExtraFiles | None = None,
    overwrite: bool = False,
    checkpoint_every: float = SECONDS,
) -> Run:
    """Load the data, hide labels if asked to, fit, and write the run's folder.

    The folder has `predictions.csv`, `run.json`, `model.safetensors`, `model.json` and
    `history.csv`, optionally a copy of annotated data with the results, and the files that
    `extra_files` returns, such as a report. It appears when all files are written; a run that
    fails or is interrupted before the first epoch writes nothing. With `overwrite`, it takes the
    place of the folder of an earlier run, which stays until then.

    A fit that takes longer than `checkpoint_every` seconds keeps its progress beside the folder, in
    `FOLDER.checkpoint`, until the run is written. The same settings continue from there.
    """
    settings.check()
    check_number("checkpoint_every", checkpoint_every, at_least=0)
    if settings.out is not None:
        check_free(settings.out, overwrite=overwrite)
    data = settings.load()
    labels = labels_to_show(data, settings)
    if settings.abstain_below is not None:
        check_class_names(labels[is_known(labels)])
    folder = run_folder(data, settings)
    check_room(folder, least_size(data, settings.method))
    with (
        run_checkpoints(folder, settings.method, checkpoint_every),
        staged_folder(folder, overwrite=overwrite) as stage,
    ):
        model = settings.build_model(verbose=verbose)
        start = perf_counter()
        _, messages = record_warnings(lambda: model.fit(data.views, labels))
        seconds = perf_counter() - start
        if verbose:
            model.set_params(verbose=False)  # a saved model prints nothing
        run = record_fit(settings, folder, data, labels, model, seconds, messages)
        write_run(run, stage, data, labels, model, extra_files)
    return run


def fit_known(settings: RunSettings, folder: Path, data: Dataset, labels: np.ndarray) -> Fitted:
    """Fit data that are loaded already, and describe the run; nothing is written."""
    model = settings.build_model(verbose=False)
    start = perf_counter()
    _, messages = record_warnings(lambda: model.fit(data.views, labels))
    seconds = perf_counter() - start
    return record_fit(settings, folder, data, labels, model, seconds, messages), model


def write_run(
    run: Run,
    stage: Path,
    data: Dataset,
    labels: np.ndarray,
    model: MultiViewClassifier,
    extra_files: ExtraFiles | None = None,
) -> None:
    """Write the files of a run to a stage of its folder."""
    model.sample_ids_ = np.array([str(name) for name in data.sample_ids], dtype=object)
    extras = {} if extra_files is None else extra_files(run, data, labels, model)
    _write(run, stage, data, labels, model, extras)


def labels_to_show(data: Dataset, settings: RunSettings) -> np.ndarray:
    """Return the labels the method may see."""
    if data.labels is None:
        raise InputError(
            f"{data.name} has no labels, but some are needed. Name them with labels= (a file of "
            "labels), label_column= (a column of the tables or of .obs) or labels_key= (a "
            "variable of a .mat or .npz file)."
        )
    if settings.label_ratio is None:
        return data.labels
    shown = hide_labels(
        data.labels,
        settings.label_ratio,
        protocol=settings.protocol,
        random_state=settings.seed,
    )
    if settings.protocol == "random" and len(set(shown[is_known(shown)].tolist())) == 1:
        raise InputError(
            f"protocol 'random' drew labels of only one class with label_ratio="
            f"{settings.label_ratio} and seed {settings.seed}; two classes are needed. "
            "Raise the ratio, or use 'stratified'.",
            parameter="label_ratio",
        )
    return shown


def run_folder(data: Dataset, settings: RunSettings) -> Path:
    """Return the folder of a run: the one that was asked for, or one named after the data."""
    return settings.out or Path("runs") / default_name(data, settings)


def default_name(data: Dataset, settings: RunSettings) -> str:
    """Name a folder after the data, the method and the seed."""
    return f"{folder_name(data.name)}-{settings.method}-seed{settings.seed}"


def folder_name(name: str) -> str:
    """Return the name of data as that of a folder.

    Examples
    --------
    >>> folder_name("images and texts")
    'images_and_texts'
    """
    name = re.sub(r"[^\w.+-]+", "_", name)[:80]
    try:
        os.fsencode(name)
    except UnicodeEncodeError:  # letters that the locale does not have
        name = re.sub(r"[^\w.+-]+", "_", name, flags=re.ASCII)
    return name


def least_size(data: Dataset, method: str) -> int:
    """Estimate the bytes of a run's folder, rather too few than too many.

    Methods with a network store the features of all samples, as 4-byte numbers, and their graphs;
    the others store little more than the predictions.
    """
    n_samples = len(data.views)
    if not issubclass(find_method(method), NetworkOutputsMixin):
        return 100 * n_samples
    return 1000 * n_samples + sum(_n_bytes(view) for _, view in data.views.items()) // 2


def _n_bytes(view: Any) -> int:
    if isinstance(view, np.ndarray):
        return view.nbytes
    if isinstance(view, MixedTable):
        return 8 * view.shape[0] * view.shape[1]
    return sum(part.nbytes for part in (view.data, view.indices, view.indptr))


def record_fit(
    settings: RunSettings,
    folder: Path,
    data: Dataset,
    labels: np.ndarray,
    model: MultiViewClassifier,
    seconds: float,
    messages: list[str],
) -> Run:
    """Describe a fit and its result; `messages` are its warnings, to which others are added."""
    is_labeled = is_known(labels)
    data_record = DataRecord.of(data, settings.source)
    known = model.classes_.tolist()
    unseen = [label for label in data_record.classes if label not in known]
    if unseen:
        messages.append(
            f"{len(unseen)} of {len(data_record.classes)} classes "
            f"{'has' if len(unseen) == 1 else 'have'} no labeled sample and cannot be predicted: "
            f"{shown_names(unseen)}."
        )
    if is_labeled.all():
        messages.append("every sample has a label, so none was left to label.")
    if settings.abstain_below is None and any(map(means_unknown, known)):
        messages.append(
            "a class is named unknown. If it means that a label is not known, leave the label "
            "blank or write -1, and fit again."
        )
    summary = model.fit_summary()
    curve = summary.training_curve
    probabilities = model.label_distributions_.max(axis=1)
    return Run(
        folder=folder,
        settings=settings,
        params=flat_params(model),
        data=data_record,
        n_labeled=int(is_labeled.sum()),
        n_unlabeled=int((~is_labeled).sum()),
        training=TrainingRecord(
            seconds=round(seconds, 3),
            n_neighbors=summary.n_neighbors,
            n_epochs=None if curve is None else curve.n_epochs,
            stopped=None if curve is None else curve.stopped,
            neighbor_recall=summary.neighbor_recall,
            n_networks=summary.n_networks,
            scaling=scaling_used(model, data.views),
            scaling_advice=scaling_advice(model, data.views),
        ),
        classes=tuple(
            ClassRecord(
                label,
                int((labels[is_labeled] == label).sum()),
                int((model.transduction_[~is_labeled] == label).sum()),
            )
            for label in known
        ),
        view_importance=summary.view_importance,
        least_confident=_least_confident(data, model.transduction_, probabilities, ~is_labeled),
        scores=score(model.transduction_, data.labels, ~is_labeled),
        warnings=tuple(messages),
        estimate=_estimate(summary),
        audit=_audit(
            summary, leaves_out=model.get_params(deep=False).get("label_audit") == "leave-out"
        ),
        calibration=_calibration(summary),
        abstention=describe_abstention(
            model.transduction_, probabilities, settings.abstain_below, data.labels, ~is_labeled
        ),
    )


def _estimate(summary: FitSummary) -> EstimateRecord | None:
    found, performance = summary.cross_fit, summary.performance
    if found is None:
        return None
    if performance is None:
        return EstimateRecord(len(found.samples), None, None, None, None, found.weights)
    return EstimateRecord(
        n_labels=performance.n_labels,
        accuracy=performance.accuracy,
        balanced_accuracy=performance.balanced_accuracy,
        macro_f1=performance.macro_f1,
        calibration_error=expected_calibration_error(found.probabilities, found.y_encoded),
        weights=found.weights,
    )


def _audit(summary: FitSummary, *, leaves_out: bool) -> AuditRecord | None:
    found = summary.label_issues
    if found is None:
        return None
    return AuditRecord(
        n_labels=len(found.samples),
        n_suspicious=int(found.is_suspicious.sum()),
        n_left_out=int((~found.is_trusted).sum()) if leaves_out else 0,
        wrong_fraction=found.wrong_fraction,
        wrong_interval=found.wrong_interval,
        is_conclusive=found.is_conclusive,
    )


def _calibration(summary: FitSummary) -> CalibrationRecord | None:
    found = summary.calibration
    if found is None:
        return None
    before, after = (
        expected_calibration_error(found.probabilities(calibrated=calibrated), found.y_encoded)
        for calibrated in (False, True)
    )
    return CalibrationRecord(
        found.temperature, found.n_held_out, found.n_folds, found.is_weak, before, after
    )


def _least_confident(
    data: Dataset, predictions: np.ndarray, probabilities: np.ndarray, is_unlabeled: np.ndarray
) -> tuple[LeastConfident, ...]:
    samples = np.flatnonzero(is_unlabeled)
    least = samples[np.argsort(probabilities[samples], kind="stable")[:N_LEAST_CONFIDENT]]
    return tuple(
        LeastConfident(str(data.sample_ids[sample]), prediction, float(probabilities[sample]))
        for sample, prediction in zip(least, predictions[least].tolist(), strict=True)
    )


def _write(
    run: Run,
    stage: Path,
    data: Dataset,
    labels: np.ndarray,
    model: MultiViewClassifier,
    extras: Mapping[str, str],
) -> None:
    below = run.settings.abstain_below
    try:
        model.save(stage)
        write_whole(stage / PREDICTIONS_NAME, _predictions(data, labels, model, below))
        write_whole(stage / HISTORY_NAME, _history(model.fit_summary()))
        document = json.dumps(run.document(), indent=2, ensure_ascii=False, default=str)
        write_whole(stage / RUN_NAME, document + "\n")
        for name, content in extras.items():
            write_whole(stage / name, content)
        if run.settings.annotate:
            (source,) = run.settings.source.paths()
            write_annotated_copy(source, stage, model, data.sample_ids.tolist(), below)
    except (DataFileError, OSError) as error:
        # Name the folder the user asked for, not the temporary one.
        cause = error.__cause__ if isinstance(error, DataFileError) else error
        raise not_written(run.folder, cause or error, NOTHING_LEFT) from error


def _predictions(
    data: Dataset, labels: np.ndarray, model: MultiViewClassifier, below: float | None
) -> str:
    """Return one row per sample with the predicted label, also where a label was given."""
    probabilities = model.label_distributions_.max(axis=1)
    predictions = abstain(model.transduction_, probabilities, below)
    confidence = model.fit_summary().node_confidence
    rows = (
        (
            sample_id,
            prediction,
            f"{probability:.6f}",
            "" if confidence is None else f"{confidence[row]:.6f}",
            "yes" if known else "no",
            given if known else "",
        )
        for row, (sample_id, prediction, probability, known, given) in enumerate(
            zip(
                data.sample_ids.tolist(),
                predictions.tolist(),
                probabilities,
                is_known(labels),
                labels.tolist(),
                strict=True,
            )
        )
    )
    return csv_text(PREDICTIONS_HEADER, rows)


def _history(summary: FitSummary) -> str:
    curve = summary.training_curve
    pairs = [] if curve is None else zip(curve.loss, curve.labeled_accuracy, strict=True)
    rows = ((epoch, loss, accuracy) for epoch, (loss, accuracy) in enumerate(pairs, start=1))
    return csv_text(("epoch", "loss", "labeled_accuracy"), rows)
