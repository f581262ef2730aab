"""The result of a tuning: chosen parameters, defaults and all candidates."""

from dataclasses import dataclass
from typing import Any

from manyview.base.classifier import MultiViewClassifier
from manyview.system.notebook import html_box, html_table, html_text
from manyview.tuning.folds import Gain
from manyview.tuning.journal import CONFIRMATION, SEARCH, Candidate, Journal

FORMAT, FORMAT_VERSION = "manyview tuning", 1


@dataclass(frozen=True, repr=False)
class Tuning:
    """The result of `tune`.

    Attributes
    ----------
    best_params_, default_params_
        The tuned parameters, as chosen and before; equal if no candidate was clearly better.
    best_estimator_
        The method with the chosen parameters, fitted with all labels.
    best_score_, default_score_
        Mean scores on the same folds; None if nothing was scored.
    gain_
        Of the chosen parameters over the defaults; None if they are the defaults.
    candidates_
        All candidates, the defaults first, then those of the confirmation.
    importance_
        Fraction of the variance of the scores that each parameter explains; empty with few
        candidates.
    note_
        Why the parameters were chosen, one sentence.
    stopped_
        "done", "minutes", "interrupted", "exhausted" (no candidate left) or "weak" (too few
        labels to tune).
    n_damaged_
        Damaged lines of the folder's records that were set aside; their candidates were scored
        again.
    """

    method: str
    scoring: str
    seed: int
    best_params_: dict[str, Any]
    default_params_: dict[str, Any]
    best_estimator_: MultiViewClassifier
    best_score_: float | None
    default_score_: float | None
    gain_: Gain | None
    candidates_: tuple[Candidate, ...]
    importance_: dict[str, float]
    note_: str
    stopped_: str
    n_damaged_: int = 0

    @property
    def is_default(self) -> bool:
        """Whether the chosen parameters are the defaults."""
        return self.best_params_ == self.default_params_

    @property
    def seconds(self) -> float:
        """Return the time of all candidates together."""
        return sum(candidate.seconds for candidate in self.candidates_)

    def table(self) -> list[dict[str, Any]]:
        """Return one row per candidate: stage, score, gain over the defaults, parameters.

        As records for `pandas.DataFrame`.
        """
        defaults = {one.stage: one.scores for one in self.candidates_ if one.number == 0}
        rows = []
        for one in self.candidates_:
            gain = Gain.between(one.scores, defaults[one.stage]) if one.scores else None
            rows.append(
                {
                    "candidate": one.number,
                    "stage": one.stage,
                    "score": one.score,
                    "gain": None if gain is None else gain.mean,
                    "standard_error": None if gain is None else gain.standard_error,
                    "seconds": round(one.seconds, 3),
                    "error": one.error,
                    **one.params,
                }
            )
        return rows

    def document(self) -> dict[str, Any]:
        """Return the JSON document, everything but the model."""
        return {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "method": self.method,
            "best_params": self.best_params_,
            "default_params": self.default_params_,
            "scoring": self.scoring,
            "best_score": self.best_score_,
            "default_score": self.default_score_,
            "gain": None if self.gain_ is None else self.gain_.mean,
            "standard_error": None if self.gain_ is None else self.gain_.standard_error,
            "note": self.note_,
            "stopped": self.stopped_,
            "seed": self.seed,
            "n_candidates": sum(candidate.stage == SEARCH for candidate in self.candidates_),
            "n_confirmed": sum(candidate.stage == CONFIRMATION for candidate in self.candidates_),
            "seconds": round(self.seconds, 1),
            "importance": self.importance_,
        }

    def __repr__(self) -> str:
        chosen = ", ".join(f"{name}={value!r}" for name, value in self.best_params_.items())
        score = "" if self.best_score_ is None else f" {self.scoring} {self.best_score_:.4f};"
        return f"Tuning({self.method}:{score} {chosen})\n  {self.note_}"

    def _repr_html_(self) -> str:
        ranked = sorted(self.candidates_, key=lambda one: (one.score is None, -(one.score or 0.0)))
        table = html_table(
            ("candidate", "stage", self.scoring, *self.best_params_),
            [
                (
                    "defaults" if one.number == 0 else one.number,
                    one.stage,
                    "failed" if one.score is None else f"{one.score:.4f}",
                    *(one.params.get(name, "") for name in self.best_params_),
                )
                for one in ranked
            ],
            "<<>" + "<" * len(self.best_params_),
            caption="Candidates, best first",
            rest="more candidates",
        )
        return html_box(f"Tuning of {self.method}", html_text(self.note_), table)


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
