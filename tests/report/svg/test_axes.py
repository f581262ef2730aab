import pytest

from manyview.report.svg.axes import Scale, round_ticks, shorten

NAN = float("nan")


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
