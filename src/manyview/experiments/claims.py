"""Claims: which runner has which trial, and whether that runner is alive.

    STORE/running/KEY      the claim on a trial: the id of its runner
    STORE/runners/ID       one file per runner, locked as long as its process lives

A lock dies with the process that holds it, however the process ends. Containers of one machine see
each other's locks, whereas their process ids are equal and mean nothing to each other. A runner on
another machine (another boot id) is alive if its lock is seen, or if it gave a sign of life, by the
time of its file, within SILENT_AFTER seconds: not every network file system passes locks on.
"""

import json
import os
import socket
import sys
import time
import uuid
import weakref
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

if sys.platform == "win32":
    from filelock import FileLock, Timeout
else:
    import fcntl

RUNNING_NAME, RUNNERS_NAME = "running", "runners"
SILENT_AFTER = 300.0  # seconds without a heartbeat after which a remote runner counts as dead
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True)
class Runner:
    """A process that runs trials; `machine` is the boot id of its kernel."""

    host: str
    pid: int
    machine: str
    started: float

    @classmethod
    def mine(cls) -> "Runner":
        """Describe this process."""
        return cls(socket.gethostname(), os.getpid(), machine_id(), time.time())


UNKNOWN = Runner("unknown", 0, "", 0.0)  # alive by its lock, with a file that cannot be read


class Claims:
    """The claims of a store, and those that this object holds.

    `claim` and `release` must be called under the lock of the store.
    """

    def __init__(self, store: Path) -> None:
        self._running, self._runners = store / RUNNING_NAME, store / RUNNERS_NAME
        self._held: set[str] = set()
        self._lock: _Lock | None = None

    @property
    def held(self) -> frozenset[str]:
        """Return the trials that this object has claimed."""
        return frozenset(self._held)

    def claim(self, key: str) -> bool:
        """Claim a trial unless a runner that is alive has it."""
        if self.runner_of(key) is not None:
            return False
        if self._lock is None:
            self._runners.mkdir(parents=True, exist_ok=True)
            self._lock = _Lock(self._runners / uuid.uuid4().hex)
        self._held.add(key)
        try:
            (self._running / key).write_text(self._lock.path.name)
        except OSError:
            self.release(key)
            raise
        return True

    def release(self, key: str) -> None:
        """Remove the claim on a trial, and the runner's file with its last claim."""
        (self._running / key).unlink(missing_ok=True)
        self._held.discard(key)
        if self._lock is not None and not self._held:
            self._lock.release()
            self._lock = None

    def heartbeat(self) -> None:
        """Show runners on other machines that this one is alive."""
        if self._lock is not None:
            with suppress(OSError):
                os.utime(self._lock.path)

    def running(self) -> dict[str, Runner]:
        """Return the runner of every claimed trial, of those that are alive."""
        found = {key: self.runner_of(key) for key in sorted(_names(self._running))}
        return {key: runner for key, runner in found.items() if runner is not None}

    def runner_of(self, key: str) -> Runner | None:
        """Return the runner that has a trial; None if there is none that is alive."""
        try:
            runner = (self._running / key).read_text()
        except (OSError, ValueError):
            return None
        is_id = len(runner) == 32 and runner.isalnum()
        return _alive(self._runners / runner) if is_id else None

    def clear(self) -> None:
        """Remove what dead runners left behind; to be called under the lock of the store."""
        for key in _names(self._running):
            if self.runner_of(key) is None:
                (self._running / key).unlink(missing_ok=True)
        for name in _names(self._runners):
            if _alive(self._runners / name) is None:
                (self._runners / name).unlink(missing_ok=True)


def machine_id() -> str:
    """Return an id of this machine since its start, the same in all of its containers."""
    try:
        return BOOT_ID.read_text().strip()
    except OSError:  # other systems than Linux
        return socket.gethostname()


def _names(folder: Path) -> Iterable[str]:
    try:
        return [file.name for file in folder.iterdir() if not file.name.startswith(".")]
    except OSError:
        return []


def _alive(file: Path) -> Runner | None:
    """Return the runner of a file if it is alive."""
    is_locked = False
    try:
        is_locked = _is_locked(file)
        runner = Runner(**json.loads(file.read_text()))
        seconds_silent = time.time() - file.stat().st_mtime
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError):
        return UNKNOWN if is_locked else None
    is_remote = runner.machine != machine_id()
    return runner if is_locked or (is_remote and seconds_silent < SILENT_AFTER) else None


if sys.platform == "win32":

    class _Lock:
        """A locked file beside the runner's, which cannot be read while it is locked."""

        def __init__(self, path: Path) -> None:
            self.path = path
            self._file = FileLock(path.with_name(f".{path.name}.lock"))
            self._file.acquire()
            path.write_text(json.dumps(asdict(Runner.mine())))

        def release(self) -> None:
            self.path.unlink(missing_ok=True)
            self._file.release()
            Path(self._file.lock_file).unlink(missing_ok=True)

    def _is_locked(file: Path) -> bool:
        lock = FileLock(file.with_name(f".{file.name}.lock"))
        try:
            lock.acquire(blocking=False)
        except Timeout:
            return True
        lock.release()
        return False

else:

    class _Lock:
        """The file of a runner, locked until it is released or the process ends."""

        def __init__(self, path: Path) -> None:
            self.path = path
            descriptor = os.open(path, os.O_CREAT | os.O_RDWR)  # other programs do not inherit it
            self.release = weakref.finalize(self, _unlock, path, descriptor, os.getpid())
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            os.write(descriptor, json.dumps(asdict(Runner.mine())).encode())

    def _unlock(path: Path, descriptor: int, pid: int) -> None:
        """Remove the file and unlock it, unless this is a fork of the process that locked it."""
        if os.getpid() == pid:
            path.unlink(missing_ok=True)
        os.close(descriptor)

    def _is_locked(file: Path) -> bool:
        """Return whether a process holds the lock; two that ask do not disturb each other."""
        with file.open("rb") as stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False
