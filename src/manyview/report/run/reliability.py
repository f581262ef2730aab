"""The section on reliability: accuracy by probability, and what abstaining gives."""

from typing import Any

import numpy as np

from manyview.estimators.calibration import (
    CoveragePoint,
    coverage_curve,
    expected_calibration_error,
    reliability,
)
from manyview.numerics import softmax
from manyview.report.html.markup import Html
from manyview.report.html.page import Section, section, side_by_side
from manyview.report.html.tables import Column, table
from manyview.report.run.facts import SampleFacts
from manyview.report.svg.charts import Series, lines
from manyview.runs.records import Run

N_BINS = 10
FEWEST_SCORED = 10  # below which shares of right predictions say nothing
LEVELS = (0.0, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
MOST_STEPS = 200  # of the curve


def trust_section(run: Run, facts: SampleFacts, model: Any) -> Section | None:
    """Compare probabilities with the truth: hidden labels, else labels held out to calibrate."""
    found = getattr(model, "calibration_", None)
    scored = facts.is_scored
    if scored.sum() >= FEWEST_SCORED:
        chances = facts.distributions[scored]
        truth = facts.truth[scored]
        whose = f"the {len(truth):,} labels kept hidden"
        scale = 1.0 if found is None else found.temperature
        before = softmax(np.log(np.maximum(chances, 1e-300)) * scale)
    elif found is not None and found.n_held_out >= FEWEST_SCORED:
        chances, truth = found.probabilities(), found.y_encoded
        before = found.probabilities(calibrated=False)
        whose = f"the {len(truth):,} labels held out to calibrate, by fits without them"
    else:
        return None
    error = expected_calibration_error(chances, truth)
    intro = (
        f"Counted on {whose}. The expected calibration error, the mean distance between how "
        f"sure predictions are and how often they are right, is {error:.1%}"
    )
    if found is not None:
        intro += (
            f"; without calibration it would be {expected_calibration_error(before, truth):.1%}. "
            f"The temperature, {found.temperature:.2f}, comes from {found.n_held_out:,} held-out "
            f"labels{', so few that it is a hint only' if found.is_weak else ''}."
        )
    else:
        intro += ". The probabilities are as the method gives them"
        intro += "; --calibrate scales them." if hasattr(model, "temperature_") else "."
    curve = coverage_curve(chances, truth)
    return section(
        "Trust",
        side_by_side(_reliability_chart(chances, truth), _coverage_chart(curve)),
        _threshold_table(run, curve),
        intro=intro,
    )


def _reliability_chart(chances: np.ndarray, truth: np.ndarray) -> Html:
    bins = reliability(chances, truth, n_bins=N_BINS, equal_mass=True)
    # Groups of one probability are one place.
    by_place = {round(one.probability, 6): one for one in bins}
    places = sorted(by_place)
    right = [by_place[place].accuracy for place in places]
    return lines(
        "Right predictions by probability",
        places,
        [Series("right", right), Series("as they should be", places)],
        x_name="probability of the prediction",
        description="Groups of equally many samples: "
        + ", ".join(f"{p:.2f} said, {r:.2f} right" for p, r in zip(places, right, strict=True))
        + ".",
        form=".0%",
        x_form=".3g",
        from_zero=False,
        note="Above the second line predictions are right more often than said, below it less.",
    )


def _coverage_chart(curve: list[CoveragePoint]) -> Html:
    steps = np.unique(np.linspace(0, len(curve) - 1, min(len(curve), MOST_STEPS)).round())
    shown = [curve[step] for step in steps.astype(int).tolist()]
    return lines(
        "Right predictions by share predicted",
        [point.coverage for point in shown],
        [
            Series("right", [point.accuracy for point in shown]),
            Series("least probability", [point.min_probability for point in shown]),
        ],
        x_name="share predicted, the surest first",
        description=f"All predictions: {curve[-1].accuracy:.1%} right.",
        form=".1%",
        x_form=".2g",
        from_zero=False,
        note="What is left when only the surest predictions are given and the others are unknown.",
    )


def _threshold_table(run: Run, curve: list[CoveragePoint]) -> Html:
    asked = run.settings.abstain_below
    rows = []
    for level in sorted({*LEVELS, *([] if asked is None else [asked])}):
        above = [point for point in curve if point.min_probability >= level]
        share, right = (above[-1].coverage, f"{above[-1].accuracy:.1%}") if above else (0.0, "")
        name = "all predictions" if level == 0 else f"{level:g} or more"
        rows.append([f"{name}, as asked" if level == asked else name, f"{share:.1%}", right])
    return table(
        "What abstaining below a probability gives",
        [Column("probability"), Column("predicted", True), Column("right", True)],
        rows,
        sortable=False,
    )
