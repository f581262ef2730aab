"""Dates written as text: the format of a column, and its cells as datetime64."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime

import numpy as np

ISO = "ISO 8601"
_DAYS = (
    "%Y/%m/%d", "%Y.%m.%d", "%d.%m.%Y", "%d.%m.%y", "%m/%d/%Y", "%d/%m/%Y", "%m/%d/%y", "%d/%m/%y",
    "%m-%d-%Y", "%d-%m-%Y", "%d %b %Y", "%d %B %Y", "%d-%b-%Y", "%d-%b-%y", "%b %d, %Y",
    "%B %d, %Y", "%b %d %Y", "%B %d %Y",
)  # fmt: skip
_TIMES = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
FORMATS = (ISO, *(day + time for day in _DAYS for time in _TIMES))
MIN_LENGTH = 6  # of a date, such as 1/2/21


def date_formats(texts: Iterable[str]) -> list[str]:
    """Return the formats that read all texts, the preferred first; none for other texts.

    Where month and day may be either way round, there are two: `%m/%d/%Y` before `%d/%m/%Y`.

    Examples
    --------
    >>> date_formats(["2021-03-04", "2021-12-24T18:30"])
    ['ISO 8601']
    >>> date_formats(["03/04/2021"])
    ['%m/%d/%Y', '%d/%m/%Y']
    >>> date_formats(["03/04/2021", "24/12/2021"])
    ['%d/%m/%Y']
    """
    found = list(FORMATS)
    for text in sorted(set(texts), key=len):
        if len(text) < MIN_LENGTH or not any(mark.isdigit() for mark in text):
            return []
        found = [form for form in found if _parsed(text, form) is not None]
        if not found:
            return []
    return found if len(found) < len(FORMATS) else []


def parse_dates(texts: np.ndarray, form: str) -> tuple[np.ndarray, list[int]]:
    """Read texts as datetime64, NaT for None; and the rows that the format does not read."""
    dates = np.full(len(texts), np.datetime64("NaT"), dtype="datetime64[us]")
    read: dict[str, datetime | None] = {}
    wrong = []
    for row, text in enumerate(texts.tolist()):
        if text is None:
            continue
        if text not in read:
            read[text] = _parsed(text, form)
        moment = read[text]
        if moment is None:
            wrong.append(row)
        else:
            dates[row] = moment
    return dates, wrong


def _parsed(text: str, form: str) -> datetime | None:
    parse: Callable[[str], datetime] = (
        datetime.fromisoformat if form == ISO else lambda own: datetime.strptime(own, form)
    )
    try:
        moment = parse(text)
    except ValueError:
        return None
    return moment if moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)
