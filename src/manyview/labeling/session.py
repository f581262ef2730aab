"""The state of a labeling session, from its journal: labels, classes, skips and undo."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from threading import Lock, RLock
from typing import Any

from manyview.data.label_values import UNKNOWN_WORDS, shown_names
from manyview.errors import DataFileError, InputError
from manyview.labeling.journal import Journal
from manyview.labeling.labels_file import (
    Conflict,
    Labels,
    LabelsFile,
    labels_text,
    merge_edits,
    read_edited,
)
from manyview.runs.abstaining import means_unknown

MAX_NAME = 80  # letters of a class
UNDONE_KINDS = ("label", "skip", "class", "keep")


class ChangedMeanwhileError(InputError):
    """Another window, or an edit of `labels.csv`, has changed a sample that a window shows."""


class Session:
    """Labels, classes and skipped samples; every change is in the journal before it is here.

    Parameters
    ----------
    folder
        Folder of the run.
    sample_ids
        Names of the samples, in the order of the views.
    """

    def __init__(self, folder: Path, sample_ids: Sequence[str]) -> None:
        self.folder = folder
        self.sample_ids = list(sample_ids)
        self.row_of = {name: row for row, name in enumerate(self.sample_ids)}
        self.lock = RLock()
        self._file_lock = Lock()  # taken before the other one
        self.labels: dict[str, str] = {}
        self.sources: dict[str, str] = {}  # how each label was given
        self.classes: list[str] = []
        self.skipped: dict[str, int] = {}  # by the number of the act
        self.kept: dict[str, str] = {}  # labels that a person has confirmed on a second look
        self.conflicts: tuple[Conflict, ...] = ()
        self.problem: str | None = None  # why labels.csv is not written
        self._history: dict[str, list[tuple[int, str | None, str]]] = {}
        self._undone: set[int] = set()
        self.journal = Journal(folder)
        try:
            self.file = LabelsFile(folder)
            for act in self.journal.acts:
                self._apply(act)
            self.merge_file()
        except BaseException:
            self.journal.close()
            raise

    @property
    def number(self) -> int:
        """Number of the last act."""
        return len(self.journal.acts)

    def add_class(self, name: str, window: str = "") -> str:
        """Add a class; return its name."""
        name = check_class_name(name)
        with self.lock:
            if name in self.classes:
                raise InputError(f"There is a class {name!r} already.")
            self._record("class", name=name, window=window)
        return name

    def label(
        self,
        labels: Mapping[str, str | None],
        *,
        window: str = "",
        source: str = "key",
        seen: Mapping[str, str | None] | None = None,
    ) -> None:
        """Give samples a label, or remove it (None), in one act.

        `seen` are the labels that the window shows; where the session has another one, nothing is
        changed.
        """
        with self.lock:
            self._check_samples(labels)
            for name in dict.fromkeys(label for label in labels.values() if label is not None):
                if name not in self.classes:
                    raise InputError(f"There is no class {name!r}. Make it first.")
            for sample, shown in (seen or {}).items():
                now = self.labels.get(sample)
                if now != shown:
                    raise ChangedMeanwhileError(
                        f"Sample {sample} {'was labeled ' + now if now else 'lost its label'} "
                        "meanwhile, in another window or in labels.csv. Nothing was changed."
                    )
            self._record("label", labels=dict(labels), window=window, source=source)

    def skip(self, sample: str, window: str = "") -> None:
        """Set a sample aside; it comes back when no other is left."""
        with self.lock:
            self._check_samples([sample])
            self._record("skip", sample=sample, window=window)

    def keep(self, sample: str, window: str = "") -> None:
        """Confirm a label that the model doubts."""
        with self.lock:
            self._check_samples([sample])
            if sample not in self.labels:
                raise InputError(f"Sample {sample} has no label to keep.")
            self._record("keep", sample=sample, label=self.labels[sample], window=window)

    def is_checked(self, sample: str) -> bool:
        """Whether a person has answered twice: the label was confirmed, or changed."""
        label = self.labels.get(sample)
        if label is None:
            return False
        return len(self._answers(sample)) > 1 or self.kept.get(sample) == label

    def is_changed(self, sample: str) -> bool:
        """Whether the label is another than the one that was given first."""
        label = self.labels.get(sample)
        return label is not None and self._answers(sample)[0] != label

    def _answers(self, sample: str) -> list[str | None]:
        """Return the labels that a sample was given, None where one was removed, and not undone."""
        return [label for number, label, _ in self._history[sample] if number not in self._undone]

    def undo(self, window: str = "") -> dict[str, Any]:
        """Undo the last act of a window; return it."""
        with self.lock:
            for act in reversed(self.journal.acts):
                is_own = act.get("window", "") == window and act["kind"] in UNDONE_KINDS
                if not is_own or act["number"] in self._undone:
                    continue
                if act["kind"] == "class":
                    users = [one for one, name in self.labels.items() if name == act["name"]]
                    if users:
                        raise InputError(
                            f"Class {act['name']!r} cannot be undone: {shown_names(users)} "
                            f"{'has' if len(users) == 1 else 'have'} it."
                        )
                self._record("undo", of=act["number"], window=window)
                return dict(act)
            raise InputError("There is nothing to undo in this window.")

    def start(self, labels: Labels, classes: Iterable[str] = (), source: str = "file") -> None:
        """Take over classes, and the labels of a source where they are new or changed there."""
        with self.lock:
            for name in classes:
                if check_class_name(name) not in self.classes:
                    self.add_class(name)
            known = {sample: label for sample, label in labels.items() if sample in self.row_of}
            found = merge_edits(self._last_of(source), self.labels, known)
            if found.conflicts:
                first = found.conflicts[0]
                raise DataFileError(
                    f"sample {first.sample!r} has label {first.in_file} in {source} and "
                    f"{first.in_page or 'none'} in {self.folder}, where it was changed. Correct "
                    f"{source}, or remove the sample from it."
                )
            changes = {one: label for one, label in found.changes.items() if label is not None}
            if changes:
                self._record("file", labels=changes, source=source)

    def _last_of(self, source: str) -> dict[str, str]:
        """Return the labels that were last taken over from a source."""
        return {
            sample: label
            for act in self.journal.acts
            if act["kind"] == "file" and act.get("source") == source
            for sample, label in act["labels"].items()
        }

    def merge_file(self) -> None:
        """Take over what a person changed in `labels.csv`; note what contradicts the page."""
        with self.lock:
            self.problem = None
            try:
                if not self.file.is_edited():
                    self.conflicts = ()
                    return
                edited = read_edited(self.file.file)
            except DataFileError as error:
                self.problem = f"{error} It stays as it is, and labels are in the journal."
                return
            strangers = [sample for sample in edited if sample not in self.row_of]
            if strangers:
                self.problem = (
                    f"labels.csv names samples that are in no view: {shown_names(strangers)}. It "
                    "stays as it is until they are removed; labels are in the journal."
                )
                return
            found = merge_edits(self._labels_at(self.file.base_number), self.labels, edited)
            if found.changes:
                self._record("file", labels=found.changes, source="labels.csv")
            self.conflicts = found.conflicts
            if not found.conflicts:
                self.file.accept(self.number)

    def resolve(self, sample: str, label: str | None, window: str = "") -> None:
        """Choose one of the two labels of a sample that is in conflict."""
        with self.lock:
            conflict = next((one for one in self.conflicts if one.sample == sample), None)
            if conflict is None or label not in (conflict.in_page, conflict.in_file):
                raise InputError(f"Sample {sample} is not in conflict with labels.csv.")
            self._record("file", labels={sample: label}, source="key", window=window)
            self.conflicts = tuple(one for one in self.conflicts if one.sample != sample)
            if not self.conflicts:
                self.file.accept(self.number)

    def write_file(self) -> bool:
        """Write `labels.csv`; return False if an edit stands against it.

        Labels can be given meanwhile: only the merge waits for them.
        """
        with self._file_lock:
            with self.lock:
                self.merge_file()
                if self.conflicts or self.problem is not None:
                    return False
                in_order = sorted(self.labels, key=self.row_of.__getitem__)
                text = labels_text({one: self.labels[one] for one in in_order}, self.sources)
                number = self.number
            self.file.write(text, number)
            return True

    def close(self) -> None:
        """Write `labels.csv` where possible, and close the journal."""
        try:
            self.write_file()
        finally:
            self.journal.close()

    def _check_samples(self, samples: Iterable[str]) -> None:
        for sample in samples:
            if sample not in self.row_of:
                raise InputError(f"There is no sample {sample!r}.")

    def _record(self, kind: str, **fields: Any) -> None:
        self._apply(self.journal.add(kind, **fields))

    def _apply(self, act: Mapping[str, Any]) -> None:
        number, kind = act["number"], act["kind"]
        if kind == "class":
            if act["name"] not in self.classes:
                self.classes.append(act["name"])
        elif kind in ("label", "file"):
            for sample, label in act["labels"].items():
                if label is not None and label not in self.classes:
                    self.classes.append(label)
                source = act.get("source", kind)
                self._history.setdefault(sample, []).append((number, label, source))
                self._set(sample)
        elif kind == "skip":
            self.skipped[act["sample"]] = number
        elif kind == "keep":
            self.kept[act["sample"]] = act["label"]
        else:
            self._undo(self.journal.acts[act["of"] - 1])

    def _undo(self, act: Mapping[str, Any]) -> None:
        self._undone.add(act["number"])
        if act["kind"] == "class" and act["name"] in self.classes:
            self.classes.remove(act["name"])
        elif act["kind"] == "label":
            for sample in act["labels"]:
                self._set(sample)
        elif act["kind"] == "skip":
            self.skipped.pop(act["sample"], None)
        elif act["kind"] == "keep":
            self.kept.pop(act["sample"], None)

    def _set(self, sample: str) -> None:
        """Set the label of a sample to the last one that was not undone."""
        self.labels.pop(sample, None)
        self.sources.pop(sample, None)
        for number, label, source in reversed(self._history.get(sample, ())):
            if number in self._undone:
                continue
            if label is not None:
                self.labels[sample], self.sources[sample] = label, source
                self.skipped.pop(sample, None)
            return

    def _labels_at(self, number: int) -> dict[str, str]:
        """Return the labels after the act of this number."""
        undone = {act["of"] for act in self.journal.acts[:number] if act["kind"] == "undo"}
        labels: dict[str, str | None] = {}
        for act in self.journal.acts[:number]:
            if act["kind"] in ("label", "file") and act["number"] not in undone:
                labels.update(act["labels"])
        return {sample: label for sample, label in labels.items() if label is not None}


def check_class_name(name: object) -> str:
    """Return the name of a class; refuse one that a file of labels could not hold.

    Examples
    --------
    >>> check_class_name(" red fox ")
    'red fox'
    """
    text = " ".join(name.split()) if isinstance(name, str) else ""
    if not text or len(text) > MAX_NAME:
        raise InputError(f"A class needs a name of 1 to {MAX_NAME} letters; got {name!r}.")
    if text.casefold() in UNKNOWN_WORDS or means_unknown(text):
        raise InputError(f"{text!r} means that a label is not known, and cannot name a class.")
    return text
