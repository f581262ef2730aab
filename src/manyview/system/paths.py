"""Paths as users write them, and what they name; every failure is one sentence."""

import stat
from pathlib import Path

from manyview.errors import DataFileError, InputError

AnyPath = str | Path
N_SHOWN = 120  # characters of a path in a message
KINDS = {stat.S_IFIFO: "pipe", stat.S_IFSOCK: "socket"}


def expand_user(path: AnyPath) -> Path:
    """Replace a leading ~ by the home folder; refuse an empty path and unknown users.

    Examples
    --------
    >>> expand_user("a/b.npz").as_posix()
    'a/b.npz'
    """
    if not str(path).strip():
        raise InputError("a path must name a file or a folder; got an empty text.")
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise InputError(
            f"{str(path)!r} starts with the home folder of a user who does not exist. Write the "
            "whole path, or ./~ for a file of this name."
        ) from error


def file_mode(path: Path) -> int | None:
    """Return the type and permissions of what a path names; None if there is nothing.

    Refuse what cannot be examined: no permission, a loop of links, a name that is too long.
    """
    try:
        return path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:  # ValueError for a NUL character
        reason = getattr(error, "strerror", None) or str(error)
        raise DataFileError(f"{shown_path(path)} cannot be opened: {reason}.") from error


def check_regular(path: Path, mode: int) -> None:
    """Refuse pipes, devices and sockets, which may have no end."""
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        kind = KINDS.get(stat.S_IFMT(mode), "device")
        raise DataFileError(f"{path} must be a file; got a {kind}. Save the data to a file first.")


def names_in(folder: Path) -> list[str]:
    """Return the names in a folder, sorted, for hints; none if it cannot be listed."""
    try:
        return sorted(entry.name for entry in folder.iterdir())
    except (OSError, ValueError):
        return []


def shown_path(path: Path) -> str:
    """Return a path for a message, cut in the middle if it is long."""
    text = str(path)
    if len(text) <= N_SHOWN:
        return text
    return f"{text[: N_SHOWN // 2]}...{text[-N_SHOWN // 3 :]} ({len(text)} characters)"
