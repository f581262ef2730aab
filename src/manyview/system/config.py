"""Process-wide settings: folders for costly and for large arrays, and the memory limit.

As in scikit-learn, `set_config` changes them for the process and `config_context` for a block.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from manyview.errors import InputError
from manyview.system.paths import expand_user
from manyview.validation import check_number

UNCHANGED: Any = object()


@dataclass(frozen=True)
class Config:
    """Process-wide settings.

    Attributes
    ----------
    cache_dir
        Folder where fits store neighbors and other costly results for later fits on the same
        views. None stores nothing.
    max_memory
        GB that a fit may use; "auto" means all free memory. A fit that needs more is refused
        before it starts.
    scratch_dir
        Folder where fits of manyview and MGCN-DNS keep large arrays that they need rarely: scaled
        views, graphs of views. About half of the memory moves to disk, with the same result. Its
        files have no names and go when the model does. None keeps all in memory.
    cache_after
        Seconds that a search of neighbors must take for its result to be stored.
    """

    cache_dir: str | Path | None = None
    max_memory: float | str = "auto"
    scratch_dir: str | Path | None = None
    cache_after: float = 0.0


_DEFAULT = Config()
_CONFIG: ContextVar[Config | None] = ContextVar("manyview_config", default=None)


def get_config() -> Config:
    """Return the current settings.

    Examples
    --------
    >>> get_config().max_memory
    'auto'
    """
    return _CONFIG.get() or _DEFAULT


def set_config(
    *,
    cache_dir: str | Path | None = UNCHANGED,
    max_memory: float | str = UNCHANGED,
    scratch_dir: str | Path | None = UNCHANGED,
    cache_after: float = UNCHANGED,
) -> None:
    """Change settings for the rest of the process; see `Config`."""
    global _DEFAULT
    _DEFAULT = _changed(
        _DEFAULT,
        cache_dir=cache_dir,
        max_memory=max_memory,
        scratch_dir=scratch_dir,
        cache_after=cache_after,
    )


@contextmanager
def config_context(
    *,
    cache_dir: str | Path | None = UNCHANGED,
    max_memory: float | str = UNCHANGED,
    scratch_dir: str | Path | None = UNCHANGED,
    cache_after: float = UNCHANGED,
) -> Iterator[None]:
    """Change settings for a block; see `Config`.

    Examples
    --------
    >>> with config_context(max_memory=6.0):
    ...     get_config().max_memory
    6.0
    """
    changed = _changed(
        get_config(),
        cache_dir=cache_dir,
        max_memory=max_memory,
        scratch_dir=scratch_dir,
        cache_after=cache_after,
    )
    token = _CONFIG.set(changed)
    try:
        yield
    finally:
        _CONFIG.reset(token)


def _changed(config: Config, **settings: Any) -> Config:
    changes = {name: value for name, value in settings.items() if value is not UNCHANGED}
    for name, value in changes.items():
        if name in ("cache_dir", "scratch_dir"):
            check_folder(name, value)
        elif name == "cache_after":
            check_number("cache_after (seconds)", value, at_least=0)
        elif value != "auto":
            check_number("max_memory (GB, or 'auto')", value, above=0)
    return replace(config, **changes)


def check_folder(name: str, folder: object) -> None:
    """Refuse a folder that is not a path, or that is a file; None is no folder."""
    if folder is None:
        return
    if not isinstance(folder, (str, os.PathLike)):
        raise InputError(f"{name} must be a folder or None; got {folder!r}.", parameter=name)
    path = expand_user(Path(folder))
    if path.exists() and not path.is_dir():
        raise InputError(f"{name} must be a folder; {str(path)!r} is a file.", parameter=name)
