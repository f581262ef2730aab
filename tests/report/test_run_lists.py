from pathlib import Path

import pytest

from manyview.report.run_lists import (
    changed_rows,
    difference_text,
    estimate_text,
    problem_lines,
    run_rows,
    setting_rows,
)
from manyview.runs.differing import ChangedPrediction, RunDifference, Setting
from manyview.runs.listing import AccuracyEstimate, ListedRun

RUN = ListedRun(
    Path("runs/a"), "digits", "knn", 1797, 90, AccuracyEstimate(0.9, 0.85, 0.94), 0.876, 1707, 2.25,
    "2026-01-02T03:04:05+00:00",
)  # fmt: skip


def difference(**changes):
    values = {
        "first": RUN,
        "second": ListedRun(Path("runs/b"), "digits", "knn", 1797, 90),
        "settings": (Setting("seed", 0, None), Setting("data", ["a", "b"], 0.25)),
        "n_common": 20,
        "n_only_first": 0,
        "n_only_second": 0,
        "is_same_data": True,
        "changed": (
            ChangedPrediction("s1", "a", "0.512", "b", "0.75"),
            ChangedPrediction("s2", "c", "", "d", "x"),
        ),
    }
    return RunDifference(**(values | changes))


def test_row_has_all_facts_and_dashes_for_those_that_are_missing():
    full, bare = run_rows([RUN, ListedRun(Path("b"))])
    assert full == (
        "runs/a", "digits", "knn", "90 of 1,797", "90.0% (85 to 94)", "87.6%", "2.2 s",
        "2026-01-02 03:04",
    )  # fmt: skip
    assert bare == ("b", "-", "-", "-", "-", "-", "-", "")


@pytest.mark.parametrize(("estimate", "text"), [(None, "-"), (AccuracyEstimate(0.5), "50.0%")])
def test_estimate_without_an_interval(estimate, text):
    assert estimate_text(ListedRun(Path("a"), estimate=estimate)) == text


def test_problems_are_those_of_damaged_records():
    assert problem_lines([RUN, ListedRun(Path("b"), problem="it is damaged.")]) == [
        "it is damaged."
    ]


def test_rows_of_a_difference():
    assert setting_rows(difference()) == [("seed", "0", "none"), ("data", "a, b", "0.25")]
    assert changed_rows(difference(), 5) == [
        ("s1", "a", "0.51", "b", "0.75"),
        ("s2", "c", "", "d", "x"),
    ]
    assert len(changed_rows(difference(), 1)) == 1


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, "2 of 20 differ (10.0%). "),
        ({"changed": ()}, "0 of 20 differ (0.0%). "),
        ({}, "Both runs have the same samples."),
        ({"n_only_first": 3}, "20 samples are in both runs and compared; 3 are only in the first "),
        ({"is_same_data": False}, "The data differ; samples are matched by sample_id alone."),
        ({"settings": ()}, "No setting differs."),
        ({"settings": (Setting("seed", 0, 1),)}, "1 setting differs."),
        ({"second": ListedRun(Path("b"), method="svm")}, "The methods differ, so their parameters"),
        ({}, "accuracy 87.6% on 1,707 hidden labels."),
        ({}, "estimated accuracy 90.0% (85 to 94)"),
    ],
)
def test_text_says_what_is_compared(changes, words):
    assert words in " ".join(difference_text(difference(**changes), 10, 80).split()) + " "


def test_text_says_that_more_samples_differ_than_are_shown():
    assert "2 of 20 differ (10.0%); the first is below." in difference_text(difference(), 1, 80)
    many = difference(changed=difference().changed * 5)
    assert "10 of 20 differ (50.0%); the first 3 are below." in difference_text(many, 3, 80)
