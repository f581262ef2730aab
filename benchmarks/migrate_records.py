"""Bring stored records to the current names of methods, parameters, series and fields.

Numbers stay as they are; nothing is fitted. Every line gets a checksum of its record; a line whose
checksum is wrong stops the command. In `records.jsonl` every key is computed again, so the
command also serves where a method's version or the content of a key has changed. A second call
changes nothing. Each file is written under a temporary name and renamed.

    python benchmarks/migrate_records.py [FOLDER]     # a store of `manyview bench`; default results

Two estimators took the place of one with `recipe`: method "mgcn-dns" with recipe="paper" is now
"mgcn-dns", all its other records are "manyview". The key of a record needs the checksum of its data
set: from its file where that is at hand (`MANYVIEW_DATA`), else from the catalog. Records of a data
set with neither are left as they are and counted.

Version 1 of manyview learned its graph in all epochs: its records get graph_epochs=None, which
computes the same. Up to version 2 it was its network alone, trained on all labels: its records get
cross_fit=False and label_audit=None.
"""

import json
import sys
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

from rich.console import Console
from stored_records import read

from manyview.base.parameters import parameter_path
from manyview.data.catalog.load import CATALOG, find_card
from manyview.errors import DataFileError, InputError
from manyview.experiments.records import as_line, with_checksum
from manyview.experiments.trial import Trial, checksum_of
from manyview.methods import find_method
from manyview.system.files import write_whole

RESULTS = Path(__file__).parent.parent / "results"
Record = dict[str, Any]

TEACHERS = {True: "linear", False: "network"}
PRIORS = {"labels": "labels", "answers": "predictions", "predictions": "predictions"}
PARAMETERS: dict[str, tuple[str, Callable[[Any], Any]]] = {  # old -> new, and its value
    "joint_graph": ("early_fusion", bool),
    "linear_teacher": ("initial_teacher", TEACHERS.__getitem__),
    "max_rounds": ("max_iter", int),
    "class_shares": ("pseudo_labeler__class_prior", PRIORS.__getitem__),
    "neighbor_search": ("graph__search", str),
    "calibration_folds": ("calibration__n_folds", lambda n_folds: n_folds),
}
SERIES = {"mgcn-dns": "manyview", "paper": "mgcn-dns", "plain-taught": "plain-self-trained"}
FORMS = {
    "default": "manyview",
    'class_shares="answers"': 'manyview, class_prior="predictions"',
    "plain GCN": "plain",
}
PARTS = {
    "scaling chosen for each view": "scaling chosen per view",
    "linear teacher": "linear initial teacher",
    "joint graph": "early-fusion graph",
    "class shares": "class prior",
    "agreement of views": "assortativity",
    "neighbours": "propagation",
    "sharpness": "sharpening",
    "trust in sure answers": "confidence weights",
    "second round": "second stage",
    "plainness of the teachers": "plain networks in early stages",
    "all rounds": "self-training",
}
LABELS = {
    "made up": "generated",
    "order of the file": "file order",
    "order by content": "content order",
}
VALUES = {"series": SERIES, "form": FORMS, "part": PARTS, "labels": LABELS}
TRIAL_FIELDS = {"answers": "predictions", "keep": "artifacts"}
OF_TRIALS = {field.name for field in fields(Trial)}  # not renamed as long as trials have them
STUDY_FIELDS = {
    "ratio": "label_ratio", "share": "fraction", "n_rounds": "n_stages", "surprise": "log_loss",
}  # fmt: skip
PERFORMANCE_FIELDS = {"share": "fraction", "share_gathered": "fraction_gathered"}
SPELLINGS = {
    "PyG, edge_index normalised once": "PyG, edge_index normalized once",
    "optimiser": "optimizer",
    "made": "synthetic",
}
NEW_NAMES = {
    "lesson_parts.jsonl": "pseudo_label_parts.jsonl",
    "recipe_costs.json": "training_costs.json",
}


def migrate_trials(records: list[Record], checksum: Callable[[str], str | None]) -> list[Record]:
    """Return the records of a store by their new names and keys, the last of every key.

    `checksum` is called with the name of a data set; where it returns None, records stay.
    """
    of_old_code = [number for number, one in enumerate(records) if "answers" in one]
    migrated = {}
    for number, record in enumerate(records):
        is_old = "answers" in record or (
            "predictions" not in record and number < max(of_old_code, default=-1)
        )
        one = {
            name if name in OF_TRIALS else TRIAL_FIELDS.get(name, name): value
            for name, value in (_renamed_trial(record) if is_old else record).items()
        }
        described = {name: one[name] for name in OF_TRIALS if name in one}
        content = checksum(one["dataset"])
        if content is None:
            migrated[record["key"]] = record
            continue
        earlier = _of_earlier_version(described, content, None if is_old else one["key"])
        one["params"] = one["params"] | earlier
        described = described | {"params": one["params"]}
        key = Trial.from_description(described).key(content)
        migrated.pop(key, None)  # the newer line takes its own place
        migrated[key] = one | {"key": key}
    return list(migrated.values())


def _of_earlier_version(described: Record, content: str, key: str | None) -> Record:
    """Return parameters that compute what an earlier version of manyview did; none for today's.

    A key of None is older than all versions.
    """
    params = described["params"]
    if described["method"] != "manyview" or "cross_fit" in params:
        return {}
    trial = Trial.from_description(described)
    changes: Record = {"cross_fit": False, "label_audit": None}
    if "graph_epochs" not in params and key in (None, trial.key(content, method_version=1)):
        return {"graph_epochs": None} | changes
    return changes if key in (None, trial.key(content, method_version=2)) else {}


def _renamed_trial(record: Record) -> Record:
    record, params = dict(record), dict(record["params"])
    if record["method"] == "mgcn-dns" and params.pop("recipe", "few-labels") != "paper":
        record["method"] = "manyview"
    if record["method"] == "hlr-m2vs" and "max_memory" in params:
        record["max_memory"] = params.pop("max_memory")
    return record | {"params": _renamed_params(record["method"], params)}


def _renamed_params(method: str, params: Record) -> Record:
    if method not in ("manyview", "mgcn-dns"):
        return params
    model, renamed = find_method(method)(), {}
    for name, value in params.items():
        new, convert = PARAMETERS.get(name, (name, lambda same: same))
        renamed[parameter_path(model, new)] = convert(value)
    return renamed


def migrate_study(record: Record) -> Record:
    """Return a record of one of the studies by its new names; one that has them as it is."""
    if "ratio" not in record:
        return record
    migrated = _with_new_fields(record, STUDY_FIELDS)
    for field, values in VALUES.items():
        if field in migrated:
            migrated[field] = values.get(migrated[field], migrated[field])
    for field in {"best_params", "importance"} & record.keys():  # of tuning, the paper's method
        migrated[field] = _renamed_params("mgcn-dns", record[field])
    return migrated


def _with_new_fields(value: Any, names: dict[str, str]) -> Any:
    """Rename fields, also within fields, and spellings among their names and values."""
    if isinstance(value, dict):
        return {
            SPELLINGS.get(name, names.get(name, name)): _with_new_fields(one, names)
            for name, one in value.items()
        }
    if isinstance(value, list):
        return [_with_new_fields(one, names) for one in value]
    return SPELLINGS.get(value, value) if isinstance(value, str) else value


def migrate_performance(document: Record) -> Record:
    """Return a file of measurements by its new names."""
    document = _with_new_fields(document, PERFORMANCE_FIELDS)
    requests = [row["request"] for row in document["rows"]]
    is_old = not any(one.get("method") == "manyview" for one in requests)
    if document["benchmark"] == "whole-job" and is_old:  # each method with its defaults
        for one in requests:
            one["method"] = SERIES.get(one["method"], one["method"])
    return document


def migrate_training_costs(document: Record) -> Record:
    """Return the CPU times of our forms by their new names."""
    seconds = {
        dataset: {SERIES.get(name, name): values for name, values in found.items()}
        for dataset, found in document["seconds"].items()
    }
    return document | {"seconds": seconds}


def content_checksum(dataset: str) -> str | None:
    """Return the checksum of a data set's file, or the catalog's where the file is not at hand."""
    try:
        return checksum_of(dataset)
    except (DataFileError, InputError):
        return find_card(dataset).sha256 if dataset in CATALOG else None


def migrate(folder: Path, console: Console) -> None:
    """Migrate all files of a folder that there are."""
    store = folder / "records.jsonl"
    if store.exists():
        known: dict[str, str | None] = {}

        def checksum(dataset: str) -> str | None:
            if dataset not in known:
                known[dataset] = content_checksum(dataset)
            return known[dataset]

        records = read(store)
        migrated = migrate_trials(records, checksum)
        _replace(store, store, b"".join(as_line(one) for one in migrated).decode())
        n_left = sum(known[one["dataset"]] is None for one in migrated)
        console.print(f"{store}: {len(records)} records, {len(migrated)} keys, {n_left} left alone")
    for path in sorted(folder.glob("*.jsonl")):
        if path != store:
            lines = (json.dumps(with_checksum(migrate_study(one))) for one in read(path))
            target = path.with_name(NEW_NAMES.get(path.name, path.name))
            _replace(path, target, "".join(f"{line}\n" for line in lines))
            console.print(f"{path}: now {target.name}" if target != path else f"{path}")
    documents = {folder / "recipe_costs.json": migrate_training_costs}
    documents |= dict.fromkeys(sorted(folder.glob("performance/*.json")), migrate_performance)
    for path, change in documents.items():
        if path.exists():
            target = path.with_name(NEW_NAMES.get(path.name, path.name))
            document = change(json.loads(path.read_text()))
            _replace(path, target, json.dumps(document, indent=1) + "\n")
            console.print(f"{path}: now {target.name}" if target != path else f"{path}")


def _replace(path: Path, target: Path, text: str) -> None:
    write_whole(target, text)
    if target != path:
        path.unlink()


if __name__ == "__main__":
    migrate(Path(sys.argv[1]) if len(sys.argv) > 1 else RESULTS, Console(highlight=False))
