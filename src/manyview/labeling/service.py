"""The service behind the page: acts of the person in, and the worker that learns from them."""

from collections.abc import Callable, Iterable, Sequence
from threading import Event, Thread
from typing import Any

import numpy as np

from manyview.data.dataset import Dataset
from manyview.errors import ManyviewError
from manyview.labeling.images import Images
from manyview.labeling.learned import load_places
from manyview.labeling.learner import Task
from manyview.labeling.queue import rows_of_class
from manyview.labeling.session import Session
from manyview.labeling.showing import NO_CLASS, Showing
from manyview.labeling.worker import Report, Worker

TIDY_SECONDS = 0.5  # between looks at labels.csv
TIDY_AT_MOST = 6  # looks after which it is written although labels keep coming


class Service(Showing):
    """One labeling session with its data and its worker.

    Parameters
    ----------
    data, session, images, hidden
        See `Showing`.
    params
        Parameters of the model.
    """

    def __init__(
        self,
        data: Dataset,
        session: Session,
        images: Images,
        params: dict[str, Any],
        *,
        hidden: Sequence[str | None] | None = None,
    ) -> None:
        super().__init__(data, session, images, hidden)
        self.listeners: list[Callable[[str], None]] = []
        self.finished = Event()  # the person has asked to finish
        self._focus: dict[str, np.ndarray] = {}  # rows that a window asked for
        self._stopped = Event()
        self._edits: tuple[Any, ...] = (session.number, session.conflicts, session.problem)
        self.worker = Worker(data.views, params, self.state_folder, self._on_report)
        self._send_task()
        self._tidier = Thread(target=self._tidy, daemon=True)
        self._tidier.start()

    def label(
        self,
        rows: Sequence[int],
        name: str | None,
        *,
        window: str,
        source: str,
        seen: Sequence[str | None] | None = None,
    ) -> None:
        """Label some samples with one class, or remove their labels."""
        samples = self.samples_of(rows)
        shown = None if seen is None else dict(zip(samples, seen, strict=True))
        labels = dict.fromkeys(samples, name)
        self.session.label(labels, window=window, source=source, seen=shown)
        self._changed()

    def skip(self, row: int, window: str) -> None:
        """Set a sample aside."""
        (sample,) = self.samples_of([row])
        self.session.skip(sample, window)
        self._changed()

    def keep(self, row: int, window: str) -> None:
        """Confirm a label that the model doubts."""
        (sample,) = self.samples_of([row])
        self.session.keep(sample, window)
        self._changed()

    def undo(self, window: str) -> dict[str, Any]:
        """Undo the last act of a window; return what it was, and the sample to show."""
        act = self.session.undo(window)
        self._changed()
        names = list(act.get("labels", ())) or [act["sample"]] if act["kind"] != "class" else []
        return {
            "kind": act["kind"],
            "rows": [self.session.row_of[name] for name in names],
            "name": act.get("name"),
        }

    def add_class(self, name: str, window: str) -> str:
        """Add a class."""
        name = self.session.add_class(name, window)
        self._changed()
        return name

    def resolve(self, sample: str, label: str | None, window: str) -> None:
        """Choose the label of the page or that of the file."""
        self.session.resolve(sample, label, window)
        self._changed()

    def focus(self, window: str, rows: Iterable[int] | None, class_name: str | None) -> int:
        """Show only samples of a class or of a region to a window; return how many there are."""
        self._focus.pop(window, None)
        if class_name is not None:
            column = self.column_of(class_name)
            self._focus[window] = rows_of_class(
                self.learned.probabilities, column, self.learned.queue.gains, self.is_open()
            )
        elif rows is not None:
            chosen = np.array(self.checked_rows(rows), dtype=np.int64)
            gains = self.learned.queue.gains[chosen]
            self._focus[window] = chosen[np.argsort(-gains, kind="stable")]
        return len(self._focus.get(window, ()))

    @property
    def is_waiting(self) -> bool:
        """Whether no sample was chosen yet: the worker still prepares the data."""
        return self.learned.number < 0 and self.status != "failed"

    def next_row(self, window: str) -> int | None:
        """Return the sample to show next; None if every sample has a label, or none is chosen yet.

        Nothing is shown before the first queue, so that the first samples cover the data.
        """
        if self.is_waiting and window not in self._focus:
            return None
        with self.session.lock:
            is_open = self.is_open()
            others = [row for one, row in self.shown.items() if one != window]
            is_free = is_open.copy()
            is_free[self.rows_again()] = True
            is_free[others] = False
            order = self._focus.get(window)
            if order is not None and not is_free[order].any():
                self._focus.pop(window)
                order = None
            if order is None:
                rest = np.argsort(-self.learned.queue.gains, kind="stable")
                order = np.concatenate([self.learned.queue.rows, rest])
            left = order[is_free[order]]
            if len(left):
                row: int | None = int(left[0])
            elif is_open.any():
                row = int(np.flatnonzero(is_open)[0])
            else:
                left_over = (one for one in self.session.skipped if one not in self.session.labels)
                row = next((self.session.row_of[name] for name in left_over), None)
            if row is not None:
                self.shown[window] = row
            return row

    def notify(self, kind: str) -> None:
        """Tell the pages that something has changed."""
        self.version += 1
        for listener in list(self.listeners):
            listener(kind)

    def close(self) -> None:
        """End the worker, and write `labels.csv`."""
        self._stopped.set()
        self._tidier.join()
        self.worker.stop()
        self.session.close()

    def abandon(self) -> None:
        """End the worker without writing anything; the journal has every label."""
        self._stopped.set()
        self._tidier.join()
        self.worker.stop()
        self.session.journal.close()

    def task(self) -> Task:
        """Return the labels as they are now."""
        with self.session.lock:
            session = self.session
            number_of = {name: number for number, name in enumerate(session.classes)}
            y_encoded = np.full(self.n_samples, NO_CLASS)
            for name, label in session.labels.items():
                y_encoded[session.row_of[name]] = number_of[label]
            skipped = tuple(session.row_of[name] for name in session.skipped)
            twice = list(filter(session.is_checked, session.labels))
            return Task(
                session.number,
                y_encoded,
                tuple(session.classes),
                skipped,
                checked=tuple(session.row_of[name] for name in twice),
                n_changed=sum(map(session.is_changed, twice)),
            )

    def _changed(self) -> None:
        self._edits = (self.session.number, *self._edits[1:])
        self._send_task()
        self.notify("labels")

    def _send_task(self) -> None:
        with self.session.lock:  # so that tasks are sent in the order of the acts
            self.worker.learn(self.task())

    def _on_report(self, report: Report) -> None:
        if self._stopped.is_set():
            return
        if report.kind == "learned":
            self.load_learned()
        if report.kind in ("ready", "moved"):
            self.places = load_places(self.state_folder, self.n_samples)
        self.status = {"fitting": "learning", "failed": "failed"}.get(report.kind, "idle")
        self.message = report.message
        self.notify(report.kind)

    def _tidy(self) -> None:
        """Merge edits of `labels.csv`, and write it when no label came for a moment."""
        session, seen, written, waited = self.session, None, -1, 0
        while not self._stopped.wait(TIDY_SECONDS):
            before = session.number
            try:
                waited += 1
                if before != written and (seen == before or waited >= TIDY_AT_MOST):
                    written, waited = (before if session.write_file() else -1), 0
                else:
                    session.merge_file()
            except ManyviewError as error:
                session.problem = str(error)
            seen = before
            if session.number != before:
                self._send_task()
            self._tell_of_edits()

    def _tell_of_edits(self) -> None:
        found = self.session.number, self.session.conflicts, self.session.problem
        if found != self._edits:
            self._edits = found
            self.notify("labels")
