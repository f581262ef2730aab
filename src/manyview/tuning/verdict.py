"""Verdict: whether anything that was tried is better than the defaults, beyond luck.

The best of many trials is best by luck in part. So it must beat the defaults by more than the
standard error of the difference, and do so again on folds that had no say in finding it.
"""

from dataclasses import dataclass
from typing import Any

from manyview.tuning.folds import Gain
from manyview.tuning.journal import CONFIRMATION, SEARCH, Journal, Trial

N_CONFIRMED = 3


@dataclass(frozen=True)
class Verdict:
    """The chosen parameters and why; scores are of the same folds."""

    params: dict[str, Any]
    note: str
    score: float | None = None
    default_score: float | None = None
    gain: Gain | None = None


def candidates(journal: Journal) -> list[Trial]:
    """Return the best trials of the search that are clearly better than the defaults."""
    trials = journal.of(SEARCH)
    if not trials:
        return []
    ranked = [
        (Gain.between(trial.scores, trials[0].scores), trial)
        for trial in trials[1:]
        if trial.scores
    ]
    clear = [pair for pair in ranked if pair[0].is_clear]
    clear.sort(key=lambda pair: (-pair[0].mean, pair[1].number))
    return [trial for _, trial in clear[:N_CONFIRMED]]


def judge(journal: Journal, defaults: dict[str, Any]) -> Verdict:
    """Choose the best confirmed configuration, or the defaults where none is."""
    searched, confirmed = journal.of(SEARCH), journal.of(CONFIRMATION)
    best = candidates(journal)
    if not best:
        score = searched[0].score
        note = (
            "The defaults are kept: nothing that was tried beats them by more than the standard "
            "error of the difference."
        )
        return Verdict(defaults, note, score, score)
    numbers = {trial.number for trial in best}
    again = [trial for trial in confirmed if trial.number in numbers and trial.scores]
    if not (again and confirmed[0].number == 0):
        gain = Gain.between(best[0].scores, searched[0].scores)
        note = (
            f"Trial {best[0].number} beats the defaults by {gain.mean:.4f} ± "
            f"{gain.standard_error:.4f} on the folds of the search; there was no time to confirm "
            "it on fresh folds, so part of that is luck."
        )
        return Verdict(best[0].params, note, best[0].score, searched[0].score, gain)
    by_gain = [(Gain.between(trial.scores, confirmed[0].scores), trial) for trial in again]
    gain, chosen = max(by_gain, key=lambda pair: (pair[0].mean, -pair[1].number))
    if not gain.is_clear:
        note = (
            f"The defaults are kept: {len(best)} of {len(searched) - 1} configurations beat them "
            "in the search, and none of these on fresh folds by more than the standard error."
        )
        return Verdict(defaults, note, confirmed[0].score, confirmed[0].score)
    note = (
        f"Trial {chosen.number} beats the defaults by {gain.mean:.4f} ± {gain.standard_error:.4f} "
        "on fresh folds."
    )
    return Verdict(chosen.params, note, chosen.score, confirmed[0].score, gain)
