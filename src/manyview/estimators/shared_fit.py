"""What decides a fit; several processes that share one must have the same data and settings.

Every process is given all samples. They divide the neighbor search and the training of networks,
and end with the same model. Graphs need no check: all are made from the same joined neighbors.
"""

import hashlib
from importlib.metadata import version
from typing import Any

import numpy as np
import torch

from manyview.callbacks.context import FitContext
from manyview.data.checksums import views_checksum
from manyview.data.views import MultiView
from manyview.distributed.world import world
from manyview.errors import InputError
from manyview.network.resume import has_checkpoints
from manyview.network.training import pick_device
from manyview.validation import draw_seed

OF_PROCESS = ("random_state", "verbose", "device")  # settings that may differ between processes


def shared_seed(random_state: object) -> int:
    """Return a seed for `random_state`; that of the first process where several share a fit."""
    seed = draw_seed(random_state)
    return int(world().broadcast(torch.tensor(seed)))


def pick_shared_device(device: str) -> torch.device:
    """Pick the device of a fit; where several processes share it, the processor."""
    if not world().is_shared:
        return pick_device(device)
    picked = torch.device("cpu") if device == "auto" else pick_device(device)
    if picked.type != "cpu":
        raise InputError(
            "device must be 'auto' or 'cpu' in a fit that several processes share; got "
            f"{device!r}. Fit in one process to use a GPU.",
            parameter="device",
        )
    return picked


def check_shared_fit(
    estimator: Any, views: MultiView, y_encoded: np.ndarray, context: FitContext
) -> None:
    """Refuse, in all processes, a fit that is not the same in all; nothing in a world of one."""
    shared = world()
    if not shared.is_shared:
        return
    shared.check_backend()
    if context.callbacks is not None or context.observer is not None:
        raise InputError(
            "callbacks cannot be used in a fit that several processes share. Call set_callbacks "
            "without any, or fit in one process."
        )
    same = "Give every process the same data and the same settings."
    shared.check_equal("the settings", settings_of(estimator), same)
    shared.check_equal(
        "the checkpoints", has_checkpoints(), "Open `checkpoints` in every process, or in none."
    )
    shared.check_equal("the views", views_checksum(views), same)
    shared.check_equal("the labels", _checksum(estimator.classes_, y_encoded), same)


def fit_identity(
    estimator: Any, views: MultiView, y_encoded: np.ndarray, generator: torch.Generator
) -> dict[str, Any]:
    """Return all that decides the result of a fit, as JSON can hold it: checksums of the data."""
    return {
        "manyview": version("manyview"),
        "processes": world().size,
        "device": str(generator.device),
        "seed": generator.initial_seed(),
        "settings": settings_of(estimator),
        "views": views_checksum(views),
        "labels": _checksum(estimator.classes_, y_encoded),
    }


def settings_of(estimator: Any) -> dict[str, str]:
    """Return the settings that decide a fit, as texts."""
    params = estimator.get_params(deep=True)
    values = {
        name: repr(value)
        for name, value in sorted(params.items())
        if name.rpartition("__")[2] not in OF_PROCESS and not hasattr(value, "get_params")
    }
    return {"method": type(estimator).__name__, **values}


def _checksum(*arrays: np.ndarray) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        values = array.tolist() if array.dtype == object else np.ascontiguousarray(array).tobytes()
        digest.update(repr((array.shape, str(array.dtype))).encode())
        digest.update(values if isinstance(values, bytes) else repr(values).encode())
    return digest.hexdigest()
