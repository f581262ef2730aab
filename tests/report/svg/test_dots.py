from pages import parts_of

from manyview.report.svg.dots import Dot, DotRow, dot_chart

SAID = {"description": "What to see.", "x_name": "accuracy (%)"}
ROWS = [
    DotRow("<ours>", [Dot(90.0, 1.0, 91.0, "90.0 (1.0)"), None], is_strong=True),
    DotRow("theirs", [Dot(None, 0.0, None, "failed"), None]),
]


def test_dots_show_mean_deviation_and_the_papers_value():
    parts = parts_of(dot_chart("T", ["10% labels", "20% labels"], ROWS, **SAID))
    assert len(parts.all("circle", class_="c1")) == 1
    assert len(parts.all("path", class_="line c1")) == 1
    assert "×" in parts.text("text")
    assert "× marks the value in the paper" in parts.text("span")
    assert len(parts.all("text", class_="end strong")) == 1
    assert "<ours>" in parts.text("text")


def test_rows_without_a_value_say_so_and_tips_name_what_was_not_planned():
    parts = parts_of(dot_chart("T", ["10% labels", "20% labels"], ROWS, **SAID))
    assert "no result" in parts.text("text")
    tips = [found["data-tip"] for found in parts.all("g")]
    assert tips == [
        "<ours>\n10% labels: 90.0 (1.0)\n20% labels: not planned",
        "theirs\n10% labels: failed\n20% labels: not planned",
    ]


def test_chart_without_any_value_is_drawn():
    assert "no result" in dot_chart("T", ["a"], [DotRow("r", [None])], **SAID)
