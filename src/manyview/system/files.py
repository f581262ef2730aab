"""Write files atomically: whole or not at all.

A file is written in a stage beside it, flushed to the disk, and renamed; then its folder is
flushed, too. So a reader sees the old file or the new one, and a file that was reported as written
survives a power cut. A file that is replaced keeps its mode, and its owner where the system lets
us. A link stays, and the file that it leads to is replaced. What is not a regular file (a
device, a pipe, /dev/stdout) is written into.
"""

import errno
import os
import re
import shutil
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from manyview.errors import DataFileError
from manyview.system.interrupts import interrupts_deferred
from manyview.system.stages import is_in_stage, open_stage, sync_folder

STREAMS = {"/dev/stdout": 1, "/dev/stderr": 2}
_finished: list[Path] = []


def write_whole(path: Path, content: str | bytes) -> None:
    r"""Write a file through a temporary one, so that no reader ever sees half of it.

    Parts of a path that are not UTF-8 are written as JSON writes them, such as `\udcff`.
    """
    data = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    with whole_file(path) as temporary:
        temporary.write_bytes(data)


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path to write to, and rename it to `path` if the block succeeds.

    If the block fails, for example on a full disk, `path` stays as it was.
    """
    if _is_special(path):
        with _one_sentence(path, ""), TemporaryDirectory() as folder:
            yield (temporary := Path(folder) / "content")
            _write_into(path, temporary)
        return
    with _one_sentence(path, " Nothing was changed."):
        target = _follow_links(path)
        with open_stage(target.parent) as stage:
            yield (temporary := stage / target.name)
            with temporary.open("rb+") as written:
                _keep_access(target, written.fileno())
                os.fsync(written.fileno())
            with interrupts_deferred():
                temporary.replace(target)
                note_finished(path)
                sync_folder(target.parent)


def check_writable(path: Path) -> None:
    """Refuse a file that cannot be written, before any work starts."""
    with _one_sentence(path, ""):
        if path.is_dir():
            raise DataFileError(f"The output must be a file; {path} is a folder.")
        if _is_special(path):
            if not os.access(path, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            return
        target = _follow_links(path)
        if not target.parent.is_dir():
            raise DataFileError(f"There is no folder {path.parent} to write {path.name} in.")
        with open_stage(target.parent) as stage:
            (stage / target.name).touch()


def not_written(path: Path, error: BaseException | None, ending: str = "") -> DataFileError:
    """Return the error for a place that could not be written, with the reason."""
    reason: Any = error
    if isinstance(error, UnicodeEncodeError):
        reason = (
            f"its name has characters that the locale's encoding, {error.encoding}, does not "
            "have (the environment variable PYTHONUTF8=1 helps)"
        )
    elif isinstance(error, OSError):
        reason = error.strerror or error
    return DataFileError(f"{path} could not be written: {reason}.{ending}")


def is_standard_output(path: Path | None) -> bool:
    """Whether a path names the standard output of this process."""
    return path is not None and _stream(path) == 1


def is_replaced(path: Path | None) -> bool:
    """Whether writing a path would replace a file."""
    return path is not None and path.is_file() and not _is_special(path)


@contextmanager
def finished_paths() -> Iterator[list[Path]]:
    """Yield a list that fills with the files and folders that are finished in the block."""
    _finished.clear()
    yield _finished


def note_finished(path: Path) -> None:
    """Record a file or folder as finished, unless it is part of one that is not."""
    if not is_in_stage(path):
        _finished.append(path)


@contextmanager
def _one_sentence(path: Path, ending: str) -> Iterator[None]:
    try:
        yield
    except (OSError, UnicodeEncodeError) as error:
        raise not_written(path, error, ending) from error


def _is_special(path: Path) -> bool:
    """Whether something is there that is neither a regular file nor a folder."""
    if _stream(path) is not None:
        return True
    with suppress(OSError, ValueError):
        mode = path.stat().st_mode
        return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
    return False


def _stream(path: Path) -> int | None:
    """Return the number of the open file that a path such as /dev/stdout or /dev/fd/63 names."""
    text = str(path)
    found = re.fullmatch(r"/(?:dev|proc/self)/fd/(\d+)", text)
    return STREAMS.get(text) if found is None else int(found[1])


def _write_into(path: Path, content: Path) -> None:
    number = _stream(path)
    if number in (1, 2):  # after what was printed before
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    # An open file is written where it stands; opening it again would start at its beginning.
    place: Any = path if number is None else os.dup(number)
    with content.open("rb") as source, open(place, "wb") as target:  # noqa: PTH123
        shutil.copyfileobj(source, target)


def _follow_links(path: Path) -> Path:
    """Return the file that a path leads to, which need not exist unless the path is a link."""
    try:
        target = Path(os.path.realpath(path, strict=True))
    except OSError as error:
        if not path.is_symlink():
            return path
        if error.errno == errno.ELOOP:
            problem = "is a link that leads back to itself"
        else:
            problem = f"is a link to {path.readlink()}, which does not exist"
        raise DataFileError(f"{path} {problem}. Remove the link, or name another file.") from error
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return target


def _keep_access(target: Path, written: int) -> None:
    """Give the new file the owner and the mode of the one that it replaces."""
    try:
        old = target.stat()
    except FileNotFoundError:
        return
    if hasattr(os, "fchown"):
        for owner in ((old.st_uid, -1), (-1, old.st_gid)):
            with suppress(PermissionError):
                os.fchown(written, *owner)
        os.fchmod(written, stat.S_IMODE(old.st_mode))
