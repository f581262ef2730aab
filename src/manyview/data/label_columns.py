"""Labels of one or several files, aligned to the samples of the views."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from manyview.data.label_values import is_known, mark_unknown, shown_names
from manyview.errors import DataFileError


@dataclass(frozen=True)
class LabelColumn:
    """Labels from one source, with the ids of their samples if the source has them.

    Attributes
    ----------
    sample_ids
        One per label; a sample may be named twice with the same label.
    id_name, label_name
        Names of the columns of ids and of labels.
    is_sure
        False if the ids are numbers that may be something else: they are used if they match.
    n_rows_by_source
        Numbers of labels from each of several files, in order; empty for one.
    notes
        Notes of the reader, such as an encoding that was guessed.
    """

    source: str
    labels: np.ndarray
    sample_ids: Sequence[str] | None = None
    id_name: str = ""
    is_sure: bool = True
    n_rows_by_source: tuple[tuple[str, int], ...] = ()
    notes: tuple[str, ...] = ()
    label_name: str = ""

    @property
    def n_samples(self) -> int | None:
        """Number of samples that the labels require; None if they are joined by id."""
        return len(self.labels) if self.sample_ids is None or not self.is_sure else None

    def align(
        self, n_samples: int, sample_ids: Sequence[str] | None
    ) -> tuple[np.ndarray, list[str]]:
        """Return the labels in the order of the views, and notes; absent samples are unknown.

        Without ids on both sides, labels are joined by row.
        """
        if self.sample_ids is None or sample_ids is None:
            return self._align_by_row(n_samples)
        if set(self.sample_ids).isdisjoint(sample_ids):
            if not self.is_sure and len(self.labels) == n_samples:
                return self._align_by_row(n_samples)
            raise DataFileError(
                f"{self.source} names none of the {n_samples} samples of the views: it has ids "
                f"such as {self.sample_ids[0]!r}, the views have {sample_ids[0]!r}."
            )
        row_of, notes = self._row_of()
        rows = np.array([row_of.get(sample, -1) for sample in sample_ids], dtype=np.int64)
        absent = rows < 0
        if absent.any():
            notes.append(
                f"{self.source} has no label for {absent.sum()} of {n_samples} samples; "
                "they are unknown."
            )
        in_views = set(sample_ids)
        extra = [sample for sample in row_of if sample not in in_views]
        if extra:
            is_one = len(extra) == 1
            notes.append(
                f"{self.source} names {len(extra)} sample{'' if is_one else 's'} that "
                f"{'is' if is_one else 'are'} in no view: {shown_names(extra)}; not used."
            )
        labels = self.labels[rows]
        return (mark_unknown(labels, absent) if absent.any() else labels), notes

    def _row_of(self) -> tuple[dict[str, int], list[str]]:
        """Return the row of each sample, and notes on repeated ones; refuse two labels of one."""
        row_of: dict[str, int] = {}
        repeated: dict[str, None] = {}
        known = is_known(self.labels)
        for row, sample in enumerate(self.sample_ids or ()):
            if not sample and not known[row]:
                continue  # a blank line of a spreadsheet
            first = row_of.setdefault(sample, row)
            if first == row:
                continue
            repeated[sample] = None
            if known[row] and known[first] and self.labels[row] != self.labels[first]:
                raise self._conflict(sample, first, row)
            if known[row] and not known[first]:
                row_of[sample] = row
        notes = list(self.notes)
        if repeated and len(self.n_rows_by_source) < 2:
            notes.append(
                f"{self.source} names {len(repeated)} sample{'' if len(repeated) == 1 else 's'} "
                f"more than once, with the same label: {shown_names(list(repeated))}."
            )
        return row_of, notes

    def _conflict(self, sample: str, first: int, second: int) -> DataFileError:
        one, other = (repr(label) for label in self.labels[[first, second]].tolist())
        (source, row), (other_source, other_row) = self._place(first), self._place(second)
        if source == other_source:
            return DataFileError(
                f"{source} gives sample {sample!r} two labels: {one} (row {row}) and {other} "
                f"(row {other_row}). Remove or correct one of the rows."
            )
        return DataFileError(
            f"sample {sample!r} has label {one} in {source} and {other} in {other_source}. "
            "Remove or correct one of them."
        )

    def _place(self, row: int) -> tuple[str, int]:
        """Return the source of a label and its row there; the header is row 1."""
        for source, n_rows in self.n_rows_by_source:
            if row < n_rows:
                return source, row + 2
            row -= n_rows
        return self.source, row + 2

    def _align_by_row(self, n_samples: int) -> tuple[np.ndarray, list[str]]:
        if len(self.labels) != n_samples:
            if self.sample_ids is not None:
                raise DataFileError(
                    f"{self.source} names samples, such as {self.sample_ids[0]!r}, but the views "
                    "have no sample ids to join them on. Add a column of sample ids to the tables, "
                    "or pass id_column= to name it."
                )
            raise DataFileError(
                f"{self.source} has {len(self.labels)} labels but the views have "
                f"{n_samples} samples."
            )
        note = f"Labels in {self.source} are joined to the views by row order."
        return self.labels, [*self.notes, note]


def merge_labels(columns: Sequence[LabelColumn]) -> LabelColumn:
    """Merge labels of several files; `align` refuses a sample with two different ones.

    All files must name the samples, or all must hold one label per row. An unknown label does not
    replace a known one.

    Examples
    --------
    >>> one = LabelColumn("a.csv", np.array([1, -1]), ["p", "q"])
    >>> other = LabelColumn("b.csv", np.array([2]), ["q"])
    >>> merge_labels([one, other]).align(2, ["p", "q"])[0]
    array([1, 2])
    """
    first, *others = columns
    if not others:
        return first
    labels = _of_one_kind([column.labels for column in columns])
    named = [column for column in columns if column.sample_ids is not None]
    if named and len(named) < len(columns):
        unnamed = next(column for column in columns if column.sample_ids is None)
        raise DataFileError(
            f"{named[0].source} names its samples, but {unnamed.source} does not. Add a column of "
            "sample ids to every file of labels."
        )
    if not named and len({len(one) for one in labels}) > 1:
        raise DataFileError(
            "files of labels without sample ids must have the same number of rows; got "
            f"{', '.join(f'{len(one.labels)} in {one.source}' for one in columns)}."
        )
    sources = tuple((column.source, len(column.labels)) for column in columns)
    merged = LabelColumn(
        shown_names([column.source for column in columns]),
        np.concatenate(labels),
        [sample for column in named for sample in column.sample_ids or ()]
        or [f"row {row + 1}" for one in labels for row in range(len(one))],
        id_name=first.id_name,
        is_sure=not named or any(column.is_sure for column in columns),
        n_rows_by_source=sources,
        notes=tuple(note for column in columns for note in column.notes),
    )
    if named:
        return merged
    by_row, _ = merged.align(len(labels[0]), [f"row {row + 1}" for row in range(len(labels[0]))])
    return LabelColumn(merged.source, by_row, notes=merged.notes)


def _of_one_kind(parts: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return label vectors that can be joined: as they are, or all as texts, None unknown."""
    if len({"f" if part.dtype.kind in "iu" else part.dtype.kind for part in parts}) == 1:
        return list(parts)
    texts = []
    for part in parts:
        known = is_known(part)
        cells = [
            str(label) if one else None for label, one in zip(part.tolist(), known, strict=True)
        ]
        texts.append(np.array(cells, dtype=object))
    return texts
