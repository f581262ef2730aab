from pages import parts_of

from manyview.report.html.markup import Html, element, join, safe


def test_text_is_escaped_and_markup_is_not():
    assert safe("<b> & \"'") == "&lt;b&gt; &amp; &quot;&#x27;"
    assert safe(Html("<b>")) == "<b>"
    assert safe(None) == ""
    assert join("<", Html("<hr>"), 3, None) == "&lt;<hr>3"


def test_attributes_are_escaped_and_named_as_in_html():
    text = '"><script>\n&'
    made = element("td", text, class_=text, data_value=0.25, aria_sort=None, hidden=True, a=False)
    assert "<script>" not in made
    assert parts_of(made).all("td") == [{"class": text, "data-value": "0.25", "hidden": None}]


def test_void_elements_are_not_closed():
    assert element("input", type="radio") == '<input type="radio">'


def test_characters_that_no_browser_shows_are_replaced():
    assert safe("a\x00b\x1bc\ud800") == "a\ufffdb\ufffdc?"
    assert safe("tab\tand\nline") == "tab\tand\nline"
