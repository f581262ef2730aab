"""What a tuning found: the chosen parameters beside the defaults, and all that was tried."""

from dataclasses import dataclass
from typing import Any

from manyview.base.classifier import MultiViewClassifier
from manyview.tuning.folds import Gain
from manyview.tuning.journal import CONFIRMATION, SEARCH, Trial

FORMAT, FORMAT_VERSION = "manyview tuning", 1


@dataclass(frozen=True)
class Tuning:
    """The result of `tune`.

    Attributes
    ----------
    best_params_, default_params_
        The tuned parameters, as chosen and as they were; equal where nothing was clearly better.
    best_estimator_
        The method with the chosen parameters, fitted with all labels.
    best_score_, default_score_
        Mean scores on the same folds; None where nothing was scored.
    gain_
        Of the chosen over the defaults, fold by fold; None where they are the defaults.
    trials_
        Everything that was tried, defaults first, then what was scored again to confirm it.
    importance_
        Share of each parameter in what made scores differ; empty where too little was tried.
    note_
        Why the parameters were chosen, one sentence.
    stopped_
        "done", "minutes", "interrupted", "exhausted" (nothing left to try) or "weak" (too few
        labels to try anything).
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
    trials_: tuple[Trial, ...]
    importance_: dict[str, float]
    note_: str
    stopped_: str

    @property
    def is_default(self) -> bool:
        """Whether the defaults were kept."""
        return self.best_params_ == self.default_params_

    @property
    def seconds(self) -> float:
        """Time of all trials together."""
        return sum(trial.seconds for trial in self.trials_)

    def table(self) -> list[dict[str, Any]]:
        """Return one row a trial: stage, score, gain over the defaults, parameters.

        As records for `pandas.DataFrame`.
        """
        defaults = {trial.stage: trial.scores for trial in self.trials_ if trial.number == 0}
        rows = []
        for trial in self.trials_:
            gain = Gain.between(trial.scores, defaults[trial.stage]) if trial.scores else None
            rows.append(
                {
                    "trial": trial.number,
                    "stage": trial.stage,
                    "score": trial.score,
                    "gain": None if gain is None else gain.mean,
                    "standard_error": None if gain is None else gain.standard_error,
                    "seconds": round(trial.seconds, 3),
                    "error": trial.error,
                    **trial.params,
                }
            )
        return rows

    def document(self) -> dict[str, Any]:
        """Put everything but the model into one JSON document, the content of `tuning.json`."""
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
            "n_trials": sum(trial.stage == SEARCH for trial in self.trials_),
            "n_confirmed": sum(trial.stage == CONFIRMATION for trial in self.trials_),
            "seconds": round(self.seconds, 1),
            "importance": self.importance_,
        }
