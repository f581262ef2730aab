"""Tune: choose a method's parameters by cross-validation on the known labels."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, perf_counter
from typing import Any, cast

import numpy as np
from sklearn.base import clone

from manyview.base.classifier import MultiViewClassifier
from manyview.data.checksums import labels_checksum
from manyview.data.cross_validation import LabelHidingSplit, TransductiveViews, labels_by_class
from manyview.data.labels import check_labels
from manyview.errors import InputError
from manyview.methods import find_method
from manyview.runs.settings import flat_params
from manyview.tuning.folds import Folds
from manyview.tuning.journal import CONFIRMATION, SEARCH, Candidate, Journal, stored_seed
from manyview.tuning.result import Tuning, Verdict, contenders, judge
from manyview.tuning.sampler import importances, need_optuna, next_params
from manyview.tuning.scorers import SCORERS
from manyview.tuning.space import Space, as_distributions, check_space, default_space, described
from manyview.validation import check_choice, check_number, check_whole_number, draw_seed

WEAK = 2  # labels per class (median) up to which cross-validation is not reliable
N_SPLITS = 5


@dataclass(frozen=True)
class Step:
    """Progress of a tuning, after each candidate."""

    candidate: Candidate
    n_done: int
    n_candidates: int
    # estimated from the mean time per candidate, within the time limit; includes the confirmation
    seconds_left: float


OnStep = Callable[[Step], None]


def tune(
    views: Any,
    y: Any,
    *,
    method: str | MultiViewClassifier = "manyview",
    n_candidates: int = 30,
    minutes: float | None = None,
    space: Space | None = None,
    scoring: str = "accuracy",
    n_splits: int = N_SPLITS,
    n_repeats: int = 1,
    random_state: int | np.random.RandomState | np.random.Generator | None = None,
    folder: str | Path | None = None,
    force: bool = False,
    on_step: OnStep | None = None,
) -> Tuning:
    """Choose parameters by cross-validation on the known labels, with all samples in the graph.

    Candidate 0 is the defaults; Optuna draws the others. Up to three candidates that beat the
    defaults by more than the standard error of the difference are scored again on new folds. The
    best of them is chosen if it beats the defaults there, too; otherwise the defaults stay.

    Parameters
    ----------
    views, y
        As for `fit`. Samples without a label are part of the graph only.
    method
        A name of `METHODS`, or a classifier whose parameters are the defaults.
    n_candidates
        Configurations to try, including the defaults and those in the folder.
    minutes
        Time limit for this call; a candidate that has started is finished.
    space
        Parameter -> list of values, or a distribution of Optuna; None is `default_space`.
    scoring
        A name of `SCORERS`.
    n_splits, n_repeats
        Of the `LabelHidingSplit`.
    random_state
        Random seed for the splits, the search and the model.
    folder
        Folder of the journal; the same call continues where it was stopped.
    force
        Whether to tune even with one or two labels per class, where scores are not reliable.
    on_step
        Called with a `Step` after each candidate.

    Returns
    -------
    A `Tuning`; after Ctrl-C, that of the candidates so far.
    """
    model = _model(method)
    samples = TransductiveViews(model.check_values(views))
    labels = np.asarray(y, dtype=None if isinstance(y, np.ndarray) else object)
    check_labels(y, len(samples))
    for name, number in {"n_candidates": n_candidates, "n_repeats": n_repeats}.items():
        check_whole_number(name, number, at_least=1)
    check_whole_number("n_splits", n_splits, at_least=2)
    if minutes is not None:
        check_number("minutes", minutes, above=0)
    check_choice("scoring", scoring, SCORERS)
    tried = default_space(model, len(samples)) if space is None else check_space(space, model)
    need_optuna()
    path = None if folder is None else Path(folder)
    seed = stored_seed(path) if random_state is None else None
    seed = draw_seed(random_state) if seed is None else seed
    if "random_state" in model.get_params():
        model.set_params(random_state=seed)
    defaults = {name: model.get_params()[name] for name in tried}
    counts = [len(rows) for rows in labels_by_class(labels).values()]
    if float(np.median(counts)) <= WEAK and not force:
        note = (
            f"The defaults are kept: a typical class has {float(np.median(counts)):g} labels, too "
            "few to compare parameters by hiding some of them. Label more samples, or tune anyway "
            "with force=True."
        )
        warnings.warn(note, UserWarning, stacklevel=2)
        return _result(model, samples, labels, defaults, Journal(), scoring, seed, tried,
                       Verdict(defaults, note), "weak")  # fmt: skip
    n_splits = max(2, min(n_splits, sum(count for count in counts if count > 1)))
    folds = {
        stage: Folds.of(
            samples,
            labels,
            LabelHidingSplit(n_splits, n_repeats=n_repeats, random_state=stage_seed),
            SCORERS[scoring],
        )
        for stage, stage_seed in zip((SEARCH, CONFIRMATION), _two_seeds(seed), strict=True)
    }
    study = {
        "views": samples.checksum(),
        "labels": labels_checksum(labels),
        "method": model.card.name,
        "params": {
            name: repr(value)
            for name, value in flat_params(model).items()
            if name not in ("random_state", "device")
        },
        "space": described(tried),
        "scoring": scoring,
        "n_splits": n_splits,
        "n_repeats": n_repeats,
        "seed": seed,
    }
    journal = Journal(path)
    with journal.open(study):
        search = _Search(
            model, defaults, tried, folds, journal, seed, n_candidates, minutes, on_step
        )
        stopped = search.run()
    verdict = judge(journal, defaults)
    return _result(
        model, samples, labels, defaults, journal, scoring, seed, tried, verdict, stopped
    )


@dataclass
class _Search:
    """The loop of `tune`: search, then confirm, within the limits of candidates and time."""

    model: MultiViewClassifier
    defaults: dict[str, Any]
    space: dict[str, Any]
    folds: dict[str, Folds]
    journal: Journal
    seed: int
    n_candidates: int
    minutes: float | None
    on_step: OnStep | None

    def run(self) -> str:
        """Fill the journal; return the reason for stopping."""
        self.start = monotonic()
        try:
            stopped = self._search()
            self._confirm()
        except KeyboardInterrupt:
            if not self.journal.before_gap():
                raise
            stopped = "interrupted"
        return stopped

    def _search(self) -> str:
        distributions = as_distributions(self.space)
        while len(done := self.journal.before_gap()) < self.n_candidates:
            if done and self._seconds_left() <= self._confirmation_seconds():
                return "minutes"
            params = next_params(done, distributions, self.seed) if done else self.defaults
            if params is None:
                return "exhausted"
            self._try(len(done), SEARCH, params)
        return "done"

    def _confirm(self) -> None:
        best = contenders(self.journal)
        confirmed = {candidate.number for candidate in self.journal.of(CONFIRMATION)}
        for candidate in [self.journal.of(SEARCH)[0], *best] if best else []:
            if candidate.number not in confirmed:
                self._try(candidate.number, CONFIRMATION, candidate.params)

    def _try(self, number: int, stage: str, params: dict[str, Any]) -> None:
        start = perf_counter()
        scores: list[float] = []
        error = None
        try:
            scores = self.folds[stage].score(clone(self.model).set_params(**params))
        except InputError as refused:
            if number == 0:
                raise
            error = str(refused)
        seconds = perf_counter() - start
        candidate = Candidate(number, stage, dict(params), tuple(scores), seconds, error)
        self.journal.add(candidate)
        if self.on_step is not None:
            n_done = len(self.journal.of(SEARCH))
            to_do = (self.n_candidates - n_done) * self._mean_seconds()
            to_do += self._confirmation_seconds()
            left = min(to_do, self._seconds_left())
            self.on_step(Step(candidate, n_done, self.n_candidates, left))

    def _mean_seconds(self) -> float:
        times = [candidate.seconds for candidate in self.journal.candidates]
        return sum(times) / len(times)

    def _confirmation_seconds(self) -> float:
        n_left = 1 + len(contenders(self.journal)) - len(self.journal.of(CONFIRMATION))
        return max(n_left, 0) * self._mean_seconds() if contenders(self.journal) else 0.0

    def _seconds_left(self) -> float:
        spent = monotonic() - self.start
        return float("inf") if self.minutes is None else max(60 * self.minutes - spent, 0.0)


def _model(method: str | MultiViewClassifier) -> MultiViewClassifier:
    if isinstance(method, str):
        return find_method(method)()
    if not isinstance(method, MultiViewClassifier):
        raise InputError(
            f"method must be a name of METHODS or one of its classifiers; got {method!r}."
        )
    return cast("MultiViewClassifier", clone(method))


def _two_seeds(seed: int) -> list[int]:
    return [int(state) for state in np.random.SeedSequence(seed).generate_state(2)]


def _result(
    model: MultiViewClassifier,
    samples: TransductiveViews,
    labels: np.ndarray,
    defaults: dict[str, Any],
    journal: Journal,
    scoring: str,
    seed: int,
    space: Space,
    verdict: Verdict,
    stopped: str,
) -> Tuning:
    candidates = (*journal.of(SEARCH), *journal.of(CONFIRMATION))
    return Tuning(
        method=model.card.name,
        scoring=scoring,
        seed=seed,
        best_params_=verdict.params,
        default_params_=defaults,
        best_estimator_=clone(model).set_params(**verdict.params).fit(samples, labels),
        best_score_=verdict.score,
        default_score_=verdict.default_score,
        gain_=verdict.gain,
        candidates_=candidates,
        importance_=importances(journal.of(SEARCH), as_distributions(space), seed),
        note_=verdict.note,
        stopped_=stopped,
        n_damaged_=journal.n_damaged,
    )
