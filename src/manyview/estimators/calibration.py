"""Calibrated probabilities: a temperature from held-out labels, and measures of reliability.

One temperature divides all logits, so probabilities change and predictions do not (Guo, Pleiss,
Sun, Weinberger: On calibration of modern neural networks. ICML 2017). It is fitted on labels that
were hidden from the training, because a network is overconfident on the labels it was trained on.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from manyview.cross_fitting.folds import held_out_parts
from manyview.errors import CalibrationWarning, warn_user
from manyview.numerics import softmax

BOUNDS = (0.05, 20.0)
# Prior standard deviation of the logarithm of the temperature: a factor of 1.65.
PRIOR_SPREAD = 0.5
FEWEST_PARTS = 3  # a fold hides at most a third of the labels
MIN_HELD_OUT = 30  # with fewer held-out labels the temperature is a rough estimate


class InterruptedFitError(Exception):
    """A fit on part of the labels was interrupted, so its logits cannot be used."""


@dataclass(frozen=True)
class Calibration:
    """A temperature, and the held-out labels it was fitted on."""

    temperature: float  # what all logits are divided by
    samples: np.ndarray  # [held-out] row numbers
    y_encoded: np.ndarray  # [held-out] class numbers
    logits: np.ndarray  # [held-out, class], from fits that did not see the labels
    n_folds: int  # number of these fits

    @property
    def n_held_out(self) -> int:
        """Number of held-out labels."""
        return len(self.samples)

    @property
    def is_weak(self) -> bool:
        """Whether the labels are so few that single ones decide the temperature."""
        return self.n_held_out < MIN_HELD_OUT

    def probabilities(self, *, calibrated: bool = True) -> np.ndarray:
        """Return the class probabilities of the held-out samples, with or without temperature."""
        return softmax(self.logits / (self.temperature if calibrated else 1.0))


@dataclass(frozen=True)
class ReliabilityBin:
    """Predictions of similar probability: their number, mean probability and accuracy."""

    low: float
    high: float
    n_samples: int
    probability: float
    accuracy: float


@dataclass(frozen=True)
class CoveragePoint:
    """What keeping only predictions above a probability gives.

    `coverage` is the fraction of the samples that keep a prediction, `accuracy` the fraction of
    these that is right.
    """

    min_probability: float
    coverage: float
    accuracy: float


def choose_n_folds(y_encoded: np.ndarray) -> int:
    """Choose one fold where it hides enough labels, else three, which hide every label once.

    Examples
    --------
    >>> choose_n_folds(np.repeat([0, 1], 60)), choose_n_folds(np.repeat([0, 1], 6))
    (1, 3)
    """
    counts = np.bincount(y_encoded[y_encoded >= 0])
    return 1 if counts[counts > 1].sum() // FEWEST_PARTS >= MIN_HELD_OUT else FEWEST_PARTS


def calibrate(
    y_encoded: np.ndarray,
    n_folds: int,
    rng: np.random.Generator,
    logits_of: Callable[[np.ndarray, int], np.ndarray],
) -> Calibration | None:
    """Hide part of the labels, fit without them, and fit a temperature to the hidden ones.

    Parameters
    ----------
    y_encoded
        [sample] class numbers, -1 where unknown.
    n_folds
        Number of fits. Each hides another part, a third of the labels or, with more than three
        folds, one part of as many.
    logits_of
        Fits to the given class numbers, those of the fold hidden; returns [sample, class].

    Returns
    -------
    None where no label can be hidden, because every class has a single one.
    """
    parts = held_out_parts(y_encoded, max(n_folds, FEWEST_PARTS), rng)
    folds = [fold for fold in range(n_folds) if (parts == fold).any()]
    if not folds:
        return None
    samples, logits = [], []
    for fold in folds:
        hidden = np.flatnonzero(parts == fold)
        samples.append(hidden)
        logits.append(logits_of(np.where(parts == fold, -1, y_encoded), fold)[hidden])
    rows, all_logits = np.concatenate(samples), np.concatenate(logits).astype(np.float64)
    temperature = fit_temperature(all_logits, y_encoded[rows])
    return Calibration(temperature, rows, y_encoded[rows], all_logits, len(folds))


def calibrate_or_warn(
    y_encoded: np.ndarray,
    n_folds: int | str,
    rng: np.random.Generator,
    logits_of: Callable[[np.ndarray, int], np.ndarray],
    *,
    was_interrupted: bool = False,
) -> Calibration | None:
    """Calibrate as `calibrate` does; where that is impossible, warn why and return None.

    Parameters
    ----------
    n_folds
        Number of fits; "auto" lets `choose_n_folds` choose.
    logits_of
        As for `calibrate`; raises `InterruptedFitError` where its fit was interrupted.
    was_interrupted
        Whether the fit to be calibrated was, and no other should be started.
    """
    found, reason = None, "the fit was interrupted"
    with suppress(InterruptedFitError):
        if not was_interrupted:
            n_folds = choose_n_folds(y_encoded) if isinstance(n_folds, str) else n_folds
            found = calibrate(y_encoded, n_folds, rng, logits_of)
            reason = "no class has two labels, so none can be held out"
    if found is None:
        warn_user(f"probabilities are not calibrated: {reason}.", CalibrationWarning)
    return found


def fit_temperature(
    logits: np.ndarray, y_encoded: np.ndarray, *, prior_spread: float = PRIOR_SPREAD
) -> float:
    """Find the temperature of highest likelihood, with a prior around 1 for few labels.

        argmin over T of  - sum_i log softmax(z_i / T)[y_i]  +  (log T)^2 / (2 prior_spread^2)

    Without the prior, a handful of labels that are all right would give T = 0.

    Shapes
    ------
    logits : [sample, class]
    y_encoded : [sample], class numbers

    Examples
    --------
    >>> logits = np.array([[4.0, 0.0], [4.0, 0.0], [4.0, 0.0], [4.0, 0.0]])
    >>> fit_temperature(logits, np.array([0, 0, 0, 1])) > 1  # overconfident: one in four is wrong
    True
    """
    logits = logits.astype(np.float64)
    own = logits[np.arange(len(y_encoded)), y_encoded]

    def cost(log_temperature: float) -> float:
        scaled = (logits - own[:, None]) / np.exp(log_temperature)
        top = scaled.max(axis=1)
        surprise = top + np.log(np.exp(scaled - top[:, None]).sum(axis=1))
        return float(surprise.sum() + (log_temperature / prior_spread) ** 2 / 2)

    # The objective may have two minima: a coarse grid comes first.
    grid = np.linspace(np.log(BOUNDS[0]), np.log(BOUNDS[1]), 61)
    best = int(np.argmin([cost(place) for place in grid]))
    around = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    found = minimize_scalar(cost, bounds=around, method="bounded", options={"xatol": 1e-8})
    return float(np.exp(found.x))


def reliability(
    probabilities: np.ndarray,
    truth: np.ndarray,
    *,
    n_bins: int = 15,
    equal_mass: bool = False,
) -> list[ReliabilityBin]:
    """Group predictions by their probability and count the right ones; empty bins are left out.

    Parameters
    ----------
    probabilities
        [sample, class]
    truth
        [sample] class numbers; one that is no column is never right.
    equal_mass
        Whether bins hold equally many samples instead of being equally wide.
    """
    confidence = probabilities.max(axis=1).astype(np.float64)
    is_right = probabilities.argmax(axis=1) == truth
    if equal_mass:
        order = np.argsort(confidence, kind="stable")
        groups = [group for group in np.array_split(order, n_bins) if len(group)]
        ends = [
            (float(confidence[group].min()), float(confidence[group].max())) for group in groups
        ]
    else:
        # A probability on an edge belongs to the bin below it, as in the paper.
        number = np.clip(np.ceil(confidence * n_bins).astype(int) - 1, 0, n_bins - 1)
        filled = np.unique(number).tolist()
        groups = [np.flatnonzero(number == one) for one in filled]
        ends = [(one / n_bins, (one + 1) / n_bins) for one in filled]
    return [
        ReliabilityBin(
            low, high, len(group), float(confidence[group].mean()), float(is_right[group].mean())
        )
        for group, (low, high) in zip(groups, ends, strict=True)
    ]


def expected_calibration_error(
    probabilities: np.ndarray,
    truth: np.ndarray,
    n_bins: int = 15,
    *,
    equal_mass: bool = False,
) -> float:
    """Average the distance between probability and accuracy over the bins: ECE.

    Examples
    --------
    >>> expected_calibration_error(np.array([[0.75, 0.25]] * 4), np.array([0, 0, 0, 1]))
    0.0
    """
    bins = reliability(probabilities, truth, n_bins=n_bins, equal_mass=equal_mass)
    n_samples = sum(one.n_samples for one in bins)
    gaps = (one.n_samples * abs(one.probability - one.accuracy) for one in bins)
    return float(sum(gaps)) / max(n_samples, 1)


def coverage_curve(probabilities: np.ndarray, truth: np.ndarray) -> list[CoveragePoint]:
    """Return accuracy against coverage, the most confident predictions first.

    Predictions of equal probability are kept or dropped together.

    Examples
    --------
    >>> curve = coverage_curve(np.array([[0.9, 0.1], [0.4, 0.6]]), np.array([0, 0]))
    >>> [(point.coverage, point.accuracy) for point in curve]
    [(0.5, 1.0), (1.0, 0.5)]
    """
    confidence = probabilities.max(axis=1).astype(np.float64)
    is_right = probabilities.argmax(axis=1) == truth
    order = np.argsort(-confidence, kind="stable")
    levels, n_right = confidence[order], np.cumsum(is_right[order])
    is_last = np.append(levels[1:] != levels[:-1], True) if len(levels) else np.zeros(0, dtype=bool)
    return [
        CoveragePoint(
            float(levels[place]), (place + 1) / len(levels), float(n_right[place] / (place + 1))
        )
        for place in np.flatnonzero(is_last).tolist()
    ]
