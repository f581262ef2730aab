"""The local engine: run the trials of a study in processes of this machine."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from manyview.experiments.limits import Limits
from manyview.experiments.store import Store
from manyview.experiments.study import Study
from manyview.experiments.trial import Trial
from manyview.experiments.worker import POLL_SECONDS, Outcome, Worker

HEARTBEAT_SECONDS = 30.0
OnRecord = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Finished:
    """How the run of an engine ended."""

    n_recorded: int
    interrupted: bool


def run_locally(
    study: Study,
    trials: dict[str, Trial],
    *,
    retried: Mapping[str, dict[str, Any]] | None = None,
    n_jobs: int,
    limits: Limits,
    on_record: OnRecord | None = None,
) -> Finished:
    """Run trials in processes of this machine, and record each one when it ends.

    `retried` has the records of trials that are run again. Ctrl-C and SIGTERM stop the processes
    and release their trials.
    """
    store = study.store
    bell = threading.Event()
    workers: list[Worker] = []
    left = dict(trials)
    n_recorded, last_heartbeat, interrupted = 0, time.monotonic(), False
    try:
        for _ in range(min(n_jobs, len(trials))):
            workers.append(Worker(study.data_dir, store.cache_folder, limits, bell))
        while True:
            for worker in workers:
                if worker.key is None and left:
                    _give_next(worker, store, left, retried or {})
            busy = [worker for worker in workers if worker.key is not None]
            if not busy:
                break
            bell.wait(POLL_SECONDS)
            bell.clear()
            for worker in busy:
                key = worker.key
                outcome = worker.outcome()
                if outcome is None or key is None:
                    continue
                record = as_record(key, trials[key], outcome)
                store.add(record)
                n_recorded += 1
                if on_record is not None:
                    on_record(record)
            if time.monotonic() - last_heartbeat > HEARTBEAT_SECONDS:
                store.heartbeat()
                last_heartbeat = time.monotonic()
    except KeyboardInterrupt:
        interrupted = True
    finally:
        for worker in workers:
            worker.stop()
        store.release()
    return Finished(n_recorded, interrupted)


def as_record(key: str, trial: Trial, outcome: Outcome) -> dict[str, Any]:
    """Return the record of a trial and its outcome."""
    return {"key": key, **trial.describe(), **outcome}


def _give_next(
    worker: Worker,
    store: Store,
    left: dict[str, Trial],
    retried: Mapping[str, dict[str, Any]],
) -> None:
    key = store.claim(left, retried=retried)
    if key is None:  # other runners have the rest
        left.clear()
        return
    worker.give(key, left.pop(key))
