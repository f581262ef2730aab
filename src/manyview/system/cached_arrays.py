"""Arrays cached on disk, as plain numbers with a checksum; nothing is ever unpickled."""

import hashlib
import warnings
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from manyview.errors import DataFileError
from manyview.system.files import whole_file

CHECKSUM = "checksum"


def read_arrays(path: Path, what: str) -> dict[str, np.ndarray] | None:
    """Read the arrays of a file by name; None if there is no file.

    A damaged file, or one with Python objects, gives a warning and None.
    """
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        if str(arrays.pop(CHECKSUM)) != arrays_checksum(arrays):
            raise ValueError("its checksum is wrong")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, KeyError, EOFError, MemoryError, zipfile.BadZipFile) as error:
        warn_unreadable(path, what, error)
        return None
    return arrays


def write_arrays(path: Path, arrays: Mapping[str, np.ndarray], what: str) -> None:
    """Write arrays with their checksum; a folder that cannot be written gives a warning."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        checksum = np.array(arrays_checksum(arrays))
        with whole_file(path) as temporary, temporary.open("wb") as file:
            np.savez(file, **arrays, **{CHECKSUM: checksum})  # type: ignore[arg-type]
    except (OSError, DataFileError) as error:
        warnings.warn(f"{what} are not cached: {error}", UserWarning, stacklevel=3)


def warn_unreadable(path: Path, what: str, error: Exception) -> None:
    """Warn that a cached file cannot be used."""
    reason = " ".join(str(error).split())
    warnings.warn(
        f"the cached {what} in {path} cannot be read ({reason[:120]}); computing them again.",
        UserWarning,
        stacklevel=3,
    )


def arrays_checksum(arrays: Mapping[str, np.ndarray]) -> str:
    """Compute the checksum of arrays: names, types, shapes and content.

    Examples
    --------
    >>> import numpy as np
    >>> arrays_checksum({"a": np.eye(2)}) == arrays_checksum({"a": np.eye(2)})
    True
    >>> arrays_checksum({"a": np.eye(2)}) == arrays_checksum({"b": np.eye(2)})
    False
    """
    digest = hashlib.sha256()
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()
