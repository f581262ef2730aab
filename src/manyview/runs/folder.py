"""The folder of a run: written completely or not at all."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from manyview.errors import DataFileError


def check_free(folder: Path) -> None:
    """Refuse a folder that is not empty, before any work starts."""
    if folder.is_dir():
        if any(folder.iterdir()):
            raise DataFileError(
                f"The output folder {folder} exists and is not empty. Remove it, or name another "
                "with --out."
            )
    elif folder.exists():
        raise DataFileError(f"The output must be a folder; {folder} is a file.")


@contextmanager
def staged_folder(folder: Path) -> Iterator[Path]:
    """Yield a temporary folder to fill; its content moves to `folder` when the block ends.

    If the block fails, Ctrl-C included, nothing is left. The temporary folder is made next to
    `folder`, or in it if it exists (it may be another disk), before the block runs, so that a
    place that cannot be written is found before the work.
    """
    check_free(folder)
    existed = folder.is_dir()
    home = folder if existed else folder.parent
    stage = home / f".{folder.name}.{token_hex(4)}.tmp"
    created = [one for one in (home, *home.parents) if not one.exists()]  # innermost first
    finished = False
    try:
        try:
            stage.mkdir(parents=True)
        except OSError as error:
            raise not_written(folder, error) from error
        yield stage
        try:
            if existed:
                _move_up(stage, folder)
            else:
                stage.rename(folder)
        except OSError as error:
            raise not_written(folder, error) from error
        finished = True
    finally:
        shutil.rmtree(stage, ignore_errors=True)
        if not finished:
            for one in created:
                with suppress(OSError):
                    one.rmdir()


def not_written(path: Path, error: BaseException | None) -> DataFileError:
    """Return the error for a place that could not be written, with the reason."""
    reason = error.strerror if isinstance(error, OSError) else None
    return DataFileError(f"{path} could not be written: {reason or error}. Nothing is left there.")


def _move_up(stage: Path, folder: Path) -> None:
    moved: list[Path] = []
    try:
        for file in sorted(stage.iterdir()):
            moved.append(file.rename(folder / file.name))
    except BaseException:
        for file in moved:
            file.unlink(missing_ok=True)
        raise
