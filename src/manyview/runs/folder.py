"""The folder of a run: written completely or not at all."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from manyview.errors import DataFileError
from manyview.system.files import not_written, note_finished
from manyview.system.interrupts import interrupts_deferred
from manyview.system.stages import (
    StageInUseError,
    move_up,
    open_stage,
    remove_leftovers,
    sync_folder,
)

NOTHING_LEFT = " Nothing is left there."


def check_free(folder: Path) -> None:
    """Refuse a folder that is not empty or is no folder, before any work starts.

    What an earlier call left there when it was killed is removed first.
    """
    try:
        if folder.is_dir():
            remove_leftovers(folder)
            if any(folder.iterdir()):
                raise DataFileError(
                    f"The output folder {folder} exists and is not empty. Remove it, or name "
                    "another with --out."
                )
        elif folder.is_symlink():
            raise DataFileError(
                f"The output folder {folder} is a link that leads to no folder. Remove the link, "
                "or name another folder with --out."
            )
        elif folder.exists():
            raise DataFileError(f"The output must be a folder; {folder} is a file.")
    except (OSError, UnicodeEncodeError) as error:
        raise not_written(folder, error, NOTHING_LEFT) from error


def check_room(folder: Path, n_bytes: int) -> None:
    """Refuse a folder on a disk with less free space than this, before any work starts."""
    home = next(one for one in (folder, *folder.absolute().parents) if one.exists())
    try:
        free = shutil.disk_usage(home).free
    except OSError:  # the disk does not tell
        return
    if free < n_bytes:
        raise DataFileError(
            f"The run needs about {n_bytes / 1e6:,.2f} MB for {folder}, and the disk has "
            f"{free / 1e6:,.2f} MB left. Free space, or name a folder on another disk with --out."
        )


@contextmanager
def staged_folder(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder to fill; its content moves to `folder` when the block ends.

    If the block fails, Ctrl-C included, nothing is left; what a killed process leaves is removed
    by the next call. The temporary folder is made next to `folder`, or in it if it exists (it may
    be another disk), before the block runs, so that a place that cannot be written is found before
    the work.
    """
    check_free(folder)
    existed = folder.is_dir()
    home = folder if existed else folder.parent
    created = [one for one in (home, *home.parents) if not one.exists()]  # innermost first
    finished = False
    try:
        with ExitStack() as opened:
            with _one_sentence(folder):
                if created:
                    home.mkdir(parents=True, exist_ok=True)
                stage = opened.enter_context(open_stage(home, folder.absolute().name, mode=0o777))
                (stage / folder.absolute().name).mkdir()  # the name itself may be refused
                (stage / folder.absolute().name).rmdir()
            yield stage
            with interrupts_deferred(), _one_sentence(folder):
                _publish(stage, folder, existed)
                finished = True
                note_finished(folder)
                for one in created:
                    sync_folder(one.parent)
    finally:
        if not finished:
            for one in created:
                with suppress(OSError):
                    one.rmdir()


def _publish(stage: Path, folder: Path, existed: bool) -> None:
    sync_folder(stage)
    if existed:
        move_up(stage)
    else:
        stage.rename(folder)
        sync_folder(folder.parent)


@contextmanager
def _one_sentence(folder: Path) -> Iterator[None]:
    try:
        yield
    except StageInUseError:
        raise DataFileError(
            f"The output folder {folder} is being written by another process. Wait for it, or name "
            "another folder with --out."
        ) from None
    except (OSError, UnicodeEncodeError) as error:
        raise not_written(folder, error, NOTHING_LEFT) from error
