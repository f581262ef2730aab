"""The file `labels.csv` of a labeling session: written from the journal, merged with edits.

A person may edit the file while the page is open. Before it is written, its digest is compared with
that of what was written last. If they differ, every row that the person changed is merged. A row
that both sides changed differently is a conflict: the file stays as it is until the person has
chosen one of the two labels.

FOLDER/labels.csv         sample_id, label, source
FOLDER/.labels-base.json  the digest of what was written last, and the number of the act before it
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from manyview.data.io.label_files import read_label_file
from manyview.data.label_columns import LabelColumn
from manyview.data.label_values import is_known
from manyview.errors import DataFileError
from manyview.runs.records import csv_text
from manyview.system.files import write_whole

LABELS_NAME, BASE_NAME = "labels.csv", ".labels-base.json"
HEADER = ("sample_id", "label", "source")
Labels = Mapping[str, str]


@dataclass(frozen=True)
class Conflict:
    """A sample that was given one label in the page and another in the file; None is no label."""

    sample: str
    in_page: str | None
    in_file: str | None

    def sentence(self) -> str:
        """Describe the conflict."""
        here, there = (_shown(label) for label in (self.in_page, self.in_file))
        return f"Sample {self.sample} has {here} in the page and {there} in {LABELS_NAME}."


@dataclass(frozen=True)
class Merge:
    """What a person changed in the file: what to take over, and what contradicts the page."""

    changes: dict[str, str | None]
    conflicts: tuple[Conflict, ...] = ()


def merge_edits(base: Labels, page: Labels, file: Labels) -> Merge:
    """Merge the labels of a file that was edited since `base` was written.

    Examples
    --------
    >>> merge_edits({"a": "1"}, {"a": "1"}, {"a": "2", "b": "3"}).changes
    {'a': '2', 'b': '3'}
    >>> merge_edits({"a": "1"}, {"a": "3"}, {"a": "2"}).conflicts[0].sentence()
    'Sample a has label 3 in the page and label 2 in labels.csv.'
    """
    changes: dict[str, str | None] = {}
    conflicts = []
    for sample in dict.fromkeys([*base, *file]):
        before, here, there = base.get(sample), page.get(sample), file.get(sample)
        if there in (before, here):
            continue
        if here == before:
            changes[sample] = there
        else:
            conflicts.append(Conflict(sample, here, there))
    return Merge(changes, tuple(conflicts))


def labels_text(labels: Labels, sources: Mapping[str, str]) -> str:
    """Return the content of the file."""
    return csv_text(HEADER, ((one, label, sources.get(one, "")) for one, label in labels.items()))


def read_edited(file: Path) -> dict[str, str]:
    """Read the labels of a file by sample id; refuse what is no table of labels."""
    column = read_label_file(file)
    if column.sample_ids is None:
        raise DataFileError(f"{file} must have a column of sample ids; it has none.")
    return labels_by_id(column)


def labels_by_id(column: LabelColumn) -> dict[str, str]:
    """Return the known labels of a column by sample id; refuse two labels of one sample."""
    ids = list(column.sample_ids or ())
    wanted = list(dict.fromkeys(ids))
    if not wanted:
        return {}
    aligned, _ = column.align(len(wanted), wanted)
    return {
        sample: str(label)
        for sample, label, known in zip(wanted, aligned.tolist(), is_known(aligned), strict=True)
        if known
    }


class LabelsFile:
    """`labels.csv` in a folder, and what was last written there."""

    def __init__(self, folder: Path) -> None:
        self.file, self._base_file = folder / LABELS_NAME, folder / BASE_NAME
        self._base = self._read_base()

    @property
    def base_number(self) -> int:
        """Number of the last act before the file was written; 0 if it was not."""
        return int(self._base[0]["number"]) if self._base else 0

    def is_edited(self) -> bool:
        """Whether the file is not what was written last; a file that is gone is not edited."""
        try:
            digest = _digest(self.file.read_bytes())
        except FileNotFoundError:
            return False
        except OSError as error:
            raise DataFileError(
                f"{self.file} cannot be read: {error.strerror or error}."
            ) from error
        return digest not in [one["sha256"] for one in self._base]

    def write(self, text: str, number: int) -> None:
        """Write the file, which must not be edited; `number` is that of the last act in it.

        The new digest is written down first, beside the old one, so that a process that is killed
        between the two knows both.
        """
        entry = {"number": number, "sha256": _digest(text.encode())}
        if self._base[-1:] == [entry] and self.file.exists():
            return
        self._write_base([*self._base[-1:], entry])
        write_whole(self.file, text)
        self._write_base([entry])

    def accept(self, number: int) -> None:
        """Take the file as it is for what was written last."""
        entry = {"number": number, "sha256": _digest(self.file.read_bytes())}
        self._write_base([entry])

    def _write_base(self, entries: list[dict[str, Any]]) -> None:
        write_whole(self._base_file, json.dumps(entries) + "\n")
        self._base = entries

    def _read_base(self) -> list[dict[str, Any]]:
        try:
            found = json.loads(self._base_file.read_bytes())
            return [{"number": int(one["number"]), "sha256": str(one["sha256"])} for one in found]
        except (OSError, ValueError, TypeError, KeyError):
            return []  # then every row counts as edited, and equal ones change nothing


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()


def _shown(label: str | None) -> str:
    return "no label" if label is None else f"label {label}"
