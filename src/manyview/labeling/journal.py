"""The journal of a labeling session: one line per act, on the disk before it is acknowledged.

FOLDER/journal.jsonl    acts in order, numbered from 1
FOLDER/journal.lock     held by the one process that writes

A process that is killed while it writes can leave half a line at the end. It was never
acknowledged, so it is cut off and reported. Damage anywhere else is refused.
"""

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from manyview.errors import DataFileError
from manyview.system.files import not_written
from manyview.system.stages import sync_folder

JOURNAL_NAME, LOCK_NAME = "journal.jsonl", "journal.lock"
KINDS = frozenset({"class", "label", "skip", "undo", "keep", "file"})


class Journal:
    """Acts of a labeling session, in memory and in a file.

    Parameters
    ----------
    folder
        Where the file is; it is made if needed, and locked until `close`.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> journal = Journal(Path(mkdtemp()))
    >>> journal.add("label", labels={"s1": "cat"})["number"]
    1
    >>> journal.close()
    """

    def __init__(self, folder: Path) -> None:
        self.file = folder / JOURNAL_NAME
        self.n_cut = 0  # bytes of an unfinished last line that were cut off
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = FileLock(folder / LOCK_NAME)
            self._lock.acquire(timeout=0)
        except Timeout:
            raise DataFileError(
                f"{folder} is in use by another `manyview label`. Use its page, or end it first."
            ) from None
        except OSError as error:
            raise not_written(folder, error) from error
        try:
            self.acts = self._read()
            self._stream = self.file.open("ab", buffering=0)
            sync_folder(folder)
        except BaseException as error:
            self._lock.release()
            if isinstance(error, OSError):
                raise not_written(self.file, error) from error
            raise

    def add(self, kind: str, **fields: Any) -> dict[str, Any]:
        """Write an act and wait until it is on the disk; return it with its number and time."""
        act = {
            "number": len(self.acts) + 1,
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "kind": kind,
            **fields,
        }
        if self._stream.closed:
            raise DataFileError("The session is closed. The label was not saved.")
        line = json.dumps(act, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
        before = self._stream.tell()
        try:
            written = self._stream.write(line)
            if written != len(line):
                raise OSError("the disk is full")
            os.fsync(self._stream.fileno())
        except OSError as error:  # a half line would make the next one unreadable
            self._stream.truncate(before)
            raise not_written(self.file, error, " The label was not saved.") from error
        self.acts.append(act)
        return act

    def close(self) -> None:
        """Close the file and release the lock."""
        self._stream.close()
        self._lock.release()

    def _read(self) -> list[dict[str, Any]]:
        if not self.file.exists():
            return []
        content = self.file.read_bytes()
        end = content.rfind(b"\n") + 1
        if end < len(content):
            self.n_cut = len(content) - end
            with self.file.open("rb+") as stream:
                stream.truncate(end)
                os.fsync(stream.fileno())
        return [
            self._parse(line, number)
            for number, line in enumerate(content[:end].splitlines(), start=1)
        ]

    def _parse(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            act = json.loads(line.decode("utf-8", "surrogatepass"))
        except ValueError:
            act = None
        if not isinstance(act, dict) or act.get("number") != number or not _is_act(act):
            raise DataFileError(
                f"{self.file} is damaged: line {number} is not act {number} of a labeling session. "
                "Repair the line, or remove it and all lines after it; they hold labels."
            )
        return act


def _is_act(act: Mapping[str, Any]) -> bool:
    """Whether an act has the fields of its kind."""
    kind = act.get("kind")
    if kind not in KINDS:
        return False
    if kind in ("label", "file"):
        labels = act.get("labels")
        return isinstance(labels, dict) and all(
            label is None or isinstance(label, str) for label in labels.values()
        )
    if kind == "undo":
        of = act.get("of")
        return isinstance(of, int) and 0 < of < act["number"]
    return isinstance(act.get("name" if kind == "class" else "sample"), str)
