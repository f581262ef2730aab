"""The reliability of probabilities: accuracy by probability, and the effect of abstaining."""

from itertools import pairwise

import numpy as np
from markupsafe import Markup

from manyview.base.summary import FitSummary
from manyview.estimators.calibration import (
    CoveragePoint,
    coverage_curve,
    expected_calibration_error,
)
from manyview.numerics import softmax
from manyview.report.html.page import Section, section, side_by_side
from manyview.report.html.tables import Column, table
from manyview.report.run.facts import SampleFacts
from manyview.report.svg.charts import Series, lines
from manyview.runs.records import Run

EDGES = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)  # of groups of similar probability
Z_95 = 1.96
MIN_SCORED = 10  # labels below which rates of right predictions are not informative
LEVELS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
MAX_STEPS = 200  # of the curve


def reliability_section(run: Run, facts: SampleFacts, summary: FitSummary) -> Section | None:
    """Compare probabilities with hidden labels, or else with labels that the fit held out."""
    calibration, crossed = summary.calibration, summary.cross_fit
    scored = facts.is_scored
    if scored.sum() >= MIN_SCORED:
        chances = facts.distributions[scored]
        truth = facts.truth[scored]
        labels = f"the {len(truth):,} hidden labels"
        scale = 1.0 if calibration is None else calibration.temperature
        before = softmax(np.log(np.maximum(chances, 1e-300)) * scale)
    elif calibration is not None and calibration.n_held_out >= MIN_SCORED:
        chances, truth = calibration.probabilities(), calibration.y_encoded
        before = calibration.probabilities(calibrated=False)
        labels = f"{len(truth):,} labels that were held out for calibration"
    elif crossed is not None and len(crossed.samples) >= MIN_SCORED:
        chances, truth = crossed.probabilities, crossed.y_encoded
        labels = f"{len(truth):,} given labels, each predicted without it"
    else:
        return None
    error = expected_calibration_error(chances, truth)
    intro = (
        f"Measured on {labels}. The expected calibration error, the mean difference between "
        f"probability and accuracy, is {error:.1%}"
    )
    if calibration is not None:
        weak = ", which is too few for a precise estimate" if calibration.is_weak else ""
        intro += (
            f"; without calibration it would be {expected_calibration_error(before, truth):.1%}. "
            f"The temperature {calibration.temperature:.2f} was fitted on "
            f"{calibration.n_held_out:,} held-out labels{weak}."
        )
    elif crossed is not None:
        intro += ". Cross-fitting has calibrated the probabilities."
    else:
        intro += ". The probabilities are not calibrated"
        intro += "; --calibrate scales them." if summary.temperature is not None else "."
    curve = coverage_curve(chances, truth)
    return section(
        "Reliability",
        side_by_side(_reliability_chart(chances, truth), _coverage_chart(curve)),
        _threshold_table(run, curve),
        intro=intro,
    )


def reliability_groups(chances: np.ndarray, truth: np.ndarray) -> list[tuple[float, int, int]]:
    """Group predictions of similar probability: mean probability, number, and number right.

    Groups are those between `EDGES`; one with fewer than `MIN_SCORED` samples joins the next.

    Examples
    --------
    >>> chances = np.repeat([[0.6, 0.4], [0.75, 0.25], [1.0, 0.0]], [15, 2, 20], axis=0)
    >>> reliability_groups(chances, np.arange(37) % 3 // 2)
    [(0.6, 15, 10), (0.977, 22, 15)]
    """
    confidence, is_right = chances.max(axis=1), chances.argmax(axis=1) == truth
    order = np.argsort(confidence, kind="stable")
    ends = np.searchsorted(confidence[order], EDGES)
    kept = [0]
    for end in [*ends.tolist(), len(order)]:
        if end - kept[-1] >= MIN_SCORED:
            kept.append(end)
    kept[-1] = len(order)
    groups = [order[start:end] for start, end in pairwise(kept)]
    return [
        (round(float(confidence[group].mean()), 3), len(group), int(is_right[group].sum()))
        for group in groups
    ]


def wilson_interval(n_right: int, n_samples: int) -> tuple[float, float]:
    """Return the 95% interval of a fraction, by Wilson's score.

    Examples
    --------
    >>> [round(end, 3) for end in wilson_interval(9, 10)]
    [0.596, 0.982]
    """
    rate, shift = n_right / n_samples, Z_95**2 / n_samples
    middle = rate + shift / 2
    half = Z_95 * np.sqrt(rate * (1 - rate) / n_samples + shift / n_samples / 4)
    return float((middle - half) / (1 + shift)), float((middle + half) / (1 + shift))


def _reliability_chart(chances: np.ndarray, truth: np.ndarray) -> Markup:
    groups = reliability_groups(chances, truth)
    places = [place for place, _, _ in groups]
    right = [n_right / n_samples for _, n_samples, n_right in groups]
    ends = [wilson_interval(n_right, n_samples) for _, n_samples, n_right in groups]
    return lines(
        "Accuracy by probability",
        places,
        [
            Series(
                "accuracy, with its 95% interval",
                right,
                low=[low for low, _ in ends],
                high=[high for _, high in ends],
                has_dots=True,
            ),
            Series("perfect calibration", places, is_reference=True),
        ],
        x_name="probability of the prediction",
        description="Groups of similar probability: "
        + ", ".join(f"{r:.2f} at {p:.2f}" for p, r in zip(places, right, strict=True))
        + ".",
        form=".0%",
        x_form=".3g",
        from_zero=False,
        note="Above the dashed line, predictions are underconfident.",
    )


def _coverage_chart(curve: list[CoveragePoint]) -> Markup:
    steps = np.unique(np.linspace(0, len(curve) - 1, min(len(curve), MAX_STEPS)).round())
    shown = [curve[step] for step in steps.astype(int).tolist()]
    return lines(
        "Accuracy by coverage",
        [point.coverage for point in shown],
        [
            Series("accuracy", [point.accuracy for point in shown]),
            Series("lowest probability", [point.min_probability for point in shown]),
        ],
        x_name="coverage: fraction predicted, most confident first",
        description=f"At full coverage the accuracy is {curve[-1].accuracy:.1%}.",
        form=".1%",
        x_form=".2g",
        from_zero=False,
        note="The least confident samples are left unknown.",
    )


def _threshold_table(run: Run, curve: list[CoveragePoint]) -> Markup:
    asked = run.settings.abstain_below
    rows = []
    for level in sorted({*LEVELS, *([] if asked is None else [asked])}):
        above = [point for point in curve if point.min_probability >= level]
        coverage, right = (above[-1].coverage, f"{above[-1].accuracy:.1%}") if above else (0.0, "")
        name = "all predictions" if level == 0 else f"{level:g} or more"
        rows.append([f"{name}, as set" if level == asked else name, f"{coverage:.1%}", right])
    return table(
        "Effect of abstaining below a probability",
        [Column("probability"), Column("coverage", True), Column("accuracy", True)],
        rows,
        sortable=False,
    )
