"""The folder of a run: written completely or not at all."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from manyview.errors import DataFileError
from manyview.runs.names import FORMAT, OWN_NAMES, RUN_NAME
from manyview.runs.reading import read_document
from manyview.system.files import not_written, note_finished
from manyview.system.interrupts import interrupts_deferred
from manyview.system.stages import (
    StageInUseError,
    move_up,
    open_stage,
    remove_leftovers,
    remove_replaced,
    swap_in,
    sync_folder,
)

NOTHING_LEFT = " Nothing is left there."
N_NAMED = 5  # files in a message


def check_free(folder: Path, *, overwrite: bool = False) -> None:
    """Refuse a folder that is not empty or is no folder, before any work starts.

    What an earlier call left there when it was killed is removed first. With `overwrite`, the
    folder of a run may be there, if it holds no other files than a fit writes.
    """
    try:
        remove_leftovers(folder.parent)  # finishes an exchange of the folder that was cut short
        if folder.is_dir():
            remove_leftovers(folder)
            if not any(folder.iterdir()):
                return
            if overwrite:
                check_replaceable(folder)
                return
            way_out = "Replace it with --overwrite" if _is_run(folder) else "Remove it"
            raise DataFileError(
                f"The output folder {folder} exists and is not empty. {way_out}, or name another "
                "with --out."
            )
        if folder.is_symlink():
            raise DataFileError(
                f"The output folder {folder} is a link that leads to no folder. Remove the link, "
                "or name another folder with --out."
            )
        if folder.exists():
            raise DataFileError(f"The output must be a folder; {folder} is a file.")
    except (OSError, UnicodeEncodeError) as error:
        raise not_written(folder, error, NOTHING_LEFT) from error


def check_replaceable(folder: Path) -> None:
    """Refuse to replace what is no run's folder, or holds files that no fit wrote."""
    if not _is_run(folder):
        raise DataFileError(
            f"--overwrite replaces only folders of runs; {folder} has no {RUN_NAME} of manyview. "
            "Name another folder with --out."
        )
    remove_replaced(folder)
    others = sorted(one.name for one in folder.iterdir() if not _is_own(one))
    if others:
        shown = ", ".join(others[:N_NAMED]) + (", ..." if len(others) > N_NAMED else "")
        raise DataFileError(
            f"{folder} is not replaced: it holds {'files' if len(others) > 1 else 'a file'} that "
            f"no fit wrote: {shown}. Move {'them' if len(others) > 1 else 'it'} elsewhere, or name "
            "another folder with --out."
        )


def _is_run(folder: Path) -> bool:
    try:
        read_document(folder / RUN_NAME, FORMAT, "the record of a manyview run")
    except DataFileError:
        return False
    return True


def _is_own(file: Path) -> bool:
    return OWN_NAMES.fullmatch(file.name) is not None and file.is_file() and not file.is_symlink()


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
def staged_folder(folder: Path, *, overwrite: bool = False) -> Iterator[Path]:
    """Yield a temporary folder to fill; its content moves to `folder` when the block ends.

    With `overwrite`, the temporary folder takes the place of that of a run, in one step. Until
    then that stays as it was.

    If the block fails, Ctrl-C included, nothing is left; what a killed process leaves is removed
    by the next call. The temporary folder is made next to `folder`, or in it if it exists (it may
    be another disk), before the block runs, so that a place that cannot be written is found before
    the work.
    """
    check_free(folder, overwrite=overwrite)
    existed = folder.is_dir()
    is_swapped = existed and any(folder.iterdir())
    if is_swapped:
        folder = folder.resolve()  # a link stays, and what it leads to is replaced
    home = folder if existed and not is_swapped else folder.parent
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
                if is_swapped:
                    check_replaceable(folder)  # again: someone may have added a file meanwhile
                    swap_in(stage, folder)
                else:
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
