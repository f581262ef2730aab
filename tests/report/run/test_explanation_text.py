"""Reasons as people read them."""

from pathlib import Path

import pytest

from manyview.explain.records import Evidence, Explanation, ViewEffect, ViewEvidence
from manyview.report.run.text import reasons_text
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

TEXT = """\
Run      mgcn-dns of runs/farm, 100 samples
Sample   s7, came without a label
Prediction   cow 0.600, hen 0.300, pig 0.100

Reasons  The log-odds of cow against hen are +0.69. They are the sum of what the sample and its
         neighbors in the graph send, and of the same by view.

         neighbor  label       for cow  for hen    sum  by view
         itself     cow           +0.10    +0.10  +0.00  shape 50%, color 50%
         s3         cow, given    +0.80    +0.01  +0.79  color 75%, shape 25%
         s9         hen           +0.10    +0.20  -0.10  shape 100%
         all                      +1.00    +0.31  +0.69

Views    view      sum  prediction without it  probability
         shape   +0.20  hen                      0.550  changes the prediction
         color  +0.49  cow                      0.700

         Left out: the view's edges and features are gone and the other views take their place;
         nothing is learned anew.

Sources  The features behind these sums are those of 2 samples. The largest parts: s3 (cow, given)
         +0.60, s7 (cow) +0.09."""


def told(explanation, effects=EFFECTS):
    return reasons_text(RunReasons(Path("runs/farm"), "mgcn-dns", 100, explanation, effects), 100)


def test_reasons_of_a_sample_are_told_whole():
    assert told(WHY) == TEXT


def test_neighbors_beyond_ten_are_summed():
    many = tuple(
        Evidence(row, f"s{row}", None, "cow", {"shape": 1.0}, 0.1, 0.0) for row in range(13)
    )
    changed = {**vars(WHY), "neighbors": many, "logit": 1.4, "given": "pig"}
    text = told(Explanation(**changed))
    (line,) = [line for line in text.splitlines() if "others" in line]
    assert line.split() == ["3", "others", "+0.30", "+0.00", "+0.30"]
    assert "Sample   s7, came with the label pig\n" in text


def test_effects_of_all_views_are_told_without_a_sample():
    assert (
        told(None)
        == """\
Run    mgcn-dns of runs/farm, 100 samples
Views  view left out  predictions that change  share  accuracy
       shape                           12  12.0%     90.0%
       color                           0   0.0%    100.0%

       Accuracy is on the 10 labels the method was given; it is 100.0% with all views.
       Left out: the view's edges and features are gone and the other views take their place;
       nothing is learned anew."""
    )


@pytest.mark.parametrize("explanation", [None, WHY])
def test_single_view_is_told_as_such(explanation):
    if explanation is None:
        assert "There is one view only, so none can be left out." in told(None, ())
    else:
        only = (ViewEvidence("shape", 1.0, 0.31, None, None, False),)
        assert "shape is the only view." in told(Explanation(**{**vars(WHY), "views": only}))
