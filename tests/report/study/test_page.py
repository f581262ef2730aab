import re
from html.parser import HTMLParser

import pytest

from manyview.report.study.page import study_page
from manyview.report.study.results import METRICS, study_results
from manyview.report.study.sections import findings

HEAD = 'title = "A <b>toy</b> & more"\ndatasets = ["barn", "field"]\nseeds = [0, 1]\n'
METHODS = "[methods.knn]\n[methods.svm]\n[methods.mgcn-dns]\n"
PAPER = '[paper.barn]\nknn = { "0.1" = [80.0, 1.0] }\n'
ACCURACY = {"knn": 0.7, "svm": 0.8, "mgcn-dns": 0.9}
GRAPH = [[0.0, 1.0], [1.0, 0.5]]
KEPT = {
    "curve": {
        "loss": [2.0, 1.0, 0.5],
        "labeled_accuracy": [0.5, 0.9, 1.0],
        "test_accuracy": [0.4, 0.7, 0.8],
    },
    "view_names": ["<shape>", "color"],
    "view_importance": [0.25, 0.75],
    "mixing_weights": [[0.5, 0.5], [0.0, 1.0]],
    "graphs": {"fused": GRAPH, "refined": GRAPH, "selected": GRAPH},
    "graph_edges": {"fused": 4, "refined": 4, "selected": 3},
}
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


def said(study):
    return findings(study, study_results(study, METRICS["accuracy"]))


@pytest.fixture
def study(make_study, done):
    def outcome(cell, trial):
        if (cell.dataset, cell.entry) == ("field", "svm"):
            return {"status": "failed", "reason": "<no> memory"}
        return done(ACCURACY[cell.entry] + 0.01 * trial.seed)

    return make_study(HEAD + METHODS + PAPER, outcome)


def test_page_is_whole_and_loads_nothing(study):
    page = study_page(study)
    outline = Outline(page)
    assert outline.open == []
    assert outline.headings == [
        "Accuracy",
        "Tables",
        "Against the paper",
        "What is missing",
        "Settings",
        "How to get these results",
    ]
    assert not re.search(r'(src|href)="https?:', page)
    assert len(page) < 2_000_000


def test_page_shows_no_text_as_markup(study):
    page = study_page(study)
    assert "<b>toy</b>" not in page
    assert "A &lt;b&gt;toy&lt;/b&gt; &amp; more" in page
    assert "<no> memory" not in page


def test_page_tells_numbers_failures_and_differences(study):
    page = study_page(study)
    assert "<b>90.5 (0.7)</b>" in page
    assert "&lt;no&gt; memory" in page
    assert "One mean differs" in page
    tips = Outline(page).tips
    assert any(tip.startswith("KNN\n") and "paper 80.0 (1.0)" in tip for tip in tips)


def test_page_gives_settings_versions_and_command(study):
    page = study_page(study)
    assert f"manyview bench run toy.toml --out {study.store.folder}" in page
    assert "3.11.0" in page
    assert "n_neighbors" in page


@pytest.mark.parametrize(
    ("plan", "heading"),
    [
        ("label_ratios = [0.1, 0.2, 0.3]\n" + METHODS, "Accuracy by labels"),
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


def test_page_draws_what_was_kept(make_study, done):
    plan = HEAD + "[methods.mgcn-dns]\n"
    page = study_page(make_study(plan, lambda cell, trial: done(0.9, **KEPT)))
    assert Outline(page).headings[:3] == ["Learning", "Views", "Graphs"]
    assert "&lt;shape&gt;" in page
    assert "selected, 3 edges" in page


def test_page_of_a_study_not_begun_says_so(make_study):
    study = make_study(HEAD + METHODS, lambda cell, trial: None, {"field": "field is not here."})
    page = study_page(study)
    assert "No trial of this study is done yet." in page
    assert "field is not here." in page


def test_leader_and_order_are_told(study):
    assert said(study) == [
        "MGCN-DNS has the highest mean accuracy on 2 of 2 data sets.",
        "By average rank over the one case that all methods have, the order is MGCN-DNS (1.0), "
        "SVM (2.0), KNN (3.0).",
    ]


def test_shared_leads_and_open_trials_are_told(make_study, done):
    plan = HEAD + "label_ratios = [0.1, 0.2]\n[methods.knn]\n[methods.svm]\n"
    best = {"barn": "knn", "field": "svm"}

    def outcome(cell, trial):
        if cell.label_ratio == 0.2 and cell.dataset == "field":
            return None
        if cell.label_ratio == 0.2:
            return done(0.5)
        return done(0.9 if best[cell.dataset] == cell.entry else 0.8)

    assert said(make_study(plan, outcome))[0] == (
        "So far KNN has the highest mean accuracy in 2 of 3 cases (a data set with a share of "
        "labels), SVM in 2; equal means share a case."
    )


def test_settings_stand_in_quotes(make_study, done):
    plan = HEAD + '[methods.plain]\nmethod = "mgcn-dns"\nparams = { tau = 0.5 }\n[methods.knn]\n'
    study = make_study(plan, lambda cell, trial: done(0.9 if cell.entry == "plain" else 0.5))
    assert said(study)[0].startswith("“plain” has the highest")


def test_grid_tells_how_much_it_matters(make_study, done):
    plan = HEAD + "[methods.mgcn-dns]\ngrid = { tau = [0.5, 1.0] }\n"
    gain = {"barn": 0.01, "field": 0.05}
    study = make_study(
        plan, lambda cell, _: done(0.8 + gain[cell.dataset] * (cell.point[0][1] == 1.0))
    )
    assert said(study) == [
        "Over the values of tau tried, the mean accuracy of MGCN-DNS moves by 1.0 points on barn "
        "and by 5.0 on field, the least and the most.",
        "Tau 1 is best on 2 of 2 data sets, so one setting serves all.",
    ]


def test_single_method_tells_its_accuracy(make_study, done):
    study = make_study(HEAD + "[methods.knn]\n", lambda cell, trial: done(0.75))
    assert said(study) == ["KNN has a mean accuracy of 75.0 % on barn and 75.0 % on field."]
