"""What to try next, and what mattered: Optuna, asked anew each time from the trials so far.

Nothing is kept between two questions, so a tuning that was stopped goes on as if it had not been.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from manyview.errors import InputError
from manyview.tuning.journal import Trial

if TYPE_CHECKING:
    import optuna
    from optuna.distributions import BaseDistribution

N_ATTEMPTS = 50  # draws until one is new; a space in which none is has been tried out
MIN_TRIALS = 6  # below, what mattered is a guess


def need_optuna() -> None:
    """Refuse to tune without Optuna, and say how to get it."""
    try:
        import optuna  # noqa: F401
    except ImportError:
        raise InputError('Tuning needs Optuna. Install it: pip install "manyview[tune]"') from None


def next_params(
    trials: Sequence[Trial], distributions: "Mapping[str, BaseDistribution]", seed: int
) -> dict[str, Any] | None:
    """Ask for a configuration that was not tried yet; None where there is none left."""
    from optuna.samplers import TPESampler

    tried = {signature(trial.params) for trial in trials}
    with _study(trials, distributions) as study:
        for attempt in range(N_ATTEMPTS):
            state = np.random.SeedSequence([seed, len(trials), attempt]).generate_state(1)
            study.sampler = TPESampler(seed=int(state[0]))
            params = dict(study.ask(dict(distributions)).params)
            if signature(params) not in tried:
                return params
    return None


def importances(
    trials: Sequence[Trial], distributions: "Mapping[str, BaseDistribution]", seed: int
) -> dict[str, float]:
    """Share of each parameter in what made scores differ, by functional ANOVA; largest first.

    Empty where few trials, or equal scores, tell nothing.
    """
    from optuna.importance import FanovaImportanceEvaluator, get_param_importances

    done = [trial for trial in trials if trial.scores]
    if len(done) < MIN_TRIALS or len({trial.score for trial in done}) == 1:
        return {}
    with _study(done, distributions) as study:
        found = get_param_importances(study, evaluator=FanovaImportanceEvaluator(seed=seed))
    return {name: float(share) for name, share in found.items()}


def signature(params: Mapping[str, Any]) -> str:
    """Write parameters so that equal ones are equal texts."""
    return json.dumps(dict(params), sort_keys=True)


@contextmanager
def _study(
    trials: Sequence[Trial], distributions: "Mapping[str, BaseDistribution]"
) -> "Iterator[optuna.Study]":
    """Make a study that knows the trials; those outside the space, and the failed, are left out."""
    import optuna

    verbosity = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        study = optuna.create_study(direction="maximize")
        for trial in trials:
            if trial.scores:
                with suppress(ValueError, TypeError):  # defaults may lie outside the space
                    study.add_trial(
                        optuna.trial.create_trial(
                            params=trial.params,
                            distributions=dict(distributions),
                            value=trial.score,
                        )
                    )
        yield study
    finally:
        optuna.logging.set_verbosity(verbosity)
