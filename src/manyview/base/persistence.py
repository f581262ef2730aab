"""Model files: arrays in safetensors, everything else in JSON, nothing that could run.

A model is a tree of plain values, arrays, sparse matrices and a few named record types. Its
JSON holds the tree, with each array replaced by its name in the safetensors file.

A model that is replaced stays whole until the new one is: its tensors get a second name with their
checksum, the new tensors and then the new JSON take the place of the old, and the second name goes.
A reader uses the tensors that have the checksum in the JSON, under either name.
"""

import hashlib
import json
import os
import re
import shutil
from contextlib import suppress
from dataclasses import fields, is_dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy
from scipy import sparse
from sklearn.base import BaseEstimator

from manyview.base.model_checks import set_learned
from manyview.data.sparse_format import check_view_size, sparse_fault
from manyview.errors import DataFileError
from manyview.system.files import whole_file, write_whole
from manyview.system.memory import GB, check_memory
from manyview.system.paths import check_regular, file_mode
from manyview.system.stages import sync_folder

FORMAT = "manyview model"
FORMAT_VERSION = 3
TENSORS_NAME, TREE_NAME = "model.safetensors", "model.json"
KEPT_TENSORS_NAME = re.compile(r"model-[0-9a-f]{16}\.safetensors")
ATTEMPTS = 3  # to read a model that another process replaces at the same time


def save_tree(folder: Path, method: str, tree: dict[str, Any]) -> None:
    """Write a method's tree as `model.safetensors` and `model.json`, the latter last."""
    arrays: dict[str, np.ndarray] = {}
    packed = _pack(tree, "", arrays)
    tensors = safetensors.numpy.save(arrays)
    head = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "manyview": version("manyview"),
        "method": method,
        "tensors_sha256": hashlib.sha256(tensors).hexdigest(),
        "model_sha256": _checksum(packed),
    }
    document = json.dumps({**head, "model": packed}, indent=1) + "\n"
    _keep_old_tensors(folder)
    write_whole(folder / TENSORS_NAME, tensors)
    write_whole(folder / TREE_NAME, document)
    with suppress(OSError):  # they are not used any more
        for file in folder.iterdir():
            if KEPT_TENSORS_NAME.fullmatch(file.name):
                file.unlink()


def learned_attributes(estimator: BaseEstimator) -> dict[str, Any]:
    """Return what an estimator learned, by attribute; empty before its fit."""
    return {name: value for name, value in vars(estimator).items() if name.endswith("_")}


def load_tree(folder: Path, method: str, record_types: tuple[type, ...]) -> dict[str, Any]:
    """Read what `save_tree` wrote for a method; only the named record types are ever built."""
    document = _read_head(folder, method)
    tensors = _matching_tensors(folder, document)
    for _ in range(ATTEMPTS):
        if tensors is not None:
            break
        before, document = document, _read_head(folder, method)
        if document.get("tensors_sha256") == before.get("tensors_sha256"):
            raise DataFileError(
                f"{folder / TENSORS_NAME} is not the file that was saved with {TREE_NAME}: it was "
                "changed or cut short. Fit the model again."
            )
        tensors = _matching_tensors(folder, document)
    if tensors is None:
        raise DataFileError(f"The model in {folder} is being replaced. Load it again.")
    if document.get("model_sha256") != _checksum(document.get("model")):
        raise DataFileError(
            f"{folder / TREE_NAME} is damaged: it was changed after it was saved. Fit the model "
            "again."
        )
    try:
        arrays = safetensors.numpy.load(tensors)
        types = {record.__name__: record for record in record_types}
        model = _unpack(document["model"], arrays, types)
    except Exception as error:  # of any kind, since anyone may have written the file
        raise damaged(folder, error) from error
    if not isinstance(model, dict):
        raise DataFileError(f"{folder / TREE_NAME} is damaged: it holds no model.")
    return model


def _keep_old_tensors(folder: Path) -> None:
    """Give the tensors of the model in a folder, if there is one, a second name."""
    try:
        kept = _kept_tensors(folder, _read_json(folder / TREE_NAME))
        tensors = (folder / TENSORS_NAME).resolve(strict=True)
    except (DataFileError, OSError):  # there is none that could be lost
        return
    if kept is None or kept.exists():  # it exists if this model was being replaced before
        return
    try:
        os.link(tensors, kept)
        sync_folder(folder)
    except OSError:  # on another disk, or one without links
        with whole_file(kept) as copy:
            shutil.copy2(tensors, copy)


def _kept_tensors(folder: Path, document: Any) -> Path | None:
    """Return the second name of the tensors of a model; None if its checksum is none."""
    checksum = document.get("tensors_sha256") if isinstance(document, dict) else None
    name = f"model-{str(checksum)[:16]}.safetensors"
    return folder / name if KEPT_TENSORS_NAME.fullmatch(name) else None


def _matching_tensors(folder: Path, document: dict[str, Any]) -> bytes | None:
    """Return the tensors that have the checksum of the JSON; None if there are none."""
    tensors, kept = _read_bytes(folder / TENSORS_NAME), _kept_tensors(folder, document)
    if hashlib.sha256(tensors).hexdigest() == document.get("tensors_sha256"):
        return tensors
    with suppress(DataFileError):
        tensors = b"" if kept is None else _read_bytes(kept)
    is_right = hashlib.sha256(tensors).hexdigest() == document.get("tensors_sha256")
    return tensors if is_right else None


def damaged(folder: Path, error: Exception) -> DataFileError:
    """Return the error for a model that cannot be what was saved."""
    reason = " ".join(str(error).split())[:160].rstrip(".")
    return DataFileError(
        f"{folder / TREE_NAME} is damaged: {type(error).__name__} {reason}. Fit the model again."
    )


def _checksum(packed: Any) -> str:
    return hashlib.sha256(json.dumps(packed, sort_keys=True).encode()).hexdigest()


def _pack(value: Any, path: str, arrays: dict[str, np.ndarray]) -> Any:
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "OU":
            return {"values": value.tolist(), "dtype": "object" if value.dtype == object else "str"}
        if value.dtype.kind == "M":  # classes may be dates
            return {"values": np.datetime_as_string(value).tolist(), "dtype": value.dtype.name}
        arrays[path] = np.ascontiguousarray(value)
        return {"array": path}
    if isinstance(value, sparse.csr_array):
        parts = {"data": value.data, "indices": value.indices, "indptr": value.indptr}
        packed = {name: _pack(part, f"{path}/{name}", arrays) for name, part in parts.items()}
        return {"csr": packed, "shape": list(value.shape)}
    if isinstance(value, BaseEstimator) and (learned := learned_attributes(value)):
        return {
            "estimator": type(value).__name__,
            "params": _pack(value.get_params(deep=False), path, arrays),
            "learned": _pack(learned, path, arrays),
        }
    if is_dataclass(value) and not isinstance(value, type):
        parts = {field.name: getattr(value, field.name) for field in fields(value)}
        packed = {name: _pack(part, f"{path}/{name}", arrays) for name, part in parts.items()}
        return {"record": type(value).__name__, "fields": packed}
    if isinstance(value, BaseEstimator):
        params = _pack(value.get_params(deep=False), path, arrays)
        return {"estimator": type(value).__name__, "params": params}
    if isinstance(value, dict):
        # Pairs, because JSON would turn keys that are numbers into texts.
        return {"dict": [[k, _pack(item, f"{path}/{k}", arrays)] for k, item in value.items()]}
    if isinstance(value, (list, tuple)):
        return [_pack(item, f"{path}/{number}", arrays) for number, item in enumerate(value)]
    return value.item() if isinstance(value, np.generic) else value


def _unpack(value: Any, arrays: dict[str, np.ndarray], types: dict[str, type]) -> Any:
    if isinstance(value, list):
        return [_unpack(item, arrays, types) for item in value]
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return _finite(arrays[value["array"]], value["array"])
    if "values" in value:
        return _texts(value["values"], value["dtype"])
    if "csr" in value:
        csr = {name: _unpack(part, arrays, types) for name, part in value["csr"].items()}
        n_rows, n_columns = value["shape"]
        check_view_size((n_rows, n_columns))
        parts = (csr["data"], csr["indices"], csr["indptr"])
        matrix = sparse.csr_array(parts, shape=(n_rows, n_columns))
        fault = sparse_fault(matrix)
        if fault:
            raise ValueError(fault)
        return matrix
    if "record" in value:
        by_name = {name: _unpack(part, arrays, types) for name, part in value["fields"].items()}
        make_record: Any = types[value["record"]]
        return make_record(**by_name)
    if "estimator" in value:
        make_estimator: Any = types[value["estimator"]]
        estimator = make_estimator(**_unpack(value["params"], arrays, types))
        if "learned" in value:
            set_learned(estimator, _unpack(value["learned"], arrays, types))
        return estimator
    return {key: _unpack(part, arrays, types) for key, part in value["dict"]}


def _finite(array: np.ndarray, name: str) -> np.ndarray:
    """Return an array that a fit can have learned: its numbers are finite."""
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError(f"{name.removeprefix('/learned/')} must hold finite numbers")
    return array


def _texts(values: Any, dtype: str) -> np.ndarray:
    """Return an array of texts, dates or objects, always one-dimensional."""
    if not isinstance(values, list) or any(isinstance(value, (list, dict)) for value in values):
        raise ValueError("values must be a list of texts, numbers, booleans or None")
    if dtype == "object":
        array = np.empty(len(values), dtype=object)
        array[:] = values
        return array
    if isinstance(dtype, str) and dtype.startswith("datetime64["):
        return np.array([str(value) for value in values], dtype=np.dtype(dtype))
    longest = max((len(str(value)) for value in values), default=0)
    check_memory(4 * longest * len(values) / GB, "the texts of the model", "Fit the model again")
    return np.array(values, dtype=str)


def _read_head(folder: Path, method: str) -> dict[str, Any]:
    """Read the JSON of a model, and check that it is one of this format and method."""
    document = _read_json(folder / TREE_NAME)
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise DataFileError(f"{folder / TREE_NAME} is not a manyview model.")
    if document.get("format_version") != FORMAT_VERSION:
        raise DataFileError(
            f"{folder / TREE_NAME} has format version {document.get('format_version')}; this "
            f"manyview reads version {FORMAT_VERSION}. Fit the model again, or use the manyview "
            f"that wrote it ({document.get('manyview')})."
        )
    if document.get("method") != method:
        raise DataFileError(f"{folder} holds a model of {document.get('method')}, not {method}.")
    return document


def _read_json(path: Path) -> Any:
    try:
        return json.loads(_read_bytes(path))
    except (ValueError, RecursionError) as error:
        raise DataFileError(f"{path} is damaged or cut short. Fit the model again.") from error


def _read_bytes(path: Path) -> bytes:
    mode = file_mode(path)
    if mode is None:
        raise DataFileError(f"There is no model in {path.parent}: {path.name} is missing.")
    check_regular(path, mode)
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataFileError(f"{path} cannot be read: {error.strerror}.") from error
