"""Estimate the time that the rest of a study takes, from its own records."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from manyview.experiments.trial import Trial


@dataclass(frozen=True)
class Estimate:
    """Estimated time of the trials that are left."""

    seconds: float  # with one process, for the trials with similar records
    n_unknown: int  # trials without similar records

    def text(self, n_jobs: int) -> str:
        """Return a phrase such as "about 12 min, and 3 trials of unknown length"."""
        parts = []
        if self.seconds > 0 or not self.n_unknown:
            parts.append(f"about {format_duration(self.seconds / n_jobs)}")
        if self.n_unknown:
            parts.append(f"{self.n_unknown:,} trials of unknown length")
        return ", and ".join(parts)


def estimate(trials: Iterable[Trial], records: Iterable[dict[str, Any]]) -> Estimate:
    """Estimate each trial by the mean time of similar ones.

    These have the same method, data and label ratio, or else any label ratio. A method without
    records on the data is not estimated.
    """
    close: dict[tuple[Any, ...], list[float]] = defaultdict(list)
    for record in records:
        if "seconds" in record:
            place = (record["dataset"], record["method"])
            close[place].append(record["seconds"])
            close[*place, record["label_ratio"]].append(record["seconds"])
    seconds, n_unknown = 0.0, 0
    for trial in trials:
        place = (trial.dataset, trial.method)
        seen = close.get((*place, trial.label_ratio)) or close.get(place)
        if seen:
            seconds += fmean(seen)
        else:
            n_unknown += 1
    return Estimate(seconds, n_unknown)


def format_duration(seconds: float) -> str:
    """Format a time in its natural unit.

    Examples
    --------
    >>> format_duration(40), format_duration(400), format_duration(40_000)
    ('40 s', '7 min', '11.1 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
