"""Stages: hidden folders in which files are made before they appear under their own names.

A stage is locked as long as its process lives, by a lock that the system drops with the process
(kill -9 included, in any container on the machine). So a stage without a lock is a leftover, which
the next writer in the same folder removes. Where folders cannot be locked (Windows, some network
disks), a stage is a leftover if it was not changed for a day.

A stage with the file `.moving` is complete: its files are on their way to the folder around it.
A stage with the folder `.replaced` is complete, too: it is on its way to the place of that folder,
whose name is in the file `.target`. If either was cut short, the next writer finishes it.
"""

import errno
import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from secrets import token_hex

from manyview.errors import DataFileError
from manyview.system.interrupts import interrupts_deferred

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

STAGE_NAME = re.compile(r"\.manyview-[0-9a-f]{12}\.tmp")
MOVING_NAME, TARGET_NAME, REPLACED_NAME = ".moving", ".target", ".replaced"
LEFT_AFTER = 24 * 3600.0  # seconds without a change, where there are no locks
ATTEMPTS = 20  # a stage can be taken for a leftover in the instant before it is locked


class StageInUseError(DataFileError):
    """Another process has the stage of that name."""


@contextmanager
def open_stage(home: Path, name: str | None = None, *, mode: int = 0o700) -> Iterator[Path]:
    """Make a locked stage in a folder, and remove what is left of it at the end.

    With a `name`, only one process at a time can have the stage of that name.
    """
    stage, lock = None, None
    try:
        with interrupts_deferred():
            stage, lock = _claim(home, name, mode)
        yield stage
    finally:
        with interrupts_deferred():
            if stage is not None:
                shutil.rmtree(stage, ignore_errors=True)
            if lock is not None:
                os.close(lock)


def remove_leftovers(home: Path) -> None:
    """Remove the stages in a folder that no process uses; finish those that were moving."""
    try:
        with os.scandir(home) as entries:
            names = [one.name for one in entries if STAGE_NAME.fullmatch(one.name)]
    except OSError:
        return
    for name in names:
        _remove_leftover(home / name)


def is_in_stage(path: Path) -> bool:
    """Whether a path leads through a stage."""
    return any(STAGE_NAME.fullmatch(part) for part in path.parts)


def move_up(stage: Path) -> None:
    """Move the files of a complete stage to the folder around it: all, or after an error none."""
    (stage / MOVING_NAME).touch()
    sync_folder(stage)
    moved: list[Path] = []
    try:
        for file in _to_move(stage):
            moved.append(file.rename(stage.parent / file.name))
    except BaseException:
        for file in moved:
            file.rename(stage / file.name)
        (stage / MOVING_NAME).unlink()
        raise
    sync_folder(stage.parent)


def swap_in(stage: Path, folder: Path) -> None:
    """Put a complete stage in the place of a folder beside it; after an error the folder stays."""
    (stage / TARGET_NAME).write_bytes(os.fsencode(folder.name))
    sync_folder(stage)
    folder.rename(stage / REPLACED_NAME)
    try:
        stage.rename(folder)
    except BaseException:
        (stage / REPLACED_NAME).rename(folder)
        raise
    sync_folder(folder.parent)
    remove_replaced(folder)


def remove_replaced(folder: Path) -> None:
    """Remove what `swap_in` has put aside, from a folder that took its place."""
    shutil.rmtree(folder / REPLACED_NAME, ignore_errors=True)
    (folder / TARGET_NAME).unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Flush a folder's list of names to the disk, so that a power cut cannot undo a rename."""
    if fcntl is None:
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EBADF):  # no such operation
            raise
    finally:
        os.close(opened)


def _claim(home: Path, name: str | None, mode: int) -> tuple[Path, int | None]:
    remove_leftovers(home)
    for _ in range(ATTEMPTS):
        word = token_hex(6) if name is None else sha256(os.fsencode(name)).hexdigest()[:12]
        stage = home / f".manyview-{word}.tmp"
        try:
            stage.mkdir(mode=mode)
        except FileExistsError:
            _remove_leftover(stage)
            if name is not None and stage.exists():
                raise StageInUseError(f"{home / name} is in use by another process.") from None
            continue
        lock, is_free = _lock(stage)
        if is_free and _is_same(stage, lock):
            return stage, lock
        if lock is not None:
            os.close(lock)
    raise StageInUseError(f"{home} is in use by another process.")


def _remove_leftover(stage: Path) -> None:
    lock, is_free = _lock(stage)
    try:
        if lock is None and is_free:
            is_free = _was_left(stage)
        if is_free and _is_same(stage, lock) and _is_mine(stage):
            if (stage / MOVING_NAME).exists():
                for file in _to_move(stage):
                    if not (stage.parent / file.name).exists():
                        file.rename(stage.parent / file.name)
                sync_folder(stage.parent)
            elif (stage / REPLACED_NAME).exists():
                _finish_swap(stage)
            shutil.rmtree(stage, ignore_errors=True)
    except OSError:  # it cannot be removed, and stays
        return
    finally:
        if lock is not None:
            os.close(lock)


def _finish_swap(stage: Path) -> None:
    folder = stage.parent / os.fsdecode((stage / TARGET_NAME).read_bytes())
    stage.rename(folder)  # fails, and nothing is removed, if there is something of that name
    sync_folder(folder.parent)
    remove_replaced(folder)


def _lock(stage: Path) -> tuple[int | None, bool]:
    """Lock a stage; return what holds the lock (None without locks) and whether it was free."""
    if fcntl is None:
        return None, True
    try:
        opened = os.open(stage, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None, False
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(opened)
        return None, error.errno not in (errno.EWOULDBLOCK, errno.EACCES)
    return opened, True


def _is_same(stage: Path, lock: int | None) -> bool:
    """Whether the locked folder still has its name."""
    if lock is None:
        return stage.is_dir()
    with suppress(OSError):
        return os.path.samestat(stage.stat(), os.fstat(lock))
    return False


def _is_mine(stage: Path) -> bool:
    """Whether this user made the stage; those of others are not touched."""
    return not hasattr(os, "geteuid") or stage.stat().st_uid == os.geteuid()


def _was_left(stage: Path) -> bool:
    with suppress(OSError):
        return time.time() - stage.stat().st_mtime > LEFT_AFTER
    return False


def _to_move(stage: Path) -> list[Path]:
    return sorted(file for file in stage.iterdir() if file.name != MOVING_NAME)
