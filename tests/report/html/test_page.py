import re
from base64 import b64encode
from hashlib import sha256

from markupsafe import Markup
from pages import parts_of

from manyview.report.html.markup import element
from manyview.report.html.page import (
    Figure,
    folded,
    html_page,
    key_figures,
    notes,
    section,
    side_by_side,
)

SECTIONS = [section("One", intro="first"), section("How <sure>?", Markup("text")), section("Three")]


def test_page_is_whole_and_names_its_parts():
    page = html_page(
        "A <b>", SECTIONS, kicker="kick", lead="The prediction.", opening=Markup("open")
    )
    parts = parts_of(page)
    assert page.startswith('<!doctype html>\n<html lang="en">')
    assert parts.text("title") == ["A <b> · manyview"]
    assert parts.text("h1") == ["A <b>"]
    assert parts.text("h2") == ["One", "How <sure>?", "Three"]
    assert [link["href"] for link in parts.all("a")] == [
        "#content", "#one", "#how-sure", "#three",
    ]  # fmt: skip
    ids = [found["id"] for _, found in parts.elements if "id" in found]
    assert len(ids) == len(set(ids))
    assert {name["aria-labelledby"] for name in parts.all("section")} <= set(ids)
    assert parts.all("meta", name="viewport")


def test_page_loads_nothing():
    page = html_page("Title", SECTIONS)
    parts = parts_of(page)
    assert parts.all("script") == [{}]
    assert not parts.all("img")
    assert [link["href"].split(",")[0] for link in parts.all("link")] == ["data:image/svg+xml"]
    assert not re.search(r"url\(|@import|fetch\(|XMLHttpRequest|import\(", page)
    addresses = re.findall(r"https?://[\w./]+", page)
    assert set(addresses) <= {"http://www.w3.org/2000/svg"}


def test_only_the_pages_own_script_and_style_may_run():
    page = html_page("Title", SECTIONS)
    (policy,) = (
        found["content"]
        for found in parts_of(page).all("meta", http_equiv="Content-Security-Policy")
    )
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    for tag in ("script", "style"):
        content = re.search(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)[1]
        assert b64encode(sha256(content.encode()).digest()).decode() in policy


def test_page_has_no_style_attributes_which_its_policy_forbids():
    assert not [
        found for _, found in parts_of(html_page("T", SECTIONS)).elements if "style" in found
    ]


def test_contents_are_left_out_of_short_pages():
    assert not parts_of(html_page("Title", SECTIONS[:2])).all("nav")


def test_figures_notes_and_folds_escape_what_they_hold():
    made = (
        key_figures([Figure("<1>", "<2>", "<3>")])
        + notes(["<4>"])
        + folded("<5>", element("p", "<6>"))
    )
    texts = [text for _, text in parts_of(made).texts]
    assert texts == ["<2>", "<1>", "<3>", "<4>", "<5>", "<6>"]
    assert parts_of(notes(["careful"], kind="warning")).all("div", class_="warning", role="alert")
    assert notes([]) is None


def test_single_parts_stand_alone():
    one, other = element("p", "one"), element("p", "other")
    assert side_by_side(one, None) == one
    assert parts_of(side_by_side(one, other)).all("div", class_="pair")


def test_characters_that_no_browser_shows_are_replaced():
    page = html_page("a\x00b\x1bc\ud800", [section("S", intro="tab\tand\nline")])
    assert parts_of(page).text("h1") == ["a\ufffdb\ufffdc?"]
    assert "tab\tand\nline" in page
