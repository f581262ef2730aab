"""The result of a tuning: chosen parameters, defaults and all candidates."""

from dataclasses import dataclass
from typing import Any

from manyview.base.classifier import MultiViewClassifier
from manyview.tuning.folds import Gain
from manyview.tuning.journal import CONFIRMATION, SEARCH, Candidate

FORMAT, FORMAT_VERSION = "manyview tuning", 1


@dataclass(frozen=True)
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
