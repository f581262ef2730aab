"""The page of a run in a real browser: interactive, in both themes, on a phone."""

import re

import pytest
from pages import fit_nasty, run_of

from manyview.report.run.page import run_page

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    data, labels, model = fit_nasty(max_epochs=30)
    file = tmp_path_factory.mktemp("run") / "report.html"
    file.write_text(run_page(run_of(data, labels, model), data, labels, model), encoding="utf-8")
    return file


def column(page, number, table="#checks table.cards"):
    rows = page.locator(f"{table} tbody tr:not([hidden])")
    return [row.locator("th, td").nth(number).inner_text() for row in rows.all()]


def point_at(page, mark):
    """Bring a mark into view, let the scrolling end, and point at it."""
    mark.scroll_into_view_if_needed()
    page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 100)))")
    mark.hover()


def style_of(page, selector, name):
    return page.locator(selector).first.evaluate(
        "(element, name) => getComputedStyle(element)[name]", name
    )


def test_tables_sort_by_click_and_by_keyboard(report, open_page):
    page = open_page(report)
    heading = page.locator("#classes thead th", has_text="found")
    assert heading.get_attribute("aria-sort") == "none"
    heading.get_by_role("button").click()
    assert heading.get_attribute("aria-sort") == "descending"
    counts = list(map(int, column(page, 2, "#classes table")))
    assert counts == sorted(counts, reverse=True)
    heading.get_by_role("button").focus()
    page.keyboard.press("Enter")
    assert heading.get_attribute("aria-sort") == "ascending"
    assert column(page, 2, "#classes table") == [str(count) for count in sorted(counts)]


def test_samples_to_check_come_sorted_cut_and_searchable(report, open_page):
    page = open_page(report)
    shown = column(page, 1)
    assert len(shown) == 8
    probabilities = [float(text.split()[-1]) for text in shown]
    assert probabilities == sorted(probabilities)
    prediction = page.locator("#checks .cards th", has_text="prediction")
    assert prediction.get_attribute("aria-sort") == "ascending"
    first = column(page, 0)[0]
    page.get_by_role("button", name="Show all 30").click()
    assert len(column(page, 1)) == 30
    page.get_by_role("searchbox").first.fill(first)
    assert first in column(page, 0)
    assert page.get_by_text(" of 30 rows").is_visible()
    page.get_by_role("searchbox").first.fill("nothing like this")
    assert column(page, 0) == []


def test_pointing_at_a_mark_shows_its_values(report, open_page):
    page = open_page(report)
    tip = page.locator("#tip")
    assert tip.is_hidden()
    point_at(page, page.locator("#views g[data-tip]").first)
    assert "importance: " in tip.inner_text()
    point_at(page, page.locator("h1"))
    assert tip.is_hidden()
    point_at(page, page.locator("#map .marks > *").last)
    assert tip.inner_text().startswith("<b>")
    box = tip.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 1200


def test_arrow_keys_walk_through_a_chart(report, open_page):
    page = open_page(report)
    chart = page.locator("#training svg").first
    chart.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("document.querySelector('#tip').textContent.startsWith('epoch 2')")
    page.keyboard.press("Escape")
    assert page.locator("#tip").is_hidden()


def test_touch_shows_tips(report, open_page):
    page = open_page(report, width=390, height=844, has_touch=True)
    mark = page.locator("#views g[data-tip]").first
    point_at(page, mark)
    mark.tap()
    assert "importance: " in page.locator("#tip").inner_text()


def test_map_is_colored_by_class_by_confidence_and_by_truth(report, open_page):
    page = open_page(report)
    colors = set()
    for choice in ("class", "confidence", "right or wrong"):
        page.locator("#map label", has_text=choice).click()
        colors.add(style_of(page, "#map .marks > *", "fill"))
    assert len(colors) == 3
    assert page.locator("#map .of-truth").is_visible()
    page.locator("#map label", has_text="class").click()
    button = page.locator("#map [data-group]").first
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    assert 0 < page.locator("#map .marks .dim").count() < 60
    button.click()
    assert page.locator("#map .marks .dim").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_follows_the_system_and_the_button(report, open_page, scheme):
    page = open_page(report, color_scheme=scheme)
    light, dark = "rgb(255, 255, 255)", "rgb(18, 22, 27)"
    own, other = (light, dark) if scheme == "light" else (dark, light)
    assert style_of(page, "body", "backgroundColor") == own
    page.locator("button.theme").click()
    assert style_of(page, "body", "backgroundColor") == other
    # A page may be loaded again before the browser has stored the choice.
    for _ in range(20):
        page.reload()
        if style_of(page, "body", "backgroundColor") == other:
            return
        page.wait_for_timeout(250)
    pytest.fail("the choice was not remembered")


CONTRAST = """() => {
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const light = (color) => {
    canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1);
    const parts = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map((part) => part / 255)
      .map((part) => part <= .04045 ? part / 12.92 : ((part + .055) / 1.055) ** 2.4);
    return .2126 * parts[0] + .7152 * parts[1] + .0722 * parts[2];
  };
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor;
      if (color !== "rgba(0, 0, 0, 0)") return color;
    }
  };
  const kinds = "h1, h2, p, td, th, dt, dd strong, dd span, li, summary, a, b";
  return [...document.querySelectorAll(kinds)]
    .filter((element) => element.checkVisibility() && element.textContent.trim())
    .map((element) => {
      const both = [light(getComputedStyle(element).color), light(ground(element))];
      const [a, b] = both.sort((x, y) => y - x);
      return [(a + .05) / (b + .05), element.tagName + " " + element.className];
    });
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(report, open_page, scheme):
    page = open_page(report, color_scheme=scheme)
    pale = [found for found in page.evaluate(CONTRAST) if found[0] < 4.5]
    assert pale == []


@pytest.mark.parametrize("width", [320, 390, 768])
def test_narrow_screen_does_not_scroll_sideways(report, open_page, width):
    page = open_page(report, width=width, height=844)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    wide = page.evaluate(
        """() => [...document.querySelectorAll("main *")]
          .filter((one) => !one.closest(".scroll, svg, .unseen, .of-groups"))
          .filter((one) => one.checkVisibility())
          .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
          .map((one) => one.tagName + " " + one.className)"""
    )
    assert wide == []
    if width < 640:
        assert style_of(page, "#checks .cards tbody tr", "display") == "block"


def test_print_shows_every_row_and_no_controls(report, open_page):
    page = open_page(report)
    page.emulate_media(media="print")
    assert not page.locator("button.theme").is_visible()
    assert not page.locator("#map .choice").is_visible()
    assert page.locator("#checks .cards tbody tr").last.is_visible()


def test_paper_has_no_sort_marks_nothing_to_click_and_nothing_wider_than_it(report, open_page):
    page = open_page(report, width=680)  # A4 without its margins
    page.emulate_media(media="print")
    heading = page.locator("#checks thead button").first
    assert heading.evaluate("one => getComputedStyle(one, '::after').content") == "none"
    assert not page.locator("#samples").is_visible()
    assert not page.get_by_text("Click a point").is_visible()
    wide = page.evaluate(
        """() => [...document.querySelectorAll("main *")]
          .filter((one) => !one.closest("svg, .unseen") && one.checkVisibility())
          .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
          .map((one) => one.tagName + " " + one.className)"""
    )
    assert wide == []
    assert len(re.findall(rb"/Type /Page\b", page.pdf(format="A4"))) < 12


def test_names_from_the_data_are_shown_as_they_are(report, open_page):
    page = open_page(report)
    assert page.locator("h1").inner_text() == "<i>shapes</i>"
    names = column(page, 0, "#classes table")
    assert sorted(names) == sorted(["<script>alert(1)</script>", "a\"b'c", "Öl & Gas"])
    code = "main script:not([type='application/json'])"
    assert page.locator(f"{code}, main img").count() == 0


def test_page_reads_without_a_script(report, open_page):
    page = open_page(report, java_script_enabled=False)
    assert page.locator("#checks .cards tbody tr").count() == 30
    assert page.locator("#checks .cards tbody tr").last.is_visible()
    assert not page.locator("button.theme").is_visible()
    assert page.locator("#map .marks > *").count() == 60


def test_click_on_the_map_shows_the_card_of_the_sample(report, open_page):
    page = open_page(report)
    card = page.locator("#sample-card")
    assert card.is_hidden()
    page.locator("#map .marks > *").last.dispatch_event("click")
    assert card.locator("h3").inner_text().startswith("<b>")
    assert "prediction" in card.inner_text()
    page.keyboard.press("Escape")
    assert card.is_hidden()


def test_table_of_all_samples_is_searched(report, open_page):
    page = open_page(report)
    rows = page.locator("#sample-table tbody tr")
    assert rows.count() == 20
    page.locator("#sample-table input").fill("<b>42</b>")
    assert rows.count() == 1
    rows.locator("button").click()
    assert page.locator("#sample-card h3").inner_text() == "<b>42</b>"
