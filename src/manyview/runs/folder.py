"""A run's folder: written whole or not at all."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from manyview.errors import DataFileError


def check_free(folder: Path) -> None:
    """Refuse a folder that holds something already, before any work starts."""
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
    """Offer a temporary folder to fill; its content is in `folder` once all went well.

    When anything goes wrong, Ctrl-C included, nothing is left. The temporary folder lies
    beside `folder`, or in it where it exists (it may be a disk of its own), and is made at
    once, so that a place that cannot be written is found before the work.
    """
    check_free(folder)
    existed = folder.is_dir()
    home = folder if existed else folder.parent
    stage = home / f".{folder.name}.{token_hex(4)}.tmp"
    made = [one for one in (home, *home.parents) if not one.exists()]  # innermost first
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
            for one in made:
                with suppress(OSError):
                    one.rmdir()


def not_written(path: Path, error: BaseException | None) -> DataFileError:
    """Make the error for a place that could not be written, and say why."""
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
