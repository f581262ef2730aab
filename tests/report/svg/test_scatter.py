import numpy as np
from pages import NASTY, parts_of

from manyview.report.svg.scatter import MAX_POINTS, Points, sampled, scatter_map

SAID = {"description": "What to see."}


def tips_of(markup):
    return [found["data-tip"] for _, found in parts_of(markup).elements if "data-tip" in found]


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


def test_map_has_one_mark_per_sample_with_the_least_confident_on_top():
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
    assert len(first) == len(set(first.tolist())) == MAX_POINTS
    np.testing.assert_array_equal(first, second)
