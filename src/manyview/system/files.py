"""Write files atomically: whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from manyview.errors import DataFileError


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file through a temporary one, so that no reader ever sees half of it."""
    data = content.encode() if isinstance(content, str) else content
    with whole_file(path) as temporary:
        temporary.write_bytes(data)


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path to write to, and rename it to `path` if the block succeeds.

    If the block fails, for example on a full disk, `path` stays as it was.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        with temporary.open("rb+") as written:
            os.fsync(written.fileno())
        temporary.replace(path)
    except OSError as error:
        raise DataFileError(
            f"{path} could not be written: {error.strerror or error}. Nothing was changed."
        ) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
