"""A worker: a process that runs one trial after the other and can be stopped at any time.

A worker reads one JSON document per line, a trial and the folder of its data, and replies with one
line, its outcome; its first line says that it is ready. It ends with its input, so that no process
is left when the runner is killed. It ignores Ctrl-C and SIGTERM, which go to all processes of a
job at once: the runner stops its workers, and their trials stay open instead of failing.
"""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import traceback
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

from manyview.data.dataset import Dataset
from manyview.errors import InputError, ManyviewError, MissingValuesError
from manyview.experiments.limits import Limits, memory_of, oom_kills, thread_variables
from manyview.experiments.store import DONE
from manyview.experiments.trial import Trial, run_trial, versions
from manyview.methods import find_method
from manyview.runs.sources import DataSource

FAILED, OUT_OF_TIME, OUT_OF_MEMORY = "failed", "out of time", "out of memory"
POLL_SECONDS = 0.2
MAX_STARTS = 3  # in a row, of a process that ends before it is ready
# Errors of the import become one line for the runner.
START = """
import json, sys
try:
    from manyview.experiments.worker import main
except BaseException as error:
    sys.stdout.write(json.dumps({"refused": f"{type(error).__name__}: {error}"}) + "\\n")
    sys.exit(1)
main()
"""
NO_MEMORY = ("can't allocate memory", "not enough memory")  # of PyTorch, in a RuntimeError
READY = b'{"ready": true}\n'
Outcome = dict[str, Any]


def attempt(trial: Trial, data_dir: str | None, cache_folder: Path | None) -> Outcome:
    """Run a trial; an error becomes its outcome."""
    try:
        numbers = run_trial(trial, _load(trial, data_dir), cache_folder)
        return {"status": DONE, **numbers, "versions": versions()}
    except MemoryError as error:
        return {"status": OUT_OF_MEMORY, "reason": str(error) or "no memory was left"}
    except ManyviewError as error:
        return {"status": FAILED, "reason": str(error)}
    except Exception as error:
        if isinstance(error, RuntimeError) and any(text in str(error) for text in NO_MEMORY):
            return {"status": OUT_OF_MEMORY, "reason": " ".join(str(error).split())}
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}, line {place.lineno}"
        return {"status": FAILED, "reason": f"{type(error).__name__}: {error} ({where})"}


def _load(trial: Trial, data_dir: str | None) -> Dataset:
    """Read the data by the rule of the trial's method for missing cells."""
    try:
        source = trial.source or DataSource((trial.dataset,), data_dir=data_dir)
        return _load_once(json.dumps(source.describe()), trial.params.get("missing"))
    except MissingValuesError as error:
        way_out = "Fill or remove these rows"
        if "missing" in find_method(trial.method)().get_params(deep=False):
            way_out += ', or set params = { missing = "impute" } of the method in the plan'
        raise error.advising(f"{way_out}.") from None


@lru_cache(maxsize=1)
def _load_once(source: str, missing: str | None) -> Dataset:
    return DataSource.from_description(json.loads(source)).load(missing)


class Worker:
    """A separate process that runs trials one by one.

    Parameters
    ----------
    bell
        Set when a reply arrives.
    """

    def __init__(
        self,
        data_dir: str | None,
        cache_folder: Path | None,
        limits: Limits,
        bell: threading.Event | None = None,
    ) -> None:
        self.limits = limits
        self.key: str | None = None
        self._n_starts, self._request = 0, b""
        self._place = {
            "data_dir": data_dir,
            "cache_folder": None if cache_folder is None else str(cache_folder),
        }
        self._bell = bell or threading.Event()
        self._start()

    def _start(self) -> None:
        self._is_ready = False
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-c", START],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=os.environ | thread_variables(self.limits.n_threads),
                start_new_session=True,  # Ctrl-C is the runner's to handle
            )
            self._replies: queue.Queue[bytes] = queue.Queue()
            threading.Thread(
                target=_listen, args=(self._process.stdout, self._replies, self._bell), daemon=True
            ).start()
        except (OSError, RuntimeError) as error:  # no handles, processes, memory or threads left
            reason = getattr(error, "strerror", None) or str(error)
            raise InputError(
                f"No process could be started for a trial: {reason}. Use fewer processes "
                "(--jobs), or raise the limits of this shell (ulimit -a). What is recorded is "
                "kept, and the same command continues."
            ) from error

    def give(self, key: str, trial: Trial) -> None:
        """Start a trial."""
        self.key, self._started = key, time.monotonic()
        self._peak, self._oom_kills = 0.0, oom_kills()
        self._request = json.dumps({"trial": trial.describe(), **self._place}).encode() + b"\n"
        self._send()

    def _send(self) -> None:
        assert self._process.stdin is not None
        with suppress(OSError):  # if it has just died, `outcome` reports it
            self._process.stdin.write(self._request)
            self._process.stdin.flush()

    def outcome(self) -> Outcome | None:
        """Return the outcome of the trial, None while it runs; stop it at a limit."""
        seconds = time.monotonic() - self._started
        self._peak = max(self._peak, memory_of(self._process.pid) or 0.0)
        if not self._replies.empty():
            reply = self._replies.get()
            if not self._is_ready:
                self._welcome(reply)
                return None
            if not reply.endswith(b"\n"):
                return self._died(seconds)
            self.key = None
            outcome: Outcome = json.loads(reply)
            return outcome
        limits = self.limits
        if limits.minutes is not None and seconds > 60 * limits.minutes:
            self._restart()
            return _stopped(OUT_OF_TIME, f"it took more than {limits.minutes:g} minutes", seconds)
        if limits.memory_gb is not None and self._peak > limits.memory_gb:
            self._restart()
            reason = f"it took more than {limits.memory_gb:g} GB of memory"
            return _stopped(OUT_OF_MEMORY, reason, seconds)
        return None

    def _welcome(self, reply: bytes) -> None:
        """Read the first line of a process; start it again if it has ended instead."""
        if reply == READY:
            self._is_ready, self._n_starts = True, 0
            return
        self._n_starts += 1
        if self._n_starts < MAX_STARTS and not reply:
            self.stop()
            self._start()
            self._send()
            return
        reason = f"it ended with {_end_of(self._process.wait())}"
        with suppress(ValueError, TypeError, KeyError):
            reason = json.loads(reply)["refused"]
        raise InputError(
            f"The process for a trial does not start: {reason}. Use fewer processes (--jobs), or "
            "raise the limits of this shell (ulimit -a). What is recorded is kept, and the same "
            "command continues."
        )

    def run(self, trial: Trial) -> Outcome:
        """Run a trial and wait for its outcome."""
        self.give("", trial)
        while (outcome := self.outcome()) is None:
            self._bell.wait(POLL_SECONDS)
            self._bell.clear()
        return outcome

    def stop(self) -> None:
        """Kill the process."""
        self._process.kill()
        self._process.wait()
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()

    def _restart(self) -> None:
        self.stop()
        self.key = None
        self._start()

    def _died(self, seconds: float) -> Outcome:
        code = self._process.wait()
        self._restart()
        limit = self.limits.memory_gb
        memory = f"peak memory seen {self._peak:.1f} GB, " + (
            "no limit set" if limit is None else f"limit {limit:g} GB"
        )
        n_before, n_now = self._oom_kills, oom_kills()
        if code == -signal.SIGKILL and n_now is not None and n_now > (n_before or 0):
            reason = f"the system killed its process for lack of memory ({memory})"
            return _stopped(OUT_OF_MEMORY, reason, seconds)
        return _stopped(FAILED, f"its process ended with {_end_of(code)} ({memory})", seconds)


def _end_of(code: int) -> str:
    """Describe the end of a process: its exit code, or the name of a signal."""
    if code >= 0:
        return f"code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:
        return f"signal {-code}"


def _stopped(status: str, reason: str, seconds: float) -> Outcome:
    return {"status": status, "reason": reason, "seconds": round(seconds, 2)}


def _listen(stream: IO[bytes], replies: "queue.Queue[bytes]", bell: threading.Event) -> None:
    """Queue the lines of a process, and an empty one when it has ended."""
    with stream:
        for line in stream:
            replies.put(line)
            bell.set()
    replies.put(b"")
    bell.set()


def main() -> None:
    """Run trials until the input ends."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # prints of libraries go to standard error, not among the replies
    requests: queue.Queue[str] = queue.Queue()
    threading.Thread(target=_read_requests, args=(requests,), daemon=True).start()
    replies.write(READY)
    replies.flush()
    while True:
        request = json.loads(requests.get())
        folder = request["cache_folder"]
        trial = Trial.from_description(request["trial"])
        outcome = attempt(trial, request["data_dir"], None if folder is None else Path(folder))
        replies.write(json.dumps(outcome).encode() + b"\n")
        replies.flush()


def _read_requests(requests: "queue.Queue[str]") -> None:
    for line in sys.stdin:
        requests.put(line)
    os._exit(0)  # the runner is gone, and nobody waits for the outcome
