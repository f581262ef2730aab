"""What a comparison found: every method with its mean, its interval and its distance to the best.

All methods get the same splits, so differences are taken split by split. Where a split scores all
samples that it does not label, the paired t test is used. Otherwise the hidden labels stand for
samples without a label: the test is corrected for the overlap of the splits, and the variance is
at least that of drawing so many labels. The p values are adjusted for the number of methods.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from manyview.experiments.compared import Comparison
from manyview.experiments.study import Study
from manyview.report.commands import fit_command
from manyview.report.study.comparison import (
    LEVEL,
    adjusted_p_values,
    corrected_t_test,
    mean_interval,
    paired_t_test,
    sampling_variance,
)
from manyview.report.study.results import METRICS, Metric, Result, find_metric, study_results

PERCENT = 100.0
COMPARED = ("accuracy", "balanced_accuracy", "macro_f1")  # metrics that can choose a method


@dataclass(frozen=True)
class Standing:
    """One method of a comparison; numbers are percentages and points.

    Attributes
    ----------
    behind, behind_interval
        How much lower it is than the best on the splits that both have; None for the best.
    p_value
        Of the difference to the best, adjusted for the number of methods.
    seconds
        Mean time per fit.
    shortfall
        Why splits are missing; empty where none is.
    """

    method: str
    by_seed: Mapping[int, float]
    mean: float | None
    std: float | None
    interval: tuple[float, float] | None
    seconds: float | None
    shortfall: str = ""
    behind: float | None = None
    behind_interval: tuple[float, float] | None = None
    p_value: float | None = None

    @property
    def is_tied(self) -> bool:
        """Whether its difference to the best is within noise."""
        return self.p_value is not None and not self.p_value < LEVEL


@dataclass(frozen=True)
class Findings:
    """The methods of a comparison, best first, and those without a result last."""

    comparison: Comparison
    metric: Metric
    standings: tuple[Standing, ...]
    n_left: int  # trials that are still to run

    @property
    def best(self) -> Standing | None:
        """Return the method with the highest mean; None without any result."""
        return next((one for one in self.standings if one.mean is not None), None)

    @property
    def tied(self) -> tuple[Standing, ...]:
        """Return the methods that are within noise of the best."""
        return tuple(one for one in self.standings if one.is_tied)

    @property
    def test(self) -> str:
        """Return the test of differences: `paired` or `corrected`."""
        return "paired" if self.comparison.is_census else "corrected"

    @property
    def command(self) -> str | None:
        """Return the command that labels the data with the best method."""
        if self.best is None:
            return None
        return fit_command(replace(self.comparison.settings, method=self.best.method))

    def document(self) -> dict[str, Any]:
        """Return the findings as a JSON document."""
        compared, best = self.comparison, self.best
        return {
            "format": "manyview comparison",
            "data": compared.dataset,
            "folder": str(compared.folder),
            "metric": self.metric.name,
            "unit": self.metric.unit,
            "n_samples": compared.n_samples,
            "n_known": compared.n_known,
            "n_kept": compared.n_kept,
            "n_hidden": compared.n_hidden,
            "n_splits": compared.n_splits,
            "n_left": self.n_left,
            "test": self.test,
            "best": None if best is None else best.method,
            "within_noise": [one.method for one in self.tied],
            "command": self.command,
            "methods": [
                {
                    "method": one.method,
                    "mean": one.mean,
                    "std": one.std,
                    "interval": one.interval,
                    "behind": one.behind,
                    "behind_interval": one.behind_interval,
                    "p_value": one.p_value,
                    "within_noise": one.is_tied,
                    "seconds": one.seconds,
                    "by_seed": {str(seed): value for seed, value in one.by_seed.items()},
                    "missing": one.shortfall,
                }
                for one in self.standings
            ],
        }


def find_standings(comparison: Comparison, study: Study, metric: str = "accuracy") -> Findings:
    """Compare the methods by the records of a study."""
    shown = find_metric(metric)
    times = {
        cell.entry: result.mean for cell, result in study_results(study, METRICS["seconds"]).items()
    }
    splits = _Splits.of(comparison)
    standings = [
        _standing(result, times.get(cell.entry), splits)
        for cell, result in study_results(study, shown).items()
    ]
    standings.sort(
        key=lambda one: (
            one.mean is None,
            -len(one.by_seed),
            -round(one.mean or 0.0, 6),
            one.seconds or 0.0,
        )
    )
    progress = study.progress()
    return Findings(
        comparison,
        shown,
        tuple(_against_best(standings, splits)),
        progress.n_trials - progress.n_done - progress.n_failed,
    )


@dataclass(frozen=True)
class _Splits:
    """What the splits of a comparison are to its statistics."""

    n_kept: int
    n_hidden: int
    is_census: bool

    @classmethod
    def of(cls, comparison: Comparison) -> "_Splits":
        return cls(comparison.n_kept, comparison.n_hidden, comparison.is_census)

    def interval(self, values: Sequence[float]) -> tuple[float, float] | None:
        overlap = 0.0 if self.is_census else self.n_hidden / self.n_kept
        return mean_interval(values, overlap, self._least_variance(values))

    def p_value(self, differences: Sequence[float]) -> float:
        if self.is_census:
            return paired_t_test(differences)
        ratio = self.n_kept / (self.n_kept + self.n_hidden)
        return corrected_t_test(differences, ratio, self._least_variance(differences))

    def _least_variance(self, values: Sequence[float]) -> float:
        """Return the variance that drawn labels have at least, in squared percentage points."""
        if self.is_census or not values:
            return 0.0
        fraction = min(1.0, abs(fmean(values)) / PERCENT)
        n_known = self.n_kept + self.n_hidden
        return PERCENT**2 * sampling_variance(fraction, self.n_hidden, n_known)


def _standing(result: Result, seconds: float | None, splits: _Splits) -> Standing:
    interval = splits.interval(list(result.by_seed.values()))
    if interval is not None:
        interval = (max(0.0, interval[0]), min(PERCENT, interval[1]))
    return Standing(
        method=result.cell.entry,
        by_seed=result.by_seed,
        mean=result.mean,
        std=result.std,
        interval=interval,
        seconds=seconds,
        shortfall=result.shortfall,
    )


def _against_best(standings: Sequence[Standing], splits: _Splits) -> list[Standing]:
    """Test every method against the first over the splits that both have."""
    best, *others = standings
    differences = {
        one.method: [
            best.by_seed[seed] - one.by_seed[seed] for seed in best.by_seed if seed in one.by_seed
        ]
        for one in others
    }
    tested = {method: values for method, values in differences.items() if len(values) > 1}
    p_values = adjusted_p_values([splits.p_value(values) for values in tested.values()])
    adjusted = dict(zip(tested, p_values, strict=True))
    return [
        one
        if one.method not in tested
        else replace(
            one,
            behind=fmean(tested[one.method]),
            behind_interval=splits.interval(tested[one.method]),
            p_value=adjusted[one.method],
        )
        for one in standings
    ]
