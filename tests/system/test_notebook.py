"""HTML for notebooks: escaped, complete, in the colors of the notebook."""

import re

from pages import parts_of

from manyview.system.notebook import STYLE, Bar, html_box, html_table, html_text, in_notebook


def test_values_are_escaped_everywhere():
    nasty = "<script>alert(1)</script>\"'&"
    table = html_table((nasty, "b"), [(nasty, Bar(0.5, nasty))], "<>", caption=nasty)
    parts = parts_of(html_box(nasty, html_text(nasty), table))
    assert not parts.all("script")
    assert [text for _, text in parts.texts].count(nasty) == 6


def test_style_names_no_color_and_loads_nothing():
    assert not re.search(r"#[0-9a-f]{3}|rgb|url|http|@import|:white|:black", STYLE, re.IGNORECASE)
    assert "currentColor" in STYLE


def test_long_table_counts_the_rest():
    table = html_table(("n",), [(number,) for number in range(15)], "<", n_rows=10, rest="rows")
    parts = parts_of(table)
    assert len(parts.all("th", scope="row")) == 10
    assert parts.text("td") == ["and 5 rows"]


def test_numbers_align_to_the_right():
    parts = parts_of(html_table(("view", "size"), [("pixels", 64)], "<>"))
    assert len(parts.all("td", class_="number")) == 1
    assert len(parts.all("th", class_="number")) == 1


def test_bars_stay_between_nothing_and_full():
    parts = parts_of(html_table(("a",), [(Bar(x, ""),) for x in (-1.0, 0.5, 7.0)], "<"))
    assert [one["style"] for one in parts.all("span")] == ["width:0px", "width:40px", "width:80px"]


def test_a_notebook_is_recognized(notebook):
    assert in_notebook()


def test_a_terminal_is_no_notebook():
    assert not in_notebook()
