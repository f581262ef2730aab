"""Reasons as a sentence: neighbors, views, own columns, and what speaks against."""

from dataclasses import replace

from manyview.explain.records import (
    ColumnEvidence,
    Evidence,
    Explanation,
    TableEvidence,
    ViewEvidence,
)
from manyview.report.run.reasons import reason_sentence

BOTH = {"shape": 0.5, "color": 0.5}
WHY = Explanation(
    7, "s7", None, {}, "cow", "hen", 2.0, 1.0, 1.0,
    Evidence(7, "s7", None, "cow", BOTH, 0.0, 0.0),
    (
        Evidence(3, "s3", "cow", "cow", BOTH, 0.8, 0.0),
        Evidence(9, "s9", None, "hen", {"shape": 1.0}, 0.0, 0.4),
    ),
    (),
    (
        ViewEvidence("shape", 0.1, 0.4, "hen", 0.5, True),
        ViewEvidence("color", 1, 0, "cow", 1, False),
    ),
)  # fmt: skip


def test_sentence_names_neighbors_views_and_doubts():
    assert reason_sentence(WHY, ["shape", "color"]) == (
        "Looks like sample s3, labeled cow, in both views; but also like sample s9, found to be "
        "hen. Without shape it would be hen."
    )


def test_view_disagrees_unless_the_named_neighbors_are_its_own():
    neighbor = replace(WHY.neighbors[0], views={"color": 1.0})
    alone = replace(WHY, neighbors=(neighbor,))
    assert reason_sentence(alone, ["shape", "color"]) == (
        "Looks like sample s3, labeled cow, in color; shape disagrees. Without shape it would be "
        "hen."
    )


def test_neighbors_of_a_third_class_are_named_only_without_others():
    third = Evidence(5, "s5", "pig", "pig", BOTH, 0.9, 0.0)
    with_third = replace(WHY, neighbors=(third, *WHY.neighbors))
    assert "s5" not in reason_sentence(with_third, ["shape", "color"])
    only = replace(WHY, neighbors=(third,))
    assert "Looks like sample s5, labeled pig" in reason_sentence(only, ["shape", "color"])


def test_sentence_is_no_row_of_signs():
    sentence = reason_sentence(WHY, ["shape", "color"])
    assert not set("+*|·") & set(sentence)
    assert sentence[0].isupper()
    assert sentence.endswith(".")


def test_own_columns_are_named_where_they_carry_much_of_the_margin():
    columns = (ColumnEvidence("a", "mass", 0.6), ColumnEvidence("a", "3", 0.2))
    with_table = replace(WHY, tables=(TableEvidence("linear", 0.8, 0.0, columns),))
    words = "Its own columns say cow, too, above all mass and column 3 of a."
    assert words in reason_sentence(with_table, ["shape", "color"])
    weak = replace(WHY, tables=(TableEvidence("linear", 0.1, 0.0, columns),))
    assert "columns" not in reason_sentence(weak, ["shape", "color"])
    against = replace(WHY, logit=1.2, tables=(TableEvidence("linear", 0.0, 0.8),))
    assert "Its own columns say hen." in reason_sentence(against, ["shape", "color"])


def test_sample_without_neighbors_has_a_sentence():
    alone = replace(WHY, neighbors=(), views=())
    assert reason_sentence(alone, []).startswith("Its own features decide")
