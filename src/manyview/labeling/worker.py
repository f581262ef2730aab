"""The worker: fits in a process of its own, so that the page never waits.

The server sends `Task`s; the worker answers with `Report`s and writes what it learned to the disk.
Newer labels end a fit that has just started; one that is half done is finished first, so that
predictions come also while labels keep coming. After them comes the estimate of their accuracy, one
fold after the other, for as long as no newer label waits. The worker ends when the server does.
"""

import multiprocessing
import os
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from queue import Queue
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Any

from manyview.data.views import MultiView
from manyview.errors import ManyviewError

if TYPE_CHECKING:
    from manyview.labeling.learned import Learned
    from manyview.labeling.learner import Learner, Task

MAX_CANCELED = 3  # fits in a row
IDLE_SECONDS = 1.0  # without labels, before the model is saved
NICE = 5  # so that the server answers first


@dataclass(frozen=True)
class Report:
    """What the worker does: "ready", "fitting", "learned", "moved", "idle" or "failed"."""

    kind: str
    number: int = 0
    message: str = ""


class CanceledError(Exception):
    """Newer labels have come."""


class ServerGoneError(Exception):
    """The server has ended."""


class Worker:
    """The server's side of the worker.

    Parameters
    ----------
    views, params
        The data, and parameters of the model.
    folder
        Where the worker writes what it learned.
    on_report
        Called with each `Report`, in a thread of its own.
    """

    def __init__(
        self,
        views: MultiView,
        params: dict[str, Any],
        folder: Path,
        on_report: Callable[[Report], None],
    ) -> None:
        self._connection, theirs = multiprocessing.Pipe()
        self._tasks: Queue[Task | None] = Queue()
        self._process = self._start(theirs, views, params, folder)
        self._on_report = on_report
        self._threads = [Thread(target=run, daemon=True) for run in (self._listen, self._send)]
        for thread in self._threads:
            thread.start()

    @staticmethod
    def _start(
        connection: Connection, views: MultiView, params: dict[str, Any], folder: Path
    ) -> BaseProcess:
        """Start the process that learns, with its end of the connection."""
        process = multiprocessing.get_context("spawn").Process(
            target=_work, args=(connection, views, params, folder), name="manyview worker",
            daemon=True,
        )  # fmt: skip
        process.start()
        connection.close()
        return process

    @property
    def pid(self) -> int | None:
        """Process id."""
        return self._process.pid

    def learn(self, task: "Task") -> None:
        """Learn from these labels, soon; never waits for the worker."""
        self._tasks.put(task)

    def stop(self) -> None:
        """End the worker."""
        self._tasks.put(None)
        self._process.join(timeout=1)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        for thread in self._threads:
            thread.join(timeout=1)
        self._connection.close()

    def _send(self) -> None:
        """Send the newest task when the worker takes it: a full pipe blocks this thread alone."""
        task: Task | None = None
        while True:
            task = self._tasks.get()
            while task is not None and not self._tasks.empty():
                task = self._tasks.get()
            with suppress(OSError):  # the listener reports that the worker has ended
                self._connection.send(task)
            if task is None:
                return

    def _listen(self) -> None:
        while True:
            try:
                report = self._connection.recv()
            except (EOFError, OSError):
                self._on_report(Report("failed", message="The process that learns has ended."))
                return
            self._on_report(report)


def _work(connection: Connection, views: MultiView, params: dict[str, Any], folder: Path) -> None:
    """Run the worker's side in a process of its own."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends this
    if hasattr(os, "nice"):
        os.nice(NICE)
    answer_tasks(connection, views, params, folder)


def answer_tasks(
    connection: Connection, views: MultiView, params: dict[str, Any], folder: Path
) -> None:
    """Learn from the tasks that come, and report, until the server ends."""
    try:
        from manyview.labeling.learner import Learner
        from manyview.labeling.two_step import TwoStepClassifier

        model = TwoStepClassifier().set_params(**params)
        learner = Learner(views, model, folder)
        connection.send(Report("ready"))
        _Loop(connection, learner).run()
    except (ServerGoneError, EOFError, OSError):
        return
    except ManyviewError as error:
        connection.send(Report("failed", message=str(error)))
    except Exception as error:  # our mistake: it is shown in the page, not lost
        traceback.print_exc()
        connection.send(Report("failed", message=f"{type(error).__name__}: {error}"))


class _Loop:
    def __init__(self, connection: Connection, learner: "Learner") -> None:
        self.connection, self.learner = connection, learner
        self.next: Task | None = None
        self.seconds = 0.0  # of the last fit
        self.n_canceled = 0
        self.n_paused = 0  # times in a row that newer labels came before a fold

    def run(self) -> None:
        is_saved = True
        while True:
            if self.next is None and not self.connection.poll(None if is_saved else IDLE_SECONDS):
                self.learner.save()
                is_saved = True
                self.connection.send(Report("idle"))
                continue
            self._receive(wait=self.next is None)
            task, self.next = self.next, None
            assert task is not None
            if self._learn(task):
                is_saved = not task.can_be_fitted

    def _learn(self, task: "Task") -> bool:
        started = monotonic()

        def check() -> None:
            self._receive()
            is_early = monotonic() - started < self.seconds / 2
            if self.next is not None and is_early and self.n_canceled < MAX_CANCELED:
                raise CanceledError

        self.connection.send(Report("fitting", task.number))
        try:
            found = self.learner.learn(task, check)
        except CanceledError:
            self.n_canceled += 1
            return False
        except ManyviewError as error:
            self.connection.send(Report("failed", task.number, str(error)))
            return False
        self.n_canceled, self.seconds = 0, monotonic() - started
        self.connection.send(Report("learned", task.number))
        if task.can_be_fitted:
            self.learner.move()
            self.connection.send(Report("moved", task.number))
            self._complete(task, found)
        return True

    def _complete(self, task: "Task", found: "Learned") -> None:
        """Estimate how good the predictions are, until newer labels come."""

        def check() -> None:
            self._receive()
            if self.next is None:
                return
            self.n_paused += 1
            if self.n_paused <= MAX_CANCELED:
                raise CanceledError
            self.n_paused = 0  # labels that keep coming let one fold through

        try:
            while self.learner.complete(task, found, check) is not None:
                self.n_paused = 0
                self.connection.send(Report("learned", task.number))
        except CanceledError:
            return
        except ManyviewError as error:
            self.connection.send(Report("failed", task.number, str(error)))

    def _receive(self, *, wait: bool = False) -> None:
        """Take the newest task; the others are out of date."""
        while wait or self.connection.poll():
            wait = False
            task = self.connection.recv()
            if task is None:
                raise ServerGoneError
            self.next = task
