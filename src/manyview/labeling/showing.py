"""What the page shows: documents about the samples, the map and the state."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from manyview.data.dataset import Dataset
from manyview.errors import InputError, ManyviewError
from manyview.labeling.facts import SampleColumns
from manyview.labeling.images import Images
from manyview.labeling.learned import Learned, load_places
from manyview.labeling.progress import progress_document
from manyview.labeling.queue import AGAIN, REASONS, Queue, sure_rows
from manyview.labeling.session import Session

N_GRID = 60  # samples of a batch
NO_CLASS = -1
LABELED, SKIPPED, DOUBTED = 1, 2, 4  # flags of points on the map
MAX_ROWS = 1_000_000  # of one act
STATE_NAME = "state"  # folder of what was learned


class Showing:
    """Documents about one session and what the model has learned; nothing is changed here.

    Parameters
    ----------
    data, session, images
        The data, the labels, and pictures of the samples.
    hidden
        [sample] names of the true classes, None where unknown; None if nothing is hidden.
    """

    def __init__(
        self,
        data: Dataset,
        session: Session,
        images: Images,
        hidden: Sequence[str | None] | None = None,
    ) -> None:
        self.data, self.session, self.images = data, session, images
        self.hidden = None if hidden is None else np.array(hidden, dtype=object)
        self.state_folder = session.folder / STATE_NAME
        self.state_folder.mkdir(exist_ok=True)
        self.n_samples, self.ids = len(data.views), session.sample_ids
        self.columns = SampleColumns(data.views)
        self.status, self.message, self.version = "starting", "", 0
        self.measured_curve: list[tuple[int, float]] = []  # labels, accuracy on hidden labels
        self.shown: dict[str, int] = {}  # the row that each window shows
        self.load_learned()
        self.places = load_places(self.state_folder, self.n_samples)

    def load_learned(self) -> None:
        """Read what the worker has learned."""
        try:
            self.learned = Learned.load(self.state_folder, self.n_samples)
        except ManyviewError:
            self.learned = empty_state(self.n_samples)
        measured = self._measured()
        if measured is not None:
            n_labeled = self.n_samples - measured["n"]
            earlier = (one for one in self.measured_curve if one[0] < n_labeled)
            self.measured_curve = [*earlier, (n_labeled, measured["accuracy"])]

    def show(self, row: int, window: str) -> dict[str, Any]:
        """Return a sample with its columns, its prediction and its neighbors."""
        (name,) = self.samples_of([row])
        self.shown[window] = row
        learned, given = self.learned, self.session.labels.get(name)
        evidence = [
            (other, margin)
            for other, margin in zip(
                learned.evidence[row].tolist(), learned.margins[row].tolist(), strict=True
            )
            if other >= 0
        ]
        classes = self._classes_of_samples()
        predicted = self.prediction(row)
        of_class = given or predicted
        number = NO_CLASS if of_class is None else self.session.classes.index(of_class)
        peers = np.flatnonzero(classes == number) if number != NO_CLASS else np.zeros(0, dtype=int)
        facts = self.columns.describe(row, peers, [other for other, _ in evidence])
        return {
            "row": row,
            "id": name,
            "given": given,
            "source": self.session.sources.get(name),
            "is_skipped": name in self.session.skipped,
            "reason": self._reason(row),
            "has_image": self.images.has(row),
            "prediction": predicted,
            "probabilities": self._probabilities(row),
            "compared_with": of_class,
            "neighbors": [
                {**self.brief(other), "margin": round(margin, 4)} for other, margin in evidence
            ],
            "views": [fact.document() for fact in facts],
        }

    def brief(self, row: int) -> dict[str, Any]:
        """Return the name of a sample, its label and its prediction."""
        (name,) = self.samples_of([row])
        learned = self.learned
        has_prediction = bool(learned.classes)
        return {
            "row": row,
            "id": name,
            "given": self.session.labels.get(name),
            "prediction": self.prediction(row),
            "probability": round(float(learned.probabilities[row].max()), 4)
            if has_prediction
            else None,
            "has_image": self.images.has(row),
        }

    def prediction(self, row: int) -> str | None:
        """Return the predicted class; None before the first fit."""
        classes = self.learned.classes
        if not classes:
            return None
        name = classes[int(self.learned.probabilities[row].argmax())]
        return name if name in self.session.classes else None

    def grid(self, class_name: str) -> list[dict[str, Any]]:
        """Return sure predictions of a class, outliers first."""
        places = self.places if self.places is not None else np.zeros((self.n_samples, 2))
        rows = sure_rows(
            self.learned.probabilities,
            places,
            self.column_of(class_name),
            self.is_open(),
            n=N_GRID,
        )
        return [self.brief(row) for row in rows.tolist()]

    def doubts(self) -> list[dict[str, Any]]:
        """Return given labels that are probably wrong and that nobody has confirmed."""
        found, learned = [], self.learned
        for row, column, wrong in zip(
            learned.doubted.tolist(), learned.suggested.tolist(), learned.wrong.tolist(),
            strict=True,
        ):  # fmt: skip
            name = self.ids[row]
            given, suggested = self.session.labels.get(name), learned.classes[column]
            if given in (None, suggested) or self.session.kept.get(name) == given:
                continue
            found.append({**self.brief(row), "suggested": suggested, "wrong": round(wrong, 4)})
        return found

    def map_content(self) -> bytes:
        """Return the map: places, classes, sureness and flags, one array after the other.

        int32 number of samples; float32 [sample, 2]; int16, uint8 and uint8 [sample].
        """
        places = self.places
        if places is None:
            return np.int32(0).tobytes()
        with self.session.lock:
            classes = self._classes_of_samples().astype(np.int16)
            flags = np.zeros(self.n_samples, dtype=np.uint8)
            flags[self._labeled_rows()] |= LABELED
            flags[[self.session.row_of[name] for name in self.session.skipped]] |= SKIPPED
            flags[[one["row"] for one in self.doubts()]] |= DOUBTED
        sureness = np.zeros(self.n_samples, dtype=np.uint8)
        if self.learned.classes:
            sureness = np.round(255 * self.learned.probabilities.max(axis=1)).astype(np.uint8)
        count = np.int32(self.n_samples)
        arrays = (count, places.astype(np.float32), classes, sureness, flags)
        return b"".join(array.tobytes() for array in arrays)

    def state(self) -> dict[str, Any]:
        """Return everything else that the page shows."""
        with self.session.lock:
            session, learned = self.session, self.learned
            classes = self._classes_of_samples()
            counts = np.bincount(classes[classes >= 0], minlength=len(session.classes))
            n_left = self.n_samples - len(session.labels)
            n_labeled = Counter(session.labels.values())
            return {
                "format": "manyview labeling state",
                "version": self.version,
                "data": self.data.name,
                "folder": str(session.folder),
                "n_samples": self.n_samples,
                "n_labeled": len(session.labels),
                "n_skipped": len(session.skipped),
                "n_left": n_left,
                "number": session.number,
                "classes": [
                    {"name": name, "n_labeled": n_labeled[name], "n_all": int(count)}
                    for name, count in zip(session.classes, counts.tolist(), strict=False)
                ],
                "has_images": self.images.is_any,
                "has_pixels": self.images.pixels is not None,
                "status": self.status,
                "message": self.message,
                "learned_number": learned.number if learned.classes else None,
                "seconds": round(learned.seconds, 3),
                "epoch_seconds": round(learned.epoch_seconds, 5),
                "n_doubts": len(self.doubts()),
                "measured": self._measured(),
                "measured_curve": self.measured_curve,
                "conflicts": [{**asdict(one), "sentence": one.sentence()}
                              for one in session.conflicts],
                "problem": session.problem,
                **progress_document(learned.curve, n_left, len(session.labels)),
            }  # fmt: skip

    def checked_rows(self, rows: Iterable[int]) -> list[int]:
        """Return rows; refuse what is none."""
        found = list(rows)
        if not found or len(found) > MAX_ROWS:
            raise InputError(f"rows must name 1 to {MAX_ROWS:,} samples; got {len(found)}.")
        for row in found:
            if type(row) is not int or not 0 <= row < self.n_samples:
                raise InputError(f"rows must be numbers from 0 to {self.n_samples - 1}; got {row}.")
        return found

    def check_row(self, row: int) -> int:
        """Return a row; refuse one that does not exist."""
        return self.checked_rows([row])[0]

    def samples_of(self, rows: Iterable[int]) -> list[str]:
        """Return the names of rows."""
        return [self.ids[row] for row in self.checked_rows(rows)]

    def _labeled_rows(self) -> list[int]:
        return [self.session.row_of[name] for name in self.session.labels]

    def is_open(self) -> np.ndarray:
        """[sample] whether it has no label and was not skipped."""
        with self.session.lock:
            is_open = np.ones(self.n_samples, dtype=bool)
            is_open[self._labeled_rows()] = False
            is_open[[self.session.row_of[name] for name in self.session.skipped]] = False
        return is_open

    def rows_again(self) -> list[int]:
        """Return labeled rows that the queue asks again, and that were not answered meanwhile."""
        session, queue = self.session, self.learned.queue
        return [
            row
            for row in queue.rows[queue.reasons == AGAIN].tolist()
            if (name := self.ids[row]) in session.labels
            and name not in session.skipped
            and not session.is_checked(name)
        ]

    def _reason(self, row: int) -> str | None:
        """Return why the queue asks a sample; None if it does not."""
        queue = self.learned.queue
        places = np.flatnonzero(queue.rows == row)
        if not len(places):
            return None
        is_asked = row in self.rows_again() or self.ids[row] not in self.session.labels
        return REASONS[int(queue.reasons[places[0]])] if is_asked else None

    def column_of(self, class_name: str) -> int:
        """Return the column of a class in the probabilities; refuse one without a label."""
        if class_name not in self.learned.classes:
            raise InputError(f"No sample is predicted as {class_name!r} yet: it has no label.")
        return self.learned.classes.index(class_name)

    def _probabilities(self, row: int) -> list[dict[str, Any]]:
        known = dict(
            zip(self.learned.classes, self.learned.probabilities[row].tolist(), strict=True)
        )
        return [{"name": name, "p": known.get(name)} for name in self.session.classes]

    def _classes_of_samples(self) -> np.ndarray:
        """[sample] numbers in `session.classes`: the given label, or else the predicted one."""
        number_of = {name: number for number, name in enumerate(self.session.classes)}
        learned = self.learned
        classes = np.full(self.n_samples, NO_CLASS)
        if learned.classes:
            columns = np.array([number_of.get(name, NO_CLASS) for name in learned.classes])
            classes = columns[learned.probabilities.argmax(axis=1)]
        for name, label in self.session.labels.items():
            classes[self.session.row_of[name]] = number_of[label]
        return classes

    def _measured(self) -> dict[str, Any] | None:
        """Return the accuracy on hidden labels, where the data has them."""
        if self.hidden is None or not self.learned.classes:
            return None
        names = np.array(self.learned.classes, dtype=object)
        predictions = names[self.learned.probabilities.argmax(axis=1)]
        is_scored = np.array([name is not None for name in self.hidden])
        is_scored[self._labeled_rows()] = False
        if not is_scored.any():
            return None
        accuracy = float(np.mean((predictions == self.hidden)[is_scored]))
        return {"accuracy": round(accuracy, 5), "n": int(is_scored.sum())}


def empty_state(n_samples: int) -> Learned:
    """Return what is known before anything was learned."""
    none = np.zeros(0, dtype=np.int64)
    return Learned(
        number=-1,
        classes=(),
        probabilities=np.zeros((n_samples, 0)),
        queue=Queue(none, none, np.zeros(n_samples)),
        evidence=np.zeros((n_samples, 0), dtype=np.int64),
        margins=np.zeros((n_samples, 0)),
    )
