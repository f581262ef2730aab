"""Lines of records: one JSON object per line, each with a checksum of its content.

The checksum is a field of the record, computed from all others in sorted order. A record that was
changed by a byte is damaged, and is skipped and counted rather than read.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

CHECKSUM = "checksum"
N_DIGITS = 16  # of a checksum
Record = dict[str, Any]

Fields = Mapping[str, type | tuple[type, ...]]  # that a record must have, with their types

TRIAL_FIELDS: Fields = {
    "status": str, "dataset": str, "method": str, "protocol": str, "params": dict,
    "label_ratio": (int, float), "seed": int,
}  # fmt: skip
_NUMBERS = ("accuracy", "balanced_accuracy", "macro_f1", "seconds", "peak_memory_mb")


def checksum_of_record(record: Mapping[str, Any]) -> str:
    """Compute the checksum of a record's content, whatever the order of its fields.

    Examples
    --------
    >>> checksum_of_record({"key": "a", "seed": 1}) == checksum_of_record({"seed": 1, "key": "a"})
    True
    """
    content = {name: value for name, value in record.items() if name != CHECKSUM}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:N_DIGITS]


def with_checksum(record: Mapping[str, Any]) -> Record:
    """Return the record with its checksum as the last field.

    Examples
    --------
    >>> with_checksum({"key": "a"})
    {'key': 'a', 'checksum': '15abefcb685c2b5e'}
    """
    content = {name: value for name, value in record.items() if name != CHECKSUM}
    return content | {CHECKSUM: checksum_of_record(content)}


def as_line(record: Mapping[str, Any]) -> bytes:
    """Return the line of a record, fields sorted and the checksum last."""
    content = {name: value for name, value in record.items() if name != CHECKSUM}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return f'{text[:-1]},"{CHECKSUM}":"{checksum_of_record(content)}"}}\n'.encode()


def read_line(line: str | bytes) -> tuple[Record, bool]:
    """Return the record of a line without its checksum, and whether it has one that is right.

    Raises
    ------
    ValueError
        If the line is no JSON object, or its checksum is wrong.
    """
    try:
        record = json.loads(line)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(record, dict):
        raise ValueError("it is no JSON object")
    stored = record.pop(CHECKSUM, None)
    if stored is not None and stored != checksum_of_record(record):
        raise ValueError("its checksum is wrong")
    return record, stored is not None


@dataclass
class LineCounts:
    """Lines of a file of records.

    Attributes
    ----------
    n_good
        Records with a checksum that is right.
    n_unchecked
        Records without a checksum, from before there were any.
    n_damaged
        Lines that are no JSON or whose checksum is wrong; one without a checksum after those
        that have one.
    n_foreign
        JSON that is no record; `fields` are those that a record without a checksum must have.
    is_cut
        Whether the last line has no end, as after a crash or while it is written.
    """

    fields: Fields = field(default_factory=lambda: TRIAL_FIELDS)
    n_good: int = 0
    n_unchecked: int = 0
    n_damaged: int = 0
    n_foreign: int = 0
    is_cut: bool = False

    @property
    def n_skipped(self) -> int:
        """Return the number of lines that are not read."""
        return self.n_damaged + self.n_foreign + self.is_cut

    def read(self, line: bytes) -> Record | None:
        """Return the record of a line without its checksum, and count it; None if skipped."""
        if not line.strip():
            return None
        try:
            record, is_checked = read_line(line)
            if self.n_good and not is_checked:
                raise ValueError("it has lost its checksum")
        except ValueError:
            self.n_damaged += 1
            return None
        if not isinstance(record.get("key"), str) or not (is_checked or self._has_fields(record)):
            self.n_foreign += 1
            return None
        if is_checked:
            self.n_good += 1
        else:
            self.n_unchecked += 1
        return record

    def _has_fields(self, record: Record) -> bool:
        has_fields = all(isinstance(record.get(name), kind) for name, kind in self.fields.items())
        numbers = (record[name] for name in _NUMBERS if name in record)
        return has_fields and all(isinstance(one, Real) for one in numbers)
