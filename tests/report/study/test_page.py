import re
from html.parser import HTMLParser

import pytest

from manyview.report.study.page import study_page

HEAD = 'title = "A <b>toy</b> & more"\ndatasets = ["barn", "field"]\nseeds = [0, 1]\n'
METHODS = "[methods.knn]\n[methods.svm]\n[methods.mgcn-dns]\n"
PAPER = '[paper.barn]\nknn = { "0.1" = [80.0, 1.0] }\n'
ACCURACY = {"knn": 0.7, "svm": 0.8, "mgcn-dns": 0.9}
VOID = {"meta", "link", "br", "hr", "img", "input"}


class Outline(HTMLParser):
    """Tags that are open, headings, and all text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.headings: list[str] = []
        self.tips: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)
        self.tips += [value for name, value in attrs if name == "data-tip"]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] == "h2":
            self.headings.append(data)


def test_page_is_whole_and_loads_nothing(compared_study):
    page = study_page(compared_study)
    outline = Outline(page)
    assert outline.open == []
    assert outline.headings == [
        "Accuracy",
        "Tables",
        "Comparison with the paper",
        "Missing results",
        "Settings",
        "How to reproduce",
    ]
    assert not re.search(r'(src|href)="https?:', page)
    assert len(page) < 2_000_000


def test_page_shows_no_text_as_markup(compared_study):
    page = study_page(compared_study)
    assert "<b>toy</b>" not in page
    assert "A &lt;b&gt;toy&lt;/b&gt; &amp; more" in page
    assert "<no> memory" not in page


def test_page_shows_numbers_failures_and_differences(compared_study):
    page = study_page(compared_study)
    assert ">90.5 (0.7)</b>" in page
    assert "&lt;no&gt; memory" in page
    assert "One mean differs" in page
    tips = Outline(page).tips
    assert any(tip.startswith("KNN\n") and "paper 80.0 (1.0)" in tip for tip in tips)


def test_page_gives_settings_versions_and_command(compared_study):
    page = study_page(compared_study)
    assert f"manyview bench run toy.toml --out {compared_study.store.folder}" in page
    assert "3.11.0" in page
    assert "n_neighbors" in page


@pytest.mark.parametrize(
    ("plan", "heading"),
    [
        ("label_ratios = [0.1, 0.2, 0.3]\n" + METHODS, "Accuracy by label ratio"),
        ("[methods.mgcn-dns]\ngrid = { n_neighbors = [5, 10] }\n", "Accuracy by n_neighbors"),
        (
            "[methods.mgcn-dns]\ngrid = { gamma = [0.5, 1.0], tau = [0.1, 1.0] }\n",
            "Accuracy by gamma and tau",
        ),
    ],
)
def test_page_draws_what_the_plan_varies(make_study, done, plan, heading):
    page = study_page(make_study(HEAD + plan, lambda cell, trial: done(ACCURACY[cell.entry])))
    assert Outline(page).headings[0] == heading


def test_page_draws_what_was_kept(make_study, done, kept):
    plan = HEAD + "[methods.mgcn-dns]\n"
    page = study_page(make_study(plan, lambda cell, trial: done(0.9, **kept)))
    assert Outline(page).headings[:3] == ["Training", "Views", "Graphs"]
    assert "&lt;shape&gt;" in page
    assert "selected, 3 edges" in page


def test_page_of_a_study_without_results_has_no_charts(make_study):
    study = make_study(HEAD + METHODS, lambda cell, trial: None, {"field": "field is not here."})
    page = study_page(study)
    assert "No trial of this study has finished yet." in page
    assert "field is not here." in page


def test_page_gives_the_p_value_against_the_best(compared_study):
    tips = Outline(study_page(compared_study)).tips
    assert "p value against the best: < 0.001" in tips
    assert not any("0.000" in tip for tip in tips)
