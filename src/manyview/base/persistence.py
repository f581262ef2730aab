"""Model files: arrays in safetensors, everything else in JSON, nothing that could run.

A model is a tree of plain values, arrays, sparse matrices and a few named record types. Its
JSON holds the tree, with each array replaced by its name in the safetensors file.
"""

import hashlib
import json
from dataclasses import fields, is_dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy
from scipy import sparse
from sklearn.base import BaseEstimator

from manyview.errors import DataFileError
from manyview.system.files import write_whole

FORMAT = "manyview model"
FORMAT_VERSION = 2
TENSORS_NAME, TREE_NAME = "model.safetensors", "model.json"


def save_tree(folder: Path, method: str, tree: dict[str, Any]) -> None:
    """Write a method's tree as `model.safetensors` and `model.json`, the latter last."""
    arrays: dict[str, np.ndarray] = {}
    packed = _pack(tree, "", arrays)
    tensors = safetensors.numpy.save(arrays)
    write_whole(folder / TENSORS_NAME, tensors)
    head = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "manyview": version("manyview"),
        "method": method,
        "tensors_sha256": hashlib.sha256(tensors).hexdigest(),
        "model_sha256": _checksum(packed),
    }
    write_whole(folder / TREE_NAME, json.dumps({**head, "model": packed}, indent=1) + "\n")


def load_tree(folder: Path, method: str, record_types: tuple[type, ...]) -> dict[str, Any]:
    """Read what `save_tree` wrote for a method; only the named record types are ever built."""
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
    tensors = _read_bytes(folder / TENSORS_NAME)
    if hashlib.sha256(tensors).hexdigest() != document.get("tensors_sha256"):
        raise DataFileError(
            f"{folder / TENSORS_NAME} is not the file that was saved with {TREE_NAME}: it was "
            "changed or cut short. Fit the model again."
        )
    if document.get("model_sha256") != _checksum(document.get("model")):
        raise DataFileError(
            f"{folder / TREE_NAME} is damaged: it was changed after it was saved. Fit the model "
            "again."
        )
    try:
        arrays = safetensors.numpy.load(tensors)
        types = {record.__name__: record for record in record_types}
        model = _unpack(document["model"], arrays, types)
    except (KeyError, TypeError, ValueError, safetensors.SafetensorError) as error:
        raise DataFileError(
            f"{folder / TREE_NAME} is damaged: {type(error).__name__} {error}. Fit the model again."
        ) from error
    if not isinstance(model, dict):
        raise DataFileError(f"{folder / TREE_NAME} is damaged: it holds no model.")
    return model


def _checksum(packed: Any) -> str:
    return hashlib.sha256(json.dumps(packed, sort_keys=True).encode()).hexdigest()


def _pack(value: Any, path: str, arrays: dict[str, np.ndarray]) -> Any:
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "OU":
            return {"values": value.tolist(), "dtype": "object" if value.dtype == object else "str"}
        arrays[path] = np.ascontiguousarray(value)
        return {"array": path}
    if isinstance(value, sparse.csr_array):
        parts = {"data": value.data, "indices": value.indices, "indptr": value.indptr}
        packed = {name: _pack(part, f"{path}/{name}", arrays) for name, part in parts.items()}
        return {"csr": packed, "shape": list(value.shape)}
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
        return arrays[value["array"]]
    if "values" in value:
        return np.array(value["values"], dtype=object if value["dtype"] == "object" else str)
    if "csr" in value:
        csr = {name: _unpack(part, arrays, types) for name, part in value["csr"].items()}
        n_rows, n_columns = value["shape"]
        parts = (csr["data"], csr["indices"], csr["indptr"])
        return sparse.csr_array(parts, shape=(n_rows, n_columns))
    if "record" in value:
        by_name = {name: _unpack(part, arrays, types) for name, part in value["fields"].items()}
        make_record: Any = types[value["record"]]
        return make_record(**by_name)
    if "estimator" in value:
        make_estimator: Any = types[value["estimator"]]
        return make_estimator(**_unpack(value["params"], arrays, types))
    return {key: _unpack(part, arrays, types) for key, part in value["dict"]}


def _read_json(path: Path) -> Any:
    try:
        return json.loads(_read_bytes(path))
    except ValueError as error:
        raise DataFileError(f"{path} is damaged or cut short. Fit the model again.") from error


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise DataFileError(
            f"There is no model in {path.parent}: {path.name} is missing."
        ) from error
    except OSError as error:
        raise DataFileError(f"{path} cannot be read: {error.strerror}.") from error
