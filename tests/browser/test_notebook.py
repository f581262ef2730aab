"""What notebooks show, in a browser: readable in light and dark, and the report in its frame."""

import pytest
from models import manyview

from manyview import MultiView

pytestmark = pytest.mark.browser

THEMES = {"light": ("#ffffff", "#212121"), "dark": ("#111111", "#e8e8e8")}
# Contrast of text with the page behind it, by the formula of the W3C.
CONTRAST = """selector => {
    const shade = color => {
        const [r, g, b] = color.match(/[\\d.]+/g).slice(0, 3).map(Number).map(value => {
            const part = value / 255;
            return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = shade(getComputedStyle(document.body).backgroundColor);
    return Math.min(...[...document.querySelectorAll(selector)].map(one => {
        const text = shade(getComputedStyle(one).color);
        return (Math.max(text, behind) + 0.05) / (Math.min(text, behind) + 0.05);
    }));
}"""


@pytest.fixture(scope="module")
def model(shared_views):
    model = manyview(max_epochs=5, random_state=0)
    return model.fit(shared_views.views, shared_views.known_labels)


def write(folder, theme, *parts):
    """Write a page that looks like the output of a notebook."""
    paper, ink = THEMES[theme]
    file = folder / f"{theme}.html"
    style = f"body{{background:{paper};color:{ink}}}"
    body = f'<body data-jp-theme-light="{str(theme == "light").lower()}">'
    # The page of a notebook has an icon of its own.
    head = f'<meta charset="utf-8"><link rel="icon" href="data:,"><style>{style}</style>'
    file.write_text(f"<!doctype html>{head}{body}{''.join(parts)}</body>", encoding="utf-8")
    return file


@pytest.mark.parametrize("theme", THEMES)
def test_tables_are_readable(theme, model, shared_views, open_page, tmp_path):
    shown = [
        MultiView(shared_views.views)._repr_html_(),
        model.explain(7)._repr_html_(),
        model._learned_html(),  # without scikit-learn's diagram, whose script logs a line
    ]
    page = open_page(write(tmp_path, theme, *shown), color_scheme=theme)
    assert page.locator(".manyview").count() == 3
    assert page.evaluate(CONTRAST, ".manyview th, .manyview td, .manyview p") > 10


def test_the_rules_of_jupyterlab_do_not_align_texts_to_the_right(shared_views, open_page, tmp_path):
    rule = ":not(.other).jp-RenderedHTMLCommon td,:not(.other).jp-RenderedHTMLCommon th"
    views = MultiView(shared_views.views)._repr_html_()
    cell = f'<style>{rule}{{text-align:right}}</style><div class="jp-RenderedHTMLCommon">{views}'
    page = open_page(write(tmp_path, "light", f"{cell}</div>"))
    sides = page.eval_on_selector_all(
        "tbody tr:first-child > *", "cells => cells.map(one => getComputedStyle(one).textAlign)"
    )
    assert sides == ["left", "right", "left"]


def test_the_report_is_shown_in_its_frame(model, shared_views, open_page, tmp_path):
    report = model.report(y=shared_views.labels, name="shapes")
    page = open_page(write(tmp_path, "light", report._repr_html_()))
    frame = page.frame_locator("iframe")
    assert frame.locator("h1").inner_text() == "shapes"
    frame.locator("nav a", has_text="Views").click()
    top = frame.locator("#views h2").evaluate("one => one.getBoundingClientRect().top")
    assert 0 <= top < 300
    assert page.evaluate("document.querySelectorAll('h1').length") == 0
