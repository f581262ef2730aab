import numpy as np
from pages import NASTY, parts_of

from manyview.report.svg.heat_map import heat_map

SAID = {"description": "What to see."}
NAN = float("nan")


def tips_of(markup):
    return [found["data-tip"] for _, found in parts_of(markup).elements if "data-tip" in found]


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
