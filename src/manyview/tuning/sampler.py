"""Choose the next candidate, and measure parameter importance, with Optuna.

Optuna's study is built again from the candidates for each call, so a tuning that was stopped
continues as if it had not been.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from manyview.errors import InputError
from manyview.tuning.journal import Candidate

if TYPE_CHECKING:
    import optuna
    from optuna.distributions import BaseDistribution

N_ATTEMPTS = 50  # draws until a new candidate; if there is none, the space is exhausted
MIN_CANDIDATES = 6  # for parameter importance


def need_optuna() -> None:
    """Refuse to tune without Optuna."""
    try:
        import optuna  # noqa: F401
    except ImportError:
        raise InputError('Tuning needs Optuna. Install it: pip install "manyview[tune]"') from None


def next_params(
    candidates: Sequence[Candidate], distributions: "Mapping[str, BaseDistribution]", seed: int
) -> dict[str, Any] | None:
    """Return parameters that were not tried yet; None if there are none left."""
    from optuna.samplers import TPESampler

    tried = {signature(candidate.params) for candidate in candidates}
    with _study(candidates, distributions) as study:
        for attempt in range(N_ATTEMPTS):
            state = np.random.SeedSequence([seed, len(candidates), attempt]).generate_state(1)
            study.sampler = TPESampler(seed=int(state[0]))
            params = dict(study.ask(dict(distributions)).params)
            if signature(params) not in tried:
                return params
    return None


def importances(
    candidates: Sequence[Candidate], distributions: "Mapping[str, BaseDistribution]", seed: int
) -> dict[str, float]:
    """Return the fraction of the scores' variance per parameter, by functional ANOVA, sorted.

    Empty with few candidates or equal scores.
    """
    from optuna.importance import FanovaImportanceEvaluator, get_param_importances

    done = [candidate for candidate in candidates if candidate.scores]
    if len(done) < MIN_CANDIDATES or len({candidate.score for candidate in done}) == 1:
        return {}
    with _study(done, distributions) as study:
        found = get_param_importances(study, evaluator=FanovaImportanceEvaluator(seed=seed))
    return {name: float(fraction) for name, fraction in found.items()}


def signature(params: Mapping[str, Any]) -> str:
    """Return equal strings for equal parameters."""
    return json.dumps(dict(params), sort_keys=True)


@contextmanager
def _study(
    candidates: Sequence[Candidate], distributions: "Mapping[str, BaseDistribution]"
) -> "Iterator[optuna.Study]":
    """Build a study of the candidates, without failed ones and those outside the space."""
    import optuna

    verbosity = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        study = optuna.create_study(direction="maximize")
        for candidate in candidates:
            if candidate.scores:
                with suppress(ValueError, TypeError):  # defaults may lie outside the space
                    study.add_trial(
                        optuna.trial.create_trial(
                            params=candidate.params,
                            distributions=dict(distributions),
                            value=candidate.score,
                        )
                    )
        yield study
    finally:
        optuna.logging.set_verbosity(verbosity)
