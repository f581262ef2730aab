"""Verdict: whether a candidate is better than the defaults by more than chance.

The best of many candidates is partly best by chance. So it must beat the defaults by more than the
standard error of the difference, and again on new folds that were not used to find it.
"""

from dataclasses import dataclass
from typing import Any

from manyview.tuning.folds import Gain
from manyview.tuning.journal import CONFIRMATION, SEARCH, Candidate, Journal

N_CONFIRMED = 3


@dataclass(frozen=True)
class Verdict:
    """The chosen parameters and the reason; scores are on the same folds."""

    params: dict[str, Any]
    note: str
    score: float | None = None
    default_score: float | None = None
    gain: Gain | None = None


def contenders(journal: Journal) -> list[Candidate]:
    """Return the best candidates of the search that are clearly better than the defaults."""
    candidates = journal.of(SEARCH)
    if not candidates:
        return []
    ranked = [
        (Gain.between(candidate.scores, candidates[0].scores), candidate)
        for candidate in candidates[1:]
        if candidate.scores
    ]
    clear = [pair for pair in ranked if pair[0].is_clear]
    clear.sort(key=lambda pair: (-pair[0].mean, pair[1].number))
    return [candidate for _, candidate in clear[:N_CONFIRMED]]


def judge(journal: Journal, defaults: dict[str, Any]) -> Verdict:
    """Choose the best confirmed candidate, or the defaults if there is none."""
    searched, confirmed = journal.of(SEARCH), journal.of(CONFIRMATION)
    best = contenders(journal)
    if not best:
        score = searched[0].score
        note = (
            "The defaults are kept: no candidate beats them by more than the standard error of "
            "the difference."
        )
        return Verdict(defaults, note, score, score)
    numbers = {candidate.number for candidate in best}
    again = [one for one in confirmed if one.number in numbers and one.scores]
    if not (again and confirmed[0].number == 0):
        gain = Gain.between(best[0].scores, searched[0].scores)
        note = (
            f"Candidate {best[0].number} beats the defaults by {gain.mean:.4f} ± "
            f"{gain.standard_error:.4f} on the folds of the search. There was no time to confirm "
            "it on new folds, so part of that gain is chance."
        )
        return Verdict(best[0].params, note, best[0].score, searched[0].score, gain)
    by_gain = [(Gain.between(one.scores, confirmed[0].scores), one) for one in again]
    gain, chosen = max(by_gain, key=lambda pair: (pair[0].mean, -pair[1].number))
    if not gain.is_clear:
        note = (
            f"The defaults are kept: {len(best)} of {len(searched) - 1} candidates beat them in "
            "the search, but none on new folds by more than the standard error."
        )
        return Verdict(defaults, note, confirmed[0].score, confirmed[0].score)
    note = (
        f"Candidate {chosen.number} beats the defaults by {gain.mean:.4f} ± "
        f"{gain.standard_error:.4f} on new folds."
    )
    return Verdict(chosen.params, note, chosen.score, confirmed[0].score, gain)
