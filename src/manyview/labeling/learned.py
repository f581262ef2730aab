"""What the model knows at one moment, in one file that appears as a whole."""

import json
from dataclasses import asdict, dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from manyview.errors import DataFileError
from manyview.labeling.progress import Estimate
from manyview.labeling.queue import Queue
from manyview.system.files import write_whole

LEARNED_NAME, PLACES_NAME = "learned.npz", "places.npy"
FORMAT, FORMAT_VERSION = "manyview learned state", 1
N_EVIDENCE = 12  # neighbors per sample


@dataclass(frozen=True)
class Learned:
    """Predictions for all samples, the queue, and what supports each prediction.

    Attributes
    ----------
    number
        That of the last act of the journal that it knows.
    classes
        Names of the columns of `probabilities`; empty before the first fit.
    probabilities
        [sample, class]
    queue
        What to show next.
    evidence, margins
        [sample, neighbor] the neighbors that contribute most to a prediction, -1 for none, and
        their contributions to its log-odds against the runner-up: negative ones speak against it.
    doubted, suggested, wrong
        [label] rows of given labels, the class that fits best instead, and the probability that the
        label is wrong.
    curve
        Estimates of the accuracy, one per fit.
    seconds, epoch_seconds
        Time of the fit, and of one of its epochs.
    """

    number: int
    classes: tuple[str, ...]
    probabilities: np.ndarray
    queue: Queue
    evidence: np.ndarray
    margins: np.ndarray
    doubted: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    suggested: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    wrong: np.ndarray = field(default_factory=lambda: np.zeros(0))
    curve: tuple[Estimate, ...] = ()
    seconds: float = 0.0
    epoch_seconds: float = 0.0

    def save(self, folder: Path) -> None:
        """Write the file."""
        facts = {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "number": self.number,
            "classes": list(self.classes),
            "curve": [asdict(one) for one in self.curve],
            "seconds": self.seconds,
            "epoch_seconds": self.epoch_seconds,
        }
        arrays: dict[str, Any] = {
            "facts": np.array(json.dumps(facts)),
            "probabilities": self.probabilities.astype(np.float32),
            "queue_rows": self.queue.rows,
            "queue_reasons": self.queue.reasons,
            "gains": self.queue.gains.astype(np.float32),
            "evidence": self.evidence.astype(np.int32),
            "margins": self.margins.astype(np.float32),
            "doubted": self.doubted,
            "suggested": self.suggested,
            "wrong": self.wrong,
        }
        write_array_file(folder / LEARNED_NAME, arrays)

    @classmethod
    def load(cls, folder: Path, n_samples: int) -> "Learned":
        """Read the file; refuse one of other samples."""
        file = folder / LEARNED_NAME
        try:
            with np.load(file, allow_pickle=False) as found:
                arrays = {name: found[name] for name in found.files}
            facts = json.loads(str(arrays["facts"]))
            if (facts["format"], facts["format_version"]) != (FORMAT, FORMAT_VERSION):
                raise ValueError("another format")
            shape = (n_samples, len(facts["classes"]))
            if arrays["probabilities"].shape != shape or len(arrays["evidence"]) != n_samples:
                raise ValueError("other samples")
            return cls(
                number=int(facts["number"]),
                classes=tuple(facts["classes"]),
                probabilities=arrays["probabilities"],
                queue=Queue(arrays["queue_rows"], arrays["queue_reasons"], arrays["gains"]),
                evidence=arrays["evidence"],
                margins=arrays["margins"],
                doubted=arrays["doubted"],
                suggested=arrays["suggested"],
                wrong=arrays["wrong"],
                curve=tuple(Estimate(**one) for one in facts["curve"]),
                seconds=float(facts["seconds"]),
                epoch_seconds=float(facts["epoch_seconds"]),
            )
        except FileNotFoundError:
            raise DataFileError(f"There is no {file}.") from None
        except Exception as error:  # of any kind, since the file may be damaged
            raise DataFileError(f"{file} cannot be used: {error}.") from error


def save_places(folder: Path, places: np.ndarray) -> None:
    """Write the coordinates of the map."""
    content = BytesIO()
    np.save(content, places.astype(np.float32), allow_pickle=False)
    write_whole(folder / PLACES_NAME, content.getvalue())


def load_places(folder: Path, n_samples: int) -> np.ndarray | None:
    """Read the coordinates of the map; None if there are none of these samples."""
    try:
        places = np.load(folder / PLACES_NAME, allow_pickle=False)
    except (OSError, ValueError):
        return None
    return places if places.shape == (n_samples, 2) else None


def write_array_file(file: Path, arrays: dict[str, Any]) -> None:
    """Write arrays as one `.npz` file."""
    content = BytesIO()
    np.savez(content, **arrays)
    write_whole(file, content.getvalue())


def strongest_neighbors(
    graph: sparse.csr_array, strengths: np.ndarray, n: int = N_EVIDENCE
) -> tuple[np.ndarray, np.ndarray]:
    """Return the neighbors with the largest absolute strengths, and these: [sample, n].

    Shapes
    ------
    graph : [sample, sample], whose entries `strengths` belong to, in their order
    strengths : [entry]

    Examples
    --------
    >>> graph = sparse.csr_array(np.array([[0, 1, 2], [1, 0, 0], [2, 0, 0]]))
    >>> strongest_neighbors(graph, np.array([0.5, -2, 1, 1]), 2)[0].tolist()
    [[2, 1], [0, -1], [0, -1]]
    """
    n_samples = graph.shape[0]
    rows = np.repeat(np.arange(n_samples), np.diff(graph.indptr))
    is_other = (rows != graph.indices) & (strengths != 0)
    rows, columns, strengths = rows[is_other], graph.indices[is_other], strengths[is_other]
    order = np.lexsort((-np.abs(strengths), rows))
    rows, columns, strengths = rows[order], columns[order], strengths[order]
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n_samples))[:-1]])
    at = np.arange(len(rows)) - starts[rows]
    is_first = at < n
    found = np.full((n_samples, n), -1, dtype=np.int64)
    values = np.zeros((n_samples, n))
    found[rows[is_first], at[is_first]] = columns[is_first]
    values[rows[is_first], at[is_first]] = strengths[is_first]
    return found, values
