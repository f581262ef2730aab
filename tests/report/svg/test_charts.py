import numpy as np
import pytest
from pages import NASTY, parts_of

from manyview.report.svg.axes import Scale, round_ticks, shorten
from manyview.report.svg.charts import MOST_STOPS, Series, bars, histogram, lines
from manyview.report.svg.heat_map import heat_map
from manyview.report.svg.scatter import MOST_POINTS, Points, sampled, scatter_map

SAID = {"description": "What to see."}
NAN = float("nan")


def tips_of(markup):
    return [found["data-tip"] for _, found in parts_of(markup).elements if "data-tip" in found]


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0, 1, [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (-3, 7, [-4.0, -2.0, 0.0, 2.0, 4.0, 6.0, 8.0]),
        (5, 5, [5.0, 5.2, 5.4, 5.6, 5.8, 6.0]),
        (NAN, NAN, [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (0, 1e-7, [0.0, 2e-8, 4e-8, 6e-8, 8e-8, 1e-7]),
    ],
)
def test_ticks_are_round_and_cover_the_range(low, high, ticks):
    assert round_ticks(low, high) == pytest.approx(ticks)


def test_scale_is_straight_and_takes_an_empty_range():
    assert [Scale(0, 10, 100, 0)(value) for value in (0, 5, 10)] == [100, 50, 0]
    assert Scale(3, 3, 10, 20)(3) == 10


def test_long_names_are_cut():
    assert shorten("elephants", 6) == "eleph…"
    assert shorten("eleph", 6) == "eleph"


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


def test_lines_skip_gaps_and_tell_values_with_their_band():
    one = Series("first", [1.0, NAN, 3.0, 4.0], low=[0.5, NAN, 2, 3], high=[1.5, NAN, 4, 5])
    drawn = lines("T", [1, 2, 3, 4], [one, Series("<b>", [0, 1, 2, 3])], x_name="epoch", **SAID)
    assert tips_of(drawn)[:2] == ["epoch 1\nfirst: 1 (0.5 to 1.5)\n<b>: 0", "epoch 2\n<b>: 1"]
    path = parts_of(drawn).all("path", class_="line c1")[0]["d"]
    assert path.count("M") == 2
    assert parts_of(drawn).all("path", class_="band c1")
    assert "<b>" in parts_of(drawn).text("li")


def test_long_lines_have_a_bounded_number_of_stops():
    drawn = lines("T", range(5000), [Series("a", range(5000))], x_name="x", **SAID)
    assert len(tips_of(drawn)) == MOST_STOPS


def test_lines_of_a_single_place_or_without_values_are_drawn():
    assert tips_of(lines("T", [3], [Series("a", [2.0])], x_name="x", **SAID)) == ["x 3\na: 2"]
    assert "NaN" not in lines("T", [1, 2], [Series("a", [NAN, NAN])], x_name="x", **SAID)


def test_bars_are_as_long_as_their_values():
    drawn = bars("T", ["a", "b"], [Series("n", [10, 5])], **SAID)
    long, short = (float(found["width"]) for found in parts_of(drawn).all("rect", class_="c1"))
    assert long == pytest.approx(2 * short, abs=0.1)


def test_stacked_bars_stand_end_to_end_and_tell_the_total_and_the_remark():
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


def test_histogram_outlines_later_groups_and_marks_a_value():
    groups = {"before": np.arange(9.0), "after": np.arange(9.0)}
    drawn = histogram("T", groups, x_name="x", stacked=False, mark=(4.0, "here"), **SAID)
    assert parts_of(drawn).all("path", class_="line c2")
    assert "here" in parts_of(drawn).text("text")


def test_histogram_takes_values_that_are_all_alike():
    assert tips_of(histogram("T", {"a": np.full(3, 7.0)}, x_name="x", n_bins=2, **SAID))


def points_of(n_points, names=NASTY, **changes):
    rng = np.random.default_rng(0)
    facts = {
        "places": rng.normal(size=(n_points, 2)),
        "groups": np.arange(n_points) % len(names),
        "names": list(names),
        "levels": rng.random(n_points),
        "tips": [f"<b>{row}</b>" for row in range(n_points)],
        "is_given": np.arange(n_points) < 2,
    }
    return Points(**(facts | changes))


def test_map_has_a_mark_a_sample_and_the_least_sure_above():
    points = points_of(20)
    drawn = scatter_map("T", points, **SAID)
    assert sorted(tips_of(drawn)) == sorted(points.tips)
    unsure = points.tips[2 + int(points.levels[2:].argmin())]
    assert tips_of(drawn)[-3] == unsure  # the two given samples lie on top of all
    assert "<script>alert(1…" in parts_of(drawn).text("text")
    assert len(parts_of(drawn).all("input", type="radio")) == 2


def test_map_offers_right_and_wrong_where_that_is_known():
    drawn = scatter_map("T", points_of(20, is_wrong=np.arange(20) == 5), **SAID)
    assert len(parts_of(drawn).all("input", type="radio")) == 3
    marks = parts_of(drawn).all("circle")
    assert sum("wrong" in found["class"].split() for found in marks) == 1


def test_map_of_many_groups_has_two_shapes_and_names_only_some():
    drawn = scatter_map("T", points_of(120, [f"g{n}" for n in range(40)]), **SAID)
    assert parts_of(drawn).all("rect")
    assert "and 16 more" in parts_of(drawn).text("li")


def test_map_of_samples_in_one_place_is_drawn():
    assert "NaN" not in scatter_map("T", points_of(4, places=np.zeros((4, 2))), **SAID)


def test_many_points_are_sampled_the_same_way_every_time():
    np.testing.assert_array_equal(sampled(5), np.arange(5))
    first, second = sampled(9000), sampled(9000)
    assert len(first) == len(set(first.tolist())) == MOST_POINTS
    np.testing.assert_array_equal(first, second)


def test_heat_map_colors_the_diagonal_of_a_confusion_apart():
    values = np.array([[1.0, 0.0], [0.25, NAN]])
    grid = [["1", ""], ["<2>", "3"]]
    drawn = heat_map(
        "T", values, NASTY[:2], NASTY[:2], axes=("true", "found"), texts=grid, tips=grid,
        is_confusion=True, **SAID,
    )  # fmt: skip
    parts = parts_of(drawn)
    assert (
        len(parts.all("rect", class_="hit-cell")) == len(parts.all("rect", class_="miss-cell")) == 2
    )
    assert tips_of(drawn) == ["1", "", "<2>", "3"]
    assert "nan" not in drawn


def test_large_heat_map_leaves_its_numbers_to_the_tips():
    n = 30
    grid = [[f"{row}-{column}" for column in range(n)] for row in range(n)]
    names = [f"a long class name {row}" for row in range(n)]
    drawn = heat_map(
        "T", np.eye(n), names, names, axes=("true", "found"), texts=grid, tips=grid, **SAID
    )
    assert "3-3" in tips_of(drawn)
    assert "3-3" not in parts_of(drawn).text("text")
