"""The page on performance says what the stored measurements say, and nothing else."""

import tomllib

import pytest
from performance import page, plots, ranking, tables
from performance.growth import exponent

from manyview.data.catalog import find_card

FIGURES = tables.figure_rows()


def test_page_is_what_the_measurements_say():
    path = page.DOCS / "performance.md"
    assert path.read_text() == page.page(), "run: python benchmarks/run.py page"


@pytest.mark.parametrize("name", FIGURES)
def test_figure_shows_the_stored_rows(name):
    text = (page.DOCS / f"performance-{name}.svg").read_text()
    assert f"rows {plots.checksum(FIGURES[name])}" in text, "run: python benchmarks/run.py page"


def test_figures_of_the_same_rows_are_the_same():
    first, second = page.figures(), page.figures()
    assert first
    assert first == second


def test_exponent_is_the_power_that_was_put_in():
    sizes = [10, 100, 1000]
    assert exponent(sizes, [3 * size**1.15 for size in sizes]) == pytest.approx(1.15)


def test_shares_of_the_blocks_make_a_whole_epoch():
    for row in FIGURES["blocks"]:
        shares = row["blocks"].values()
        assert min(shares) >= 0
        assert sum(shares) == pytest.approx(1)


def test_plan_of_the_ranking_compares_fast_with_exact_on_known_data():
    plan = tomllib.loads(ranking.PLAN.read_text())
    assert [find_card(name).name for name in plan["datasets"]] == plan["datasets"]
    assert {name: entry["params"] for name, entry in plan["methods"].items()} == {
        "exact": {"ranking": "exact"},
        "fast": {"ranking": "fast"},
    }
