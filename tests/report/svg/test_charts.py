import numpy as np
import pytest
from pages import parts_of

from manyview.report.svg.charts import MAX_STOPS, Series, bars, histogram, lines
from manyview.report.svg.heat_map import heat_map

SAID = {"description": "What to see."}
NAN = float("nan")


def tips_of(markup):
    return [found["data-tip"] for _, found in parts_of(markup).elements if "data-tip" in found]


def test_every_chart_has_a_title_and_a_description():
    drawn = [
        lines("Title", [1, 2], [Series("a", [1, 2])], x_name="x", **SAID),
        bars("Title", ["a"], [Series("n", [1])], **SAID),
        histogram("Title", {"a": np.arange(5)}, x_name="x", **SAID),
        heat_map(
            "Title", np.eye(2), "ab", "ab", axes=("r", "c"), texts=["12", "34"], tips=["12", "34"],
            **SAID,
        ),
    ]  # fmt: skip
    for one in drawn:
        parts = parts_of(one)
        assert parts.text("title") == ["Title"]
        assert parts.text("desc") == ["What to see."]
        (svg,) = parts.all("svg")
        assert (svg["role"], svg["aria-label"]) == ("img", "Title. What to see.")
        assert tips_of(one)


def test_lines_skip_gaps_and_show_values_with_their_band():
    one = Series("first", [1.0, NAN, 3.0, 4.0], low=[0.5, NAN, 2, 3], high=[1.5, NAN, 4, 5])
    drawn = lines("T", [1, 2, 3, 4], [one, Series("<b>", [0, 1, 2, 3])], x_name="epoch", **SAID)
    assert tips_of(drawn)[:2] == ["epoch 1\nfirst: 1 (0.5 to 1.5)\n<b>: 0", "epoch 2\n<b>: 1"]
    path = parts_of(drawn).all("path", class_="line c1")[0]["d"]
    assert path.count("M") == 2
    assert parts_of(drawn).all("path", class_="band c1")
    assert "<b>" in parts_of(drawn).text("li")


def test_long_lines_have_a_bounded_number_of_stops():
    drawn = lines("T", range(5000), [Series("a", range(5000))], x_name="x", **SAID)
    assert len(tips_of(drawn)) == MAX_STOPS


def test_lines_of_a_single_place_or_without_values_are_drawn():
    assert tips_of(lines("T", [3], [Series("a", [2.0])], x_name="x", **SAID)) == ["x 3\na: 2"]
    assert "NaN" not in lines("T", [1, 2], [Series("a", [NAN, NAN])], x_name="x", **SAID)


def test_bars_are_as_long_as_their_values():
    drawn = bars("T", ["a", "b"], [Series("n", [10, 5])], **SAID)
    long, short = (float(found["width"]) for found in parts_of(drawn).all("rect", class_="c1"))
    assert long == pytest.approx(2 * short, abs=0.1)


def test_stacked_bars_stand_end_to_end_and_show_the_total_and_the_remark():
    series = [Series("right", [6]), Series("wrong", [2])]
    drawn = bars("T", ["<band>"], series, stacked=True, remarks=["75% right"], **SAID)
    parts = parts_of(drawn)
    (first,), (second,) = parts.all("rect", class_="c1"), parts.all("rect", class_="c2")
    assert float(second["x"]) == pytest.approx(float(first["x"]) + float(first["width"]), abs=0.1)
    assert "8, 75% right" in parts.text("text")
    assert tips_of(drawn) == ["<band>\nright: 6\nwrong: 2\n75% right"]


def test_bars_take_nothing_but_zeros():
    widths = parts_of(bars("T", ["a"], [Series("n", [0])], **SAID)).all("rect", class_="c1")
    assert [found["width"] for found in widths] == ["0"]


def test_histogram_counts_every_value_once():
    groups = {"a": np.array([0.0, 0.1, 0.95]), "b": np.array([0.1, 1.0])}
    drawn = histogram("T", groups, x_name="x", span=(0, 1), n_bins=2, **SAID)
    assert tips_of(drawn) == ["0 to 0.5\na: 2\nb: 1", "0.5 to 1\na: 1\nb: 1"]


def test_histogram_outlines_later_groups():
    groups = {"before": np.arange(9.0), "after": np.arange(9.0)}
    drawn = histogram("T", groups, x_name="x", stacked=False, **SAID)
    assert parts_of(drawn).all("path", class_="line c2")


def test_histogram_takes_values_that_are_all_alike():
    assert tips_of(histogram("T", {"a": np.full(3, 7.0)}, x_name="x", n_bins=2, **SAID))
