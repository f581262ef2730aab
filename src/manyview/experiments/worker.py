"""A worker: a process that runs one trial after the other and can be stopped at any time.

    python -m manyview.experiments.worker

reads one JSON document per line, a trial and the folder of its data, and replies with one line, its
outcome. It ends with its input, so that no process is left when the runner is killed.
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
from manyview.errors import ManyviewError
from manyview.experiments.limits import Limits, memory_of, thread_variables
from manyview.experiments.store import DONE
from manyview.experiments.trial import Trial, run_trial, versions
from manyview.runs.sources import DataSource

FAILED, OUT_OF_TIME, OUT_OF_MEMORY = "failed", "out of time", "out of memory"
POLL_SECONDS = 0.2
Outcome = dict[str, Any]


def attempt(trial: Trial, data_dir: str | None, cache_folder: Path | None) -> Outcome:
    """Run a trial; an error becomes its outcome."""
    try:
        numbers = run_trial(trial, _load(trial.dataset, data_dir), cache_folder)
        return {"status": DONE, **numbers, "versions": versions()}
    except MemoryError as error:
        return {"status": OUT_OF_MEMORY, "reason": str(error) or "no memory was left"}
    except ManyviewError as error:
        return {"status": FAILED, "reason": str(error)}
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}, line {place.lineno}"
        return {"status": FAILED, "reason": f"{type(error).__name__}: {error} ({where})"}


@lru_cache(maxsize=1)
def _load(name: str, data_dir: str | None) -> Dataset:
    return DataSource((name,), data_dir=data_dir).load()


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
        self._place = {
            "data_dir": data_dir,
            "cache_folder": None if cache_folder is None else str(cache_folder),
        }
        self._bell = bell or threading.Event()
        self._start()

    def _start(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "manyview.experiments.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | thread_variables(self.limits.n_threads),
            start_new_session=True,  # Ctrl-C is the runner's to handle
        )
        self._replies: queue.Queue[bytes] = queue.Queue()
        threading.Thread(
            target=_listen, args=(self._process.stdout, self._replies, self._bell), daemon=True
        ).start()

    def give(self, key: str, trial: Trial) -> None:
        """Start a trial."""
        self.key, self._started = key, time.monotonic()
        line = json.dumps({"trial": trial.describe(), **self._place}) + "\n"
        assert self._process.stdin is not None
        with suppress(OSError):  # if it has just died, `outcome` reports it
            self._process.stdin.write(line.encode())
            self._process.stdin.flush()

    def outcome(self) -> Outcome | None:
        """Return the outcome of the trial, None while it runs; stop it at a limit."""
        seconds = time.monotonic() - self._started
        if not self._replies.empty():
            reply = self._replies.get()
            if not reply:
                return self._died(seconds)
            self.key = None
            outcome: Outcome = json.loads(reply)
            return outcome
        limits = self.limits
        if limits.minutes is not None and seconds > 60 * limits.minutes:
            self._restart()
            return _stopped(OUT_OF_TIME, f"it took more than {limits.minutes:g} minutes", seconds)
        if limits.memory_gb is not None:
            memory = memory_of(self._process.pid) or 0.0
            if memory > limits.memory_gb:
                self._restart()
                reason = f"it took more than {limits.memory_gb:g} GB of memory"
                return _stopped(OUT_OF_MEMORY, reason, seconds)
        return None

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
        if code == -signal.SIGKILL:  # the system does this when memory runs out
            return _stopped(
                OUT_OF_MEMORY, "the system killed its process, probably out of memory", seconds
            )
        return _stopped(FAILED, f"its process ended with code {code}", seconds)


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
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # prints of libraries go to standard error, not among the replies
    requests: queue.Queue[str] = queue.Queue()
    threading.Thread(target=_read_requests, args=(requests,), daemon=True).start()
    while True:
        request = json.loads(requests.get())
        folder = request["cache_folder"]
        trial = Trial.from_description(request["trial"])
        outcome = attempt(trial, request["data_dir"], None if folder is None else Path(folder))
        replies.write(json.dumps(outcome) + "\n")
        replies.flush()


def _read_requests(requests: "queue.Queue[str]") -> None:
    for line in sys.stdin:
        requests.put(line)
    os._exit(0)  # the runner is gone, and nobody waits for the outcome


if __name__ == "__main__":
    main()
