from markupsafe import Markup
from pages import parts_of

from manyview.report.html.tables import Column, HtmlCell, pairs, table

COLUMNS = [Column("name"), Column("size", is_number=True, hint="in cm")]
ROWS = [["<hen>", "3"], ["cow", HtmlCell(Markup("<b>9</b>"), 9.5)], ["cat", None]]


def test_table_has_a_caption_scopes_and_aligned_numbers():
    parts = parts_of(table("Animals", COLUMNS, ROWS))
    assert parts.text("caption") == ["Animals"]
    assert [heading["scope"] for heading in parts.all("th")] == ["col", "col", "row", "row", "row"]
    assert parts.all("th", title="in cm")[0]["class"] == "number"
    assert [cell["class"] for cell in parts.all("td")] == ["number"] * 3
    assert parts.all("td", data_value="9.5")
    assert "<hen>" in parts.text("th")
    region = parts.all("div", role="region")[0]
    assert (region["tabindex"], region["aria-label"]) == ("0", "Animals")


def test_table_is_sortable_from_three_rows_on():
    assert "data-sortable" in parts_of(table("Animals", COLUMNS, ROWS)).all("table")[0]
    assert "data-sortable" not in parts_of(table("Animals", COLUMNS, ROWS[:2])).all("table")[0]
    fixed = parts_of(table("Animals", COLUMNS, ROWS, sortable=False))
    assert "data-sortable" not in fixed.all("table")[0]


def test_table_marks_its_order_and_columns_that_do_not_sort():
    columns = [Column("name"), Column("notes", is_sortable=False)]
    parts = parts_of(table("Animals", columns, ROWS, sorted_by=0))
    assert [heading.get("aria-sort") for heading in parts.all("th", scope="col")] == [
        "ascending",
        None,
    ]
    assert "data-fixed" in parts.all("th", scope="col")[1]


def test_cards_keep_the_roles_of_a_table_and_name_their_cells():
    parts = parts_of(table("Animals", COLUMNS, ROWS, as_cards=True, n_first=2, filterable=True))
    whole = parts.all("table", role="table")[0]
    assert (whole["data-first"], whole["class"]) == ("2", "cards")
    assert len(parts.all("tr", role="row")) == 4
    assert len(parts.all("td", role="cell", data_name="size")) == 3


def test_pairs_have_a_heading_in_each_row():
    parts = parts_of(pairs("Settings", [("seed", 3), ("<b>", "<i>")]))
    assert parts.text("th") == ["seed", "<b>"]
    assert parts.text("td") == ["3", "<i>"]


def test_cells_show_a_softer_detail_and_their_kind():
    rows = [
        ["a", HtmlCell("<x>", 0.5, detail="<0.50>", kind="strong")],
        ["b", HtmlCell("y", kind="warm")],
    ]
    parts = parts_of(table("T", COLUMNS, rows, note="<why>"))
    assert parts.text("b") == ["<x>"]
    assert parts.text("span") == ["<0.50>", "y"]
    assert parts.text("p") == ["<why>"]


def test_empty_cells_of_cards_stay_empty():
    made = table("T", COLUMNS, [["a", None], ["b", "3"]], as_cards=True)
    assert made.count("<div>") == 3
