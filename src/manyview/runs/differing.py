"""What differs between two runs: their settings, their scores and their predictions."""

import csv
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from manyview.errors import DataFileError
from manyview.runs.listing import ListedRun, listed_run
from manyview.runs.names import PREDICTIONS_NAME
from manyview.runs.reading import read_record

NOT_COMPARED = ("out", "params")  # of the settings: the folder, and what `params` of the record has
NEEDED = ("sample_id", "label", "probability")
N_NAMED = 3  # sample ids in a message


@dataclass(frozen=True)
class Setting:
    """A setting that differs, with its value in both runs; None where a run has none."""

    name: str
    first: Any
    second: Any


@dataclass(frozen=True)
class ChangedPrediction:
    """A sample with different labels in two runs, and their probabilities as written."""

    sample_id: str
    first: str
    first_probability: str
    second: str
    second_probability: str


@dataclass(frozen=True)
class RunDifference:
    """The differences of two runs.

    Attributes
    ----------
    settings
        Settings, parameters, data and package versions that differ. Parameters are compared if
        both runs have the same method.
    n_common
        Samples that both runs have, by sample id; only these are compared.
    n_only_first, n_only_second
        Samples that one run has and the other lacks.
    is_same_data
        Whether both runs read the same content.
    changed
        Predictions that differ, in the order of the first run.
    """

    first: ListedRun
    second: ListedRun
    settings: tuple[Setting, ...]
    n_common: int
    n_only_first: int
    n_only_second: int
    is_same_data: bool
    changed: tuple[ChangedPrediction, ...]

    def document(self) -> dict[str, Any]:
        """Return the JSON document."""
        return {
            "format": "manyview run difference",
            "first": self.first.document(),
            "second": self.second.document(),
            "settings": [asdict(one) for one in self.settings],
            "n_common": self.n_common,
            "n_only_first": self.n_only_first,
            "n_only_second": self.n_only_second,
            "is_same_data": self.is_same_data,
            "n_changed": len(self.changed),
            "changed": [asdict(one) for one in self.changed],
        }


def diff_runs(first: Path, second: Path) -> RunDifference:
    """Compare two runs by their records and their `predictions.csv`, sample by sample id."""
    records = read_record(first), read_record(second)
    labels, others = _read_predictions(first), _read_predictions(second)
    common = [name for name in labels if name in others]
    if not common:
        raise DataFileError(
            f"{first} and {second} have no sample in common, by sample_id: {_named(labels)}, and "
            f"{_named(others)}. Name two runs of the same samples."
        )
    return RunDifference(
        first=listed_run(first),
        second=listed_run(second),
        settings=tuple(_settings(*records)),
        n_common=len(common),
        n_only_first=len(labels) - len(common),
        n_only_second=len(others) - len(common),
        is_same_data=records[0]["data"]["sha256"] == records[1]["data"]["sha256"],
        changed=tuple(
            ChangedPrediction(name, *labels[name], *others[name])
            for name in common
            if labels[name][0] != others[name][0]
        ),
    )


def _settings(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[Setting]:
    parts = ["settings", "versions"]
    if first["method"] == second["method"]:
        parts.insert(1, "params")
    pairs = [("data content", first["data"]["sha256"][:12], second["data"]["sha256"][:12])]
    for part in parts:
        ours, theirs = _part(first, part), _part(second, part)
        prefix = "" if part == "settings" else "-p " if part == "params" else "version of "
        pairs += [
            (f"{prefix}{name}", ours.get(name), theirs.get(name))
            for name in dict.fromkeys((*ours, *theirs))
            if not (part == "settings" and name in NOT_COMPARED)
            # The seed of the settings is that of the model.
            and not (part == "params" and name.split("__")[-1] == "random_state")
        ]
    return [Setting(*one) for one in pairs if one[1] != one[2]]


def _part(record: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = record.get(name)
    return found if isinstance(found, dict) else {}


def _read_predictions(folder: Path) -> dict[str, tuple[str, str]]:
    """Read label and probability by sample id."""
    file = folder / PREDICTIONS_NAME
    try:
        with file.open(newline="", encoding="utf-8") as lines:
            reader = csv.DictReader(lines)
            absent = [name for name in NEEDED if name not in (reader.fieldnames or ())]
            if absent:
                raise DataFileError(
                    f"{file} has no column {absent[0]!r}. Fit again, or restore the file."
                )
            return {
                row["sample_id"]: (row["label"] or "", row["probability"] or "") for row in reader
            }
    except OSError as error:
        raise DataFileError(f"{file} cannot be read: {error.strerror or error}.") from error
    except (ValueError, csv.Error) as error:
        raise DataFileError(f"{file} is not a table as a fit writes it: {error}.") from error


def _named(samples: Mapping[str, Any]) -> str:
    names = [repr(name) for name in list(samples)[:N_NAMED]]
    more = "" if len(samples) <= N_NAMED else ", ..."
    return f"{', '.join(names) or 'no sample'}{more}"
