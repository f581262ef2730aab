from importlib.resources import files

import pytest
from jinja2 import UndefinedError
from markupsafe import Markup
from pages import NASTY, parts_of

from manyview.report.html.markup import ENVIRONMENT, element, join, render


def test_text_is_escaped_and_markup_is_not():
    assert parts_of(join("<b> & \"'")).texts == [("", "<b> & \"'")]
    assert join("<", Markup("<hr>"), 3, None) == "&lt;<hr>3"


def test_attributes_are_escaped_and_named_as_in_html():
    text = '"><script>\n&'
    made = element("td", text, class_=text, data_value=0.25, aria_sort=None)
    assert "<script>" not in made
    assert parts_of(made).all("td") == [{"class": text, "data-value": "0.25"}]


def test_templates_escape_every_value():
    made = render("fold", summary=NASTY[0], content=NASTY[1])
    assert [text for _, text in parts_of(made).texts] == list(NASTY[:2])
    assert render("fold", summary="", content=Markup("<hr>")).count("<hr>") == 1


def test_every_template_escapes_by_default_and_compiles():
    folder = files("manyview.report.html") / "templates"
    names = sorted(one.name for one in folder.iterdir())
    assert names == ENVIRONMENT.list_templates()
    assert len(names) > 10
    for name in names:
        template = ENVIRONMENT.get_template(name)
        assert template.environment.autoescape is True
        assert "|safe" not in (folder / name).read_text(encoding="utf-8").replace(" ", "")


def test_missing_values_are_an_error():
    with pytest.raises(UndefinedError, match="content"):
        render("fold", summary="s")
