"""The store of a study: one record per trial, in a file that survives crashes.

    STORE/records.jsonl     one JSON record per line; lines are only added
    STORE/running/KEY       which process runs a trial; removed when it is recorded
    STORE/cache/            intermediate results that trials have in common
    STORE/lock              held during a change

A record is written and flushed to disk in one step under the lock. A half-written line after a
crash is skipped by readers and cut off by the next writer. Several runners may use one store, also
from several machines with a common folder.
"""

import json
import os
import socket
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock

from manyview.errors import DataFileError

RECORDS_NAME, RUNNING_NAME, CACHE_NAME, LOCK_NAME = "records.jsonl", "running", "cache", "lock"
DONE = "done"
SILENT_AFTER = 300.0  # seconds without a heartbeat after which a remote runner counts as dead


@dataclass(frozen=True)
class Claim:
    """The process that runs a trial."""

    host: str
    pid: int
    started: float

    @classmethod
    def mine(cls) -> "Claim":
        """Return the claim of this process."""
        return cls(socket.gethostname(), os.getpid(), time.time())

    def is_alive(self, file: Path) -> bool:
        """Whether the process runs: here by its id, on other machines by its last heartbeat."""
        if self.host == socket.gethostname():
            return _process_runs(self.pid)
        with suppress(OSError):
            return time.time() - file.stat().st_mtime < SILENT_AFTER
        return False


class Store:
    """Records of trials in a folder, by key."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._known: dict[str, dict[str, Any]] = {}
        self._read_until = 0

    @property
    def cache_folder(self) -> Path:
        """Return the folder of intermediate results that trials have in common."""
        return self.folder / CACHE_NAME

    def open(self) -> None:
        """Make the folder and check that it can be written, before any work starts."""
        try:
            (self.folder / RUNNING_NAME).mkdir(parents=True, exist_ok=True)
            probe = self.folder / RUNNING_NAME / f".probe-{socket.gethostname()}-{os.getpid()}"
            probe.write_bytes(b"x")
            probe.unlink()
        except OSError as error:
            raise self._not_written(error) from error

    def records(self) -> dict[str, dict[str, Any]]:
        """Return the last record of each key; unfinished lines are skipped."""
        file = self.folder / RECORDS_NAME
        try:
            size = file.stat().st_size
        except FileNotFoundError:
            self._known, self._read_until = {}, 0
            return self._known
        if size < self._read_until:  # the file was replaced
            self._known, self._read_until = {}, 0
        with file.open("rb") as stream:
            stream.seek(self._read_until)
            text = stream.read()
        whole = text[: text.rfind(b"\n") + 1]
        self._read_until += len(whole)
        for line in whole.splitlines():
            with suppress(ValueError, KeyError, TypeError):
                record = json.loads(line)
                self._known[record["key"]] = record
        return self._known

    def claim(
        self, keys: Iterable[str], *, retried: Mapping[str, dict[str, Any]] | None = None
    ) -> str | None:
        """Claim the first trial that is neither recorded nor running; None if there is none.

        A trial whose record equals that in `retried` counts as not recorded.
        """
        retried = retried or {}
        with self._lock():
            records = self.records()
            for key in keys:
                if key in records and records[key] != retried.get(key):
                    continue
                file = self.folder / RUNNING_NAME / key
                if self._claimed(file):
                    continue
                mine = Claim.mine()
                file.write_text(json.dumps(vars(mine)))
                return key
        return None

    def add(self, record: dict[str, Any]) -> None:
        """Write a trial's record and release its claim."""
        line = json.dumps(record, sort_keys=True, separators=(",", ":")) + "\n"
        with self._lock():
            file = self.folder / RECORDS_NAME
            with file.open("ab+") as stream:
                end = _end_of_last_line(stream)
                try:
                    stream.truncate(end)
                    stream.write(line.encode())
                    stream.flush()
                    os.fsync(stream.fileno())
                except OSError:
                    with suppress(OSError):
                        stream.truncate(end)
                    raise
            self._release(record["key"])

    def release(self, key: str) -> None:
        """Release a claim without a record."""
        with self._lock():
            self._release(key)

    def heartbeat(self, keys: Iterable[str]) -> None:
        """Show runners on other machines that these trials still run."""
        for key in keys:
            with suppress(OSError):
                os.utime(self.folder / RUNNING_NAME / key)

    def running(self) -> dict[str, Claim]:
        """Return the claims of runners that are alive."""
        found = {}
        for file in sorted((self.folder / RUNNING_NAME).glob("[!.]*")):
            claim = self._claimed(file)
            if claim is not None:
                found[file.name] = claim
        return found

    def _claimed(self, file: Path) -> Claim | None:
        try:
            claim = Claim(**json.loads(file.read_text()))
        except (OSError, ValueError, TypeError):
            return None
        return claim if claim.is_alive(file) else None

    def _release(self, key: str) -> None:
        (self.folder / RUNNING_NAME / key).unlink(missing_ok=True)

    @contextmanager
    def _lock(self) -> Iterator[None]:
        try:
            with FileLock(self.folder / LOCK_NAME):
                yield
        except OSError as error:
            raise self._not_written(error) from error

    def _not_written(self, error: OSError) -> DataFileError:
        return DataFileError(
            f"The store {self.folder} cannot be written: {error.strerror or error}. Its records "
            "are intact. Free disk space or name another folder, and run again to continue."
        )


def _end_of_last_line(stream: Any) -> int:
    """Return the position after the last complete line of an open file."""
    end = stream.seek(0, os.SEEK_END)
    position = end
    while position > 0:
        start = max(0, position - 2**16)
        stream.seek(start)
        newline = stream.read(position - start).rfind(b"\n")
        if newline >= 0:
            return int(start + newline + 1)
        position = start
    return 0


def _process_runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it runs, for another user
        return True
    return True
