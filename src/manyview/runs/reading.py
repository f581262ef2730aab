"""Read the record of a run back, and check what is used of it."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from manyview.errors import DataFileError, did_you_mean
from manyview.runs.names import FORMAT, FORMAT_VERSION, RUN_NAME

if TYPE_CHECKING:  # importing it takes long, and records need none of it
    from manyview.base.classifier import MultiViewClassifier

# Fields of a run's record that are used with its model, and their types.
NEEDED: dict[str, Any] = {
    "method": str,
    "params": dict,
    "data": {"sha256": str, "views": dict, "graphs": list},
}


def read_record(folder: Path) -> dict[str, Any]:
    """Read the `run.json` of a run's folder."""
    if not _is_dir(folder):
        near = [one.name for one in folder.parent.glob("*") if one.is_dir()]
        hint = did_you_mean(folder.name, near) or " `manyview fit DATA --out FOLDER` makes one."
        raise DataFileError(f"There is no run {folder}.{hint}")
    file = folder / RUN_NAME
    if not file.is_file():
        raise DataFileError(f"{folder} is not the folder of a run: it has no {RUN_NAME}.")
    record = read_document(file, FORMAT, "the record of a manyview run")
    if record.get("format_version") != FORMAT_VERSION:
        versions = record.get("versions")
        made_by = versions.get("manyview") if isinstance(versions, dict) else None
        raise DataFileError(
            f"{file} has format version {record.get('format_version')}, this manyview reads "
            f"version {FORMAT_VERSION}. Fit the model again, or use manyview {made_by}."
        )
    _check_fields(record, NEEDED, "", file)
    return record


def recorded_id_columns(record: dict[str, Any]) -> dict[str, str]:
    """Return the column of sample ids by view, in the tables that were fitted."""
    found = record["data"].get("id_columns")  # runs of earlier versions have none
    pairs = found.items() if isinstance(found, dict) else ()
    return {view: name for view, name in pairs if isinstance(name, str)}


def _is_dir(folder: Path) -> bool:
    try:
        return folder.is_dir()
    except (OSError, UnicodeEncodeError) as error:
        raise DataFileError(
            f"{folder} cannot be read: {getattr(error, 'strerror', None) or error}."
        ) from error


def _check_fields(fields: dict[str, Any], needed: dict[str, Any], place: str, file: Path) -> None:
    for name, kind in needed.items():
        value, is_nested = fields.get(name), isinstance(kind, dict)
        if not isinstance(value, dict if is_nested else kind):
            raise DataFileError(
                f"{file} is damaged: {place}{name} is "
                f"{'missing' if name not in fields else 'not what a fit writes'}. Fit the model "
                "again."
            )
        if is_nested:
            _check_fields(fields[name], kind, f"{place}{name}.", file)


def read_document(file: Path, name: str, kind: str) -> dict[str, Any]:
    """Read a JSON document whose field `format` is the given name."""
    try:
        document = json.loads(file.read_bytes())
    except OSError as error:
        raise DataFileError(f"{file} cannot be read: {error.strerror or error}.") from error
    except (ValueError, RecursionError) as error:
        raise DataFileError(f"{file} cannot be read: it is damaged or cut short.") from error
    if not isinstance(document, dict) or document.get("format") != name:
        raise DataFileError(f"{file} is not {kind}.")
    return document


def fitted_ids(model: "MultiViewClassifier", folder: Path) -> list[str]:
    """Return the ids of a run's samples, in the order of the fit, from its model.

    `predictions.csv` is output only: people sort and edit it.
    """
    ids, n_samples = model.sample_ids_, len(model.transduction_)
    if ids is None or len(ids) != n_samples:
        raise DataFileError(
            f"The model of {folder} holds no sample ids, so an earlier manyview wrote it. Fit the "
            "model again."
        )
    return [str(name) for name in ids]
