"""Explanations as text: a sample's reasons in full, and the effects of views."""

from pathlib import Path

import pytest

from manyview.explain.records import Evidence, Explanation, ViewEffect, ViewEvidence
from manyview.report.run.explanation_text import reasons_text
from manyview.runs.explaining import RunReasons

WHY = Explanation(
    row=7,
    name="s7",
    given=None,
    probabilities={"cow": 0.6, "hen": 0.3, "pig": 0.1},
    prediction="cow",
    runner_up="hen",
    logit=1.0,
    runner_up_logit=0.31,
    temperature=1.0,
    itself=Evidence(7, "s7", None, "cow", {"shape": 0.5, "color": 0.5}, 0.1, 0.101),
    neighbors=(
        Evidence(3, "s3", "cow", "cow", {"color": 0.75, "shape": 0.25}, 0.8, 0.01),
        Evidence(9, "s9", None, "hen", {"shape": 1.0}, 0.1, 0.199),
    ),
    sources=(
        Evidence(3, "s3", "cow", "cow", {}, 0.8, 0.2),
        Evidence(7, "s7", None, "cow", {}, 0.2, 0.11),
    ),
    views=(
        ViewEvidence("shape", 0.4, 0.2, "hen", 0.55, True),
        ViewEvidence("color", 0.6, 0.11, "cow", 0.7, False),
    ),
)
EFFECTS = (ViewEffect("shape", 12, 0.12, 10, 1.0, 0.9), ViewEffect("color", 0, 0.0, 10, 1.0, 1.0))

REASONS_TEXT = """\
Run      mgcn-dns of runs/farm, 100 samples
Sample   s7, came without a label
Classes  cow 0.600, hen 0.300, pig 0.100

Reasons  The log-odds of cow against hen are +0.69. They are the sum of the contributions of the
         sample and its neighbors in the graph, and also the sum over views.

         neighbor  label       for cow  for hen    sum  by view
         itself    cow           +0.10    +0.10  +0.00  shape 50%, color 50%
         s3        cow, given    +0.80    +0.01  +0.79  color 75%, shape 25%
         s9        hen           +0.10    +0.20  -0.10  shape 100%
         all                     +1.00    +0.31  +0.69

Views    view     sum  prediction without it  probability
         shape  +0.20  hen                          0.550  changed
         color  +0.49  cow                          0.700

         A removed view loses its edges and features, and the other views replace it, without
         retraining.

Sources  The features of 2 samples enter these sums. The largest contributions: s3 (cow, given)
         +0.60, s7 (cow) +0.09."""


def explained(explanation, effects=EFFECTS):
    return reasons_text(RunReasons(Path("runs/farm"), "mgcn-dns", 100, explanation, effects), 100)


def test_reasons_of_a_sample_are_complete():
    assert explained(WHY) == REASONS_TEXT


def test_neighbors_beyond_ten_are_summed():
    many = tuple(
        Evidence(row, f"s{row}", None, "cow", {"shape": 1.0}, 0.1, 0.0) for row in range(13)
    )
    changed = {**vars(WHY), "neighbors": many, "logit": 1.4, "given": "pig"}
    text = explained(Explanation(**changed))
    (line,) = [line for line in text.splitlines() if "others" in line]
    assert line.split() == ["3", "others", "+0.30", "+0.00", "+0.30"]
    assert "Sample   s7, came with the label pig\n" in text


def test_effects_of_all_views_are_listed_without_a_sample():
    assert (
        explained(None)
        == """\
Run    mgcn-dns of runs/farm, 100 samples
Views  removed view  changed predictions  of all  accuracy
       shape                          12   12.0%     90.0%
       color                           0    0.0%    100.0%

       Accuracy is measured on the 10 given labels; with all views it is 100.0%.
       A removed view loses its edges and features, and the other views replace it, without
       retraining."""
    )


@pytest.mark.parametrize("explanation", [None, WHY])
def test_single_view_is_named_as_such(explanation):
    if explanation is None:
        assert "There is only one view, so none can be removed." in explained(None, ())
    else:
        only = (ViewEvidence("shape", 1.0, 0.31, None, None, False),)
        assert "shape is the only view." in explained(Explanation(**{**vars(WHY), "views": only}))
