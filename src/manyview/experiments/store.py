"""The store of a study: one record per trial, in a file that survives crashes.

    STORE/records.jsonl     one JSON record per line, with a checksum; lines are only added
    STORE/damaged.jsonl     damaged lines that the next runner took out of the records
    STORE/running/KEY       which runner has a trial; removed when it is recorded
    STORE/runners/ID        a runner; locked as long as it is alive
    STORE/cache/            intermediate results that trials have in common
    STORE/lock              held during a change

A record is written and flushed to disk in one step under the lock. A half-written line after a
crash is skipped by readers and cut off by the next writer. Several runners may use one store, also
from several machines with a common folder.
"""

import errno
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from filelock import FileLock

from manyview.errors import DataFileError
from manyview.experiments.claims import RUNNERS_NAME, RUNNING_NAME, Claims, Runner
from manyview.experiments.records import TRIAL_FIELDS, Fields, LineCounts, as_line
from manyview.system.files import write_whole
from manyview.system.paths import shown_path

RECORDS_NAME, DAMAGED_NAME = "records.jsonl", "damaged.jsonl"
CACHE_NAME, LOCK_NAME = "cache", "lock"
OWN_NAMES = (RECORDS_NAME, DAMAGED_NAME, RUNNING_NAME, RUNNERS_NAME, CACHE_NAME, LOCK_NAME)
DONE = "done"
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)  # EDQUOT: a quota is used up
KEY = re.compile(rb'"key":\s?"([^"]*)"')  # of a line that may be damaged
ATTEMPT = "attempt"  # number of a record that replaces another, from 2


class Store:
    """Records of trials in a folder, by key.

    Parameters
    ----------
    fields
        Fields that a record without a checksum must have, to be one.
    """

    def __init__(self, folder: Path, fields: Fields = TRIAL_FIELDS) -> None:
        self.folder, self._fields = folder, fields
        self._claims = Claims(folder)
        self._known: dict[str, dict[str, Any]] = {}
        self._counts = LineCounts(fields)
        self._read_until, self._inode = 0, -1

    @property
    def cache_folder(self) -> Path:
        """Return the folder of intermediate results that trials have in common."""
        return self.folder / CACHE_NAME

    def open(self) -> int:
        """Make the folder, check that it can be written, and remove what crashes left.

        Damaged lines are moved to another file, so that their trials run again. So are failures
        that a damaged line may have replaced: the last good line of a trial is not its result if
        the line of a successful retry was lost.

        Returns
        -------
        The number of damaged lines that were moved.
        """
        try:
            (self.folder / RUNNING_NAME).mkdir(parents=True, exist_ok=True)
            probe = self.folder / RUNNING_NAME / ".probe"  # one name, so that a kill leaves none
            probe.write_bytes(b"x")
            probe.unlink(missing_ok=True)  # another runner may have been quicker
        except OSError as error:
            raise self._not_written(error) from error
        with self._lock():
            self._claims.clear()
            return self._set_damaged_aside()

    def records(self) -> dict[str, dict[str, Any]]:
        """Return the last record of each key; damaged and unfinished lines are skipped."""
        file = self.folder / RECORDS_NAME
        try:
            with file.open("rb") as stream:
                state = os.fstat(stream.fileno())
                if state.st_ino != self._inode or state.st_size < self._read_until:
                    self._forget(state.st_ino)  # the file was replaced
                stream.seek(self._read_until)
                text = stream.read()
        except FileNotFoundError:
            self._forget()
            return self._known
        except OSError as error:
            raise DataFileError(
                f"The records in {file} cannot be read: {error.strerror or error}."
            ) from error
        end = text.rfind(b"\n") + 1
        self._read_until += end
        self._counts.is_cut = end < len(text)
        for line in text[:end].split(b"\n"):
            record = self._counts.read(line)
            if record is None:
                continue
            known = self._known.get(record["key"])
            if known is None or _attempt(record) >= _attempt(known):
                self._known[record["key"]] = record
        return self._known

    def line_counts(self) -> LineCounts:
        """Count the good, damaged and foreign lines of the records."""
        self.records()
        return self._counts

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
                if self._claims.claim(key):
                    return key
        return None

    def add(self, record: dict[str, Any]) -> None:
        """Write a trial's record and release its claim.

        A record that replaces another one of its key has the number of its attempt, so that the
        order of the lines does not matter.
        """
        with self._lock():
            replaced = self.records().get(record["key"])
            if replaced is not None:
                record = record | {ATTEMPT: _attempt(replaced) + 1}
            self._append(RECORDS_NAME, as_line(record))
            self._claims.release(record["key"])

    def release(self, *keys: str) -> None:
        """Release claims without a record; all that this object holds if none are named."""
        if keys or self._claims.held:
            with self._lock():
                for key in keys or self._claims.held:
                    self._claims.release(key)

    def heartbeat(self) -> None:
        """Show runners on other machines that this one is alive."""
        self._claims.heartbeat()

    def running(self) -> dict[str, Runner]:
        """Return the claimed trials and their runners, of those that are alive."""
        return self._claims.running()

    def _forget(self, inode: int = -1) -> None:
        self._known, self._counts = {}, LineCounts(self._fields)
        self._read_until, self._inode = 0, inode

    def _append(self, name: str, lines: bytes) -> None:
        """Add whole lines to a file and flush them to disk; cut off a half-written one first."""
        file = self.folder / name
        is_new = not file.exists()
        with file.open("ab+") as stream:
            end = _end_of_last_line(stream)
            try:
                stream.truncate(end)
                stream.write(lines)
                stream.flush()
                os.fsync(stream.fileno())
            except OSError:
                with suppress(OSError):
                    stream.truncate(end)
                raise
        if is_new:
            _sync_folder(self.folder)

    def _set_damaged_aside(self) -> int:
        n_damaged = self.line_counts().n_damaged
        is_any_failed = any(_has_failed(record) for record in self.records().values())
        if not n_damaged and not (self.line_counts().is_cut and is_any_failed):
            return 0
        file = self.folder / RECORDS_NAME
        counts, good, damaged = LineCounts(self._fields), list[tuple[bytes, Any]](), list[bytes]()
        *lines, cut = file.read_bytes().split(b"\n")  # the last one has no end
        for line in lines:
            n_before = counts.n_damaged
            record = counts.read(line)
            if counts.n_damaged > n_before:
                damaged.append(line)
            else:
                good.append((line, record))
        doubtful = self._doubtful([*damaged, cut] if cut else damaged)
        kept = [line for line, record in good if record is None or record["key"] not in doubtful]
        moved = [line for line, record in good if record is not None and record["key"] in doubtful]
        if not damaged and not moved:
            return 0
        self._append(DAMAGED_NAME, b"".join(line + b"\n" for line in damaged + moved))
        write_whole(file, b"".join(line + b"\n" for line in kept) + cut)  # the next writer cuts it
        _sync_folder(self.folder)
        return len(damaged)

    def _doubtful(self, lost: Iterable[bytes]) -> set[str]:
        """Return the trials whose last good record is a failure that a lost line may replace.

        They are those whose key a lost line has, give or take damage; all failures if a lost line
        has no key.
        """
        failed = {key for key, record in self.records().items() if _has_failed(record)}
        doubtful = set[str]()
        for line in lost:
            keys = [found.decode("ascii", "replace") for found in KEY.findall(line)]
            is_unknown = len(keys) < max(1, line.count(b'"checksum"'))  # lines may have merged
            doubtful |= {key for key in failed if is_unknown or any(_is_near(key, k) for k in keys)}
        return doubtful

    @contextmanager
    def _lock(self) -> Iterator[None]:
        try:
            with FileLock(self.folder / LOCK_NAME):
                yield
        except OSError as error:
            raise self._not_written(error) from error

    def _not_written(self, error: OSError) -> DataFileError:
        way_out = "Free disk space" if error.errno in FULL else "Make it writable"
        return DataFileError(
            f"The store {shown_path(self.folder)} cannot be written: {error.strerror or error}. "
            f"Its records are intact. {way_out} or name another folder, and run again to continue."
        )


def _attempt(record: Mapping[str, Any]) -> int:
    number = record.get(ATTEMPT, 1)
    return number if isinstance(number, int) else 1


def _has_failed(record: Mapping[str, Any]) -> bool:
    return bool(record.get("status", DONE) != DONE)


def _is_near(key: str, damaged: str) -> bool:
    """Whether a key can be another one with a few damaged characters."""
    n_changed = sum(one != other for one, other in zip(key, damaged, strict=False))
    return n_changed + abs(len(key) - len(damaged)) <= len(key) // 4


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


def _sync_folder(folder: Path) -> None:
    """Flush the names in a folder to disk, where the system can."""
    with suppress(OSError, AttributeError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
