"""Process-wide settings: the cache folder and the memory limit.

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
    cache_after
        Seconds that a search of neighbors must take for its result to be stored.
    """

    cache_dir: str | Path | None = None
    max_memory: float | str = "auto"
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
    cache_after: float = UNCHANGED,
) -> None:
    """Change settings for the rest of the process; see `Config`."""
    global _DEFAULT
    _DEFAULT = _changed(_DEFAULT, cache_dir, max_memory, cache_after)


@contextmanager
def config_context(
    *,
    cache_dir: str | Path | None = UNCHANGED,
    max_memory: float | str = UNCHANGED,
    cache_after: float = UNCHANGED,
) -> Iterator[None]:
    """Change settings for a block; see `Config`.

    Examples
    --------
    >>> with config_context(max_memory=6.0):
    ...     get_config().max_memory
    6.0
    """
    token = _CONFIG.set(_changed(get_config(), cache_dir, max_memory, cache_after))
    try:
        yield
    finally:
        _CONFIG.reset(token)


def _changed(config: Config, cache_dir: Any, max_memory: Any, cache_after: Any) -> Config:
    if cache_dir is not UNCHANGED:
        check_cache_dir(cache_dir)
        config = replace(config, cache_dir=cache_dir)
    if max_memory is not UNCHANGED:
        if max_memory != "auto":
            check_number("max_memory (GB, or 'auto')", max_memory, above=0)
        config = replace(config, max_memory=max_memory)
    if cache_after is not UNCHANGED:
        check_number("cache_after (seconds)", cache_after, at_least=0)
        config = replace(config, cache_after=cache_after)
    return config


def check_cache_dir(cache_dir: object) -> None:
    """Refuse a cache folder that is not a path, or that is a file."""
    if cache_dir is None:
        return
    if not isinstance(cache_dir, (str, os.PathLike)):
        raise InputError(
            f"cache_dir must be a folder or None; got {cache_dir!r}.", parameter="cache_dir"
        )
    folder = expand_user(Path(cache_dir))
    if folder.exists() and not folder.is_dir():
        raise InputError(
            f"cache_dir must be a folder; {str(folder)!r} is a file.", parameter="cache_dir"
        )
