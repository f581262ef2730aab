"""The Dask engine: run trials on the workers of an existing scheduler."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from manyview.errors import InputError
from manyview.experiments.engines import HEARTBEAT_SECONDS, Finished, OnRecord, as_record
from manyview.experiments.limits import Limits
from manyview.experiments.study import Study
from manyview.experiments.trial import Trial
from manyview.experiments.worker import FAILED, POLL_SECONDS, Outcome, Worker

Client: TypeAlias = Any  # Dask has no types and is imported late
Future: TypeAlias = Any

CONNECT_SECONDS = 10
_idle: dict[tuple[str | None, Path, Limits], list[Worker]] = {}  # per Dask worker
MAX_DEATHS = 3  # Dask workers that may die on a trial before it counts as failed


def run_on_dask(
    study: Study,
    trials: dict[str, Trial],
    *,
    scheduler: str,
    retried: Mapping[str, dict[str, Any]] | None = None,
    limits: Limits,
    on_record: OnRecord | None = None,
) -> Finished:
    """Run trials on the workers of a Dask scheduler; only this process writes the store.

    If a worker dies, another one runs its trial. On the worker, each trial runs in a separate
    process, which its limits apply to. The workers need manyview and the data.
    """
    client = _connect(scheduler)
    store = study.store
    left = dict(trials)
    running: dict[Future, str] = {}
    n_recorded, last_heartbeat, interrupted = 0, time.monotonic(), False
    try:
        while left or running:
            n_free = max(1, 2 * sum(client.nthreads().values())) - len(running)
            for _ in range(n_free):
                key = store.claim(left, retried=retried) if left else None
                if key is None:
                    left.clear()
                    break
                running[_submit(client, key, left.pop(key), study, limits)] = key
            if not running:
                break
            for future in _finished(running):
                key = running.pop(future)
                record = as_record(key, trials[key], _outcome(future))
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
        for future in running:
            future.cancel()
        store.release()
        client.close()
    return Finished(n_recorded, interrupted)


def _connect(scheduler: str) -> Client:
    try:
        from distributed import Client
    except ImportError as error:
        raise InputError(
            'engine "dask" needs Dask. Install it: pip install "manyview[dask]"'
        ) from error
    try:
        return Client(scheduler, timeout=CONNECT_SECONDS, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, TimeoutError, ValueError) as error:
        raise InputError(
            f"no Dask scheduler answers at {scheduler}: {error}. Start one with `dask scheduler`, "
            "and workers with `dask worker ADDRESS`."
        ) from error


def _submit(client: Client, key: str, trial: Trial, study: Study, limits: Limits) -> Future:
    return client.submit(
        _attempt,
        trial,
        study.data_dir,
        str(study.store.cache_folder.resolve()),
        limits,
        key=f"manyview-{key}-{time.time_ns()}",
        pure=False,
        retries=MAX_DEATHS,
    )


def _attempt(trial: Trial, data_dir: str | None, cache_folder: str, limits: Limits) -> Outcome:
    """Run a trial in a process of the Dask worker that is reused for the next trial."""
    place = (data_dir, Path(cache_folder), limits)
    try:
        worker = _idle.setdefault(place, []).pop()
    except IndexError:
        worker = Worker(*place)
    outcome = worker.run(trial)
    _idle[place].append(worker)
    return outcome


def _finished(running: dict[Future, str]) -> list[Future]:
    """Return the futures that are done; wait a moment if there are none."""
    done = [future for future in running if future.done()]
    if not done:
        time.sleep(POLL_SECONDS)
    return done


def _outcome(future: Future) -> Outcome:
    error = future.exception()
    if error is None:
        outcome: Outcome = future.result()
        return outcome
    return {"status": FAILED, "reason": f"{type(error).__name__}: {error}"}
