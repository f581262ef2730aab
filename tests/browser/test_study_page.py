"""The page of a study in a real browser: interactive, in both themes, on a phone."""

from pathlib import Path

import pytest

from manyview.experiments.plan import load_plan
from manyview.experiments.study import Study
from manyview.report.study.page import study_page

pytestmark = pytest.mark.browser
RESULTS = Path(__file__).parent.parent.parent / "results"


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The main table, from the records stored in the project."""
    study = Study.open(load_plan("accuracy"), RESULTS, "no data needed")
    text = study_page(study)
    assert len(text.encode()) < 2_000_000
    file = tmp_path_factory.mktemp("study") / "accuracy.html"
    file.write_text(text, encoding="utf-8")
    return file


def test_tables_sort_and_filter(report, open_page):
    page = open_page(report)
    table = page.locator("table").first
    heading = table.locator("thead th", has_text="bbcsports")
    heading.get_by_role("button").click()
    assert heading.get_attribute("aria-sort") == "descending"
    place = [th.inner_text() for th in table.locator("thead th").all()].index(heading.inner_text())
    texts = [
        row.locator("th, td").nth(place).inner_text() for row in table.locator("tbody tr").all()
    ]
    numbers = [float(text.split("(")[0].strip("≈ab \n")) for text in texts if "(" in text]
    assert len(numbers) > 10
    assert numbers == sorted(numbers, reverse=True)
    box = page.get_by_role("searchbox").first
    box.fill("MLAN")
    rows = page.locator("#comparison-with-the-paper tbody tr:not([hidden])")
    assert rows.count() > 0
    assert all("MLAN" in row.inner_text() for row in rows.all())


def test_pointing_at_a_mark_shows_its_values(report, open_page):
    page = open_page(report)
    mark = page.locator("svg [data-tip]").first
    mark.scroll_into_view_if_needed()
    page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 100)))")
    mark.hover()
    tip = page.locator("#tip")
    assert tip.is_visible()
    assert any(character.isdigit() for character in tip.inner_text())


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_follows_the_system(report, open_page, scheme):
    page = open_page(report, color_scheme=scheme)
    ground = page.locator("body").evaluate("(body) => getComputedStyle(body).backgroundColor")
    assert ground == {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 22, 27)"}[scheme]


@pytest.mark.parametrize("width", [390, 768])
def test_narrow_screen_does_not_scroll_sideways(report, open_page, width):
    page = open_page(report, width=width, height=844)
    assert page.evaluate("document.documentElement.scrollWidth") == width
