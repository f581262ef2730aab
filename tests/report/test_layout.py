from manyview.report.layout import set_sections, set_table


def test_paragraphs_are_wrapped_next_to_the_heading():
    text = set_sections([("Data", ["one two three four five six seven", "eight"])], width=26)
    assert text.splitlines() == [
        "Data  one two three four",
        "      five six seven",
        "      eight",
    ]


def test_tables_and_long_words_are_never_broken():
    table = set_table(("a", "b"), [("x" * 30, "1")], "<>")
    text = set_sections([("Data", [table, "y" * 40])], width=26)
    assert "x" * 30 + "  1" in text
    assert "y" * 40 in text


def test_no_line_ends_in_a_blank():
    text = set_sections([("A", ["one", "", set_table(("a", "b"), [("long", "")], "<<")])], width=80)
    assert text == "A  one\n\n   a     b\n   long"


def test_wide_terminals_get_lines_of_at_most_100_characters():
    text = set_sections([("A", ["word " * 60])], width=200)
    assert 90 < max(map(len, text.splitlines())) <= 100
