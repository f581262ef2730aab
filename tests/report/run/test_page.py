"""The page of a run: whole, safe and small, whatever the method and the names."""

import re
from dataclasses import replace
from time import perf_counter
from types import SimpleNamespace

import numpy as np
import pytest
from pages import NASTY, NASTY_VIEWS, parts_of, run_of
from scipy import sparse

from manyview.base.method_card import MethodCard
from manyview.base.summary import FitSummary
from manyview.data.dataset import Dataset
from manyview.data.views import MultiView
from manyview.estimators.mixins import NetworkOutputsMixin
from manyview.explain.records import (
    ColumnEvidence,
    Evidence,
    Explanation,
    TableEvidence,
    ViewEffect,
    ViewEvidence,
)
from manyview.methods import METHODS
from manyview.network.training import TrainingCurve
from manyview.report.run.page import report_files, run_page, uncertain_below

MOST_BYTES = 2_000_000
HEADINGS = [
    "What to do next", "Classes", "Checks", "Map", "Samples", "Confusions", "Probabilities",
    "Reliability", "Views", "Columns", "Graph", "Training", "Settings",
]  # fmt: skip


def page_of(data, labels, model, **changes):
    return run_page(run_of(data, labels, model, **changes), data, labels, model)


def test_page_has_every_section_where_the_method_has_every_fact(fitted):
    parts = parts_of(page_of(*fitted))
    assert parts.text("h2") == [one for one in HEADINGS if one != "Columns"]  # of mixtures alone
    assert parts.text("h1") == ["<i>shapes</i>"]
    assert {
        "Least certain samples", "Classes", "Most frequent confusions", "Views",
        "The graph by stage", "Parameters", "Effect of removing a view",
        "Effect of abstaining below a probability",
    } <= set(parts.text("caption"))  # fmt: skip
    assert {
        "Map of the samples", "Probability of the prediction", "Node confidence",
        "Samples per class", "Confusion matrix", "View importance", "Edges per sample",
        "Accuracy by probability", "Accuracy by coverage",
        "Edge weight per sample", "Loss on the given labels", "Accuracy on the given labels",
    } == set(parts.text("title")[1:])  # fmt: skip


def test_page_gives_the_prediction_first(fitted):
    _, labels, model = fitted
    run = run_of(*fitted)
    page = run_page(run, *fitted)
    parts = parts_of(page)
    figures = dict(zip(parts.text("dt"), parts.text("strong"), strict=False))
    assert figures["samples labeled"] == "48"
    assert figures["accuracy"] == f"{run.scores.accuracy:.1%}"
    probabilities = model.label_distributions_.max(axis=1)[[label is None for label in labels]]
    level = uncertain_below(len(model.classes_))
    assert figures["to check"] == str((probabilities < level).sum())
    assert f"below {level:.2g}" in page


def test_names_from_the_data_never_become_markup(fitted):
    page = page_of(*fitted)
    parts = parts_of(page)
    data = {"type": "application/json", "id": "sample-data"}
    assert parts.all("script") == [{}, {}, data]
    for tag in ("b", "i", "u", "img"):
        assert not [found for found in parts.all(tag) if "onerror" in found or "src" in found]
    assert "<script>alert" not in page
    assert "<b>0</b>" not in page
    assert "<u>read" not in page
    shown = {text for _, text in parts.texts}
    assert set(NASTY) <= shown
    assert set(NASTY_VIEWS) <= shown


def test_page_loads_nothing_and_has_no_style_or_handler_in_its_markup(fitted):
    for tag, found in parts_of(page_of(*fitted)).elements:
        assert not [name for name in found if name.startswith("on") or name in ("style", "src")]
        if tag != "link" and not found.get("href", "#").startswith("#"):
            assert found["href"] in ("predictions.csv", "run.json", "history.csv")


def test_same_fit_gives_the_same_page(fitted):
    assert page_of(*fitted) == page_of(*fitted)


def test_warnings_are_shown(fitted):
    page = page_of(*fitted, warnings=("no sample of 1 of 4 classes is labeled",))
    assert "no sample of 1 of 4 classes is labeled" in parts_of(page).text("p")


@pytest.mark.parametrize("name", METHODS)
def test_page_of_every_method_is_whole(fitted, name):
    data, labels, _ = fitted
    method = METHODS[name]()
    known = method.get_params()
    few = {"random_state": 0, "max_epochs": 3}
    method.set_params(**{key: value for key, value in few.items() if key in known})
    method.fit(data.views, labels)
    parts = parts_of(
        report_files(run_of(data, labels, method), data, labels, method)["report.html"]
    )
    headings = parts.text("h2")
    assert [one for one in HEADINGS if one in headings] == headings
    assert {"What to do next", "Classes", "Checks", "Map", "Samples", "Views"} <= set(headings)


def made_up_fit(n_samples, n_classes, n_views=6, n_letters=13):
    """Return samples with a synthetic model; names of samples have at least `n_letters`."""
    rng = np.random.default_rng(0)
    names = np.array([f"class {number}" for number in range(n_classes)], dtype=object)
    truth = rng.integers(n_classes, size=n_samples)
    logits = rng.normal(size=(n_samples, n_classes)) + 5 * np.eye(n_classes)[truth]
    ends = rng.integers(n_samples, size=(n_views, 2, 10 * n_samples))
    graphs = [
        sparse.csr_array((np.ones(len(pair[0])), tuple(pair)), shape=(n_samples, n_samples))
        for pair in ends
    ]
    fused = sparse.csr_array(sum(graphs[1:], graphs[0]))
    order = np.argsort(names)
    distributions = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    curve = TrainingCurve([1.0] * 200, [0.5] * 200, "converged")
    confidence = rng.random(n_samples)
    model = SimpleNamespace(
        card=MethodCard("mgcn-dns", "MGCN-DNS", "", 2023, ""),
        get_params=lambda: {"hidden": 64},
        classes_=names[order],
        label_distributions_=distributions[:, order],
        transduction_=names[order][distributions[:, order].argmax(axis=1)],
        view_importance_=np.full(n_views, 1 / n_views),
        training_curve_=curve,
        fit_summary=lambda: FitSummary(
            training_curve=curve,
            view_graphs=graphs,
            graphs=dict.fromkeys(("fused", "refined", "selected"), fused),
            node_confidence=confidence,
            threshold=0.1,
        ),
    )
    views = MultiView({f"view {number}": np.zeros((n_samples, 1)) for number in range(n_views)})
    ids = np.array([f"sample-{row:0{n_letters - 7}}" for row in range(n_samples)])
    labels = np.where(rng.random(n_samples) < 0.05, names[truth], None)
    return Dataset("large", views, names[truth], ids, (), "0" * 64), labels, model


def test_page_of_ten_thousand_samples_is_small_and_fast():
    large = made_up_fit(10_000, 20)
    run = run_of(*large)
    start = perf_counter()
    page = run_page(run, *large)
    assert perf_counter() - start < 10  # 2 on a quiet machine
    assert len(page.encode()) < MOST_BYTES / 2
    assert "2,000 of 10,000 samples, drawn at random." in parts_of(page).text("span")


class Explained(NetworkOutputsMixin):
    """A made-up model that has everything a page can show: reasons, columns and pictures."""

    def __init__(self, made_up, names, n_columns=300):
        vars(self).update(vars(made_up))
        self.names, self.views = names, [f"view {number}" for number in range(3)]
        self.columns_ = {"view 0": [f"column with a long name {n}" for n in range(n_columns)]}
        model = SimpleNamespace(
            column_importance=lambda: np.full(n_columns, 1 / n_columns),
            column_places=lambda: [("view 0", number) for number in range(n_columns)],
        )
        self.table_learners_ = [
            SimpleNamespace(name=name, weight=0.5, model=model) for name in ("linear", "forest")
        ]

    def explainer(self):
        return self

    def view_effects(self, labels):
        return tuple(ViewEffect(one, 9, 0.1, 0, None, None) for one in self.views)

    def explain(self, row, names, with_sources):
        first, second = self.classes_[:2].tolist()
        shares = dict.fromkeys(self.views[:2], 0.5)
        near = [
            Evidence(other, names[other], first, first, shares, sign, 0.0)
            for other, sign in enumerate((3, 2, 1, -2, -1))
        ]
        views = [ViewEvidence(one, 0.0, 1.0, second, 0.5, True) for one in self.views]
        own = Evidence(row, names[row], None, first, {}, 0.0, 0.0)
        return Explanation(
            row, names[row], None, {}, first, second, 2.0, 0.0, 1.0, own, near, (), views
        )  # fmt: skip

    def with_columns(self, why, views):
        columns = [ColumnEvidence("view 0", name, 1.0) for name in self.columns_["view 0"][:3]]
        return replace(why, tables=(TableEvidence("linear", 1.0, 0.0, tuple(columns)),))


@pytest.mark.parametrize(("n_classes", "n_letters"), [(2, 13), (100, 80)])
def test_page_of_fifty_thousand_samples_is_below_two_megabytes(n_classes, n_letters):
    data, labels, model = made_up_fit(50_000, n_classes, n_views=3, n_letters=n_letters)
    pixels = np.random.default_rng(0).integers(17, size=(50_000, 64))
    views = MultiView({**{name: data.views[name] for name in data.views.names}, "pixels": pixels})
    run = run_of(data, labels, model)
    data = replace(data, name="digits", views=views)
    page = run_page(run, data, labels, Explained(model, data.sample_ids))
    assert "of 50,000 samples, drawn at random to keep this page small" in page
    assert page.count("Looks like samples ") > 400  # reasons of samples to check, and of cards
    assert page.count("data:image/png") > 30  # pictures of samples to check, and a sheet of others
    assert "The first 100 of 300 columns" in page
    assert "Importance for random forest" in page
    assert len(page.encode()) < MOST_BYTES


def test_page_opens_with_the_result_then_steps_classes_and_checks_and_no_row_of_signs(fitted):
    page = page_of(*fitted)
    parts = parts_of(page)
    assert parts.text("h2")[:3] == ["What to do next", "Classes", "Checks"]
    opening = page[page.index("<h1>") : page.index('<section id="what-to-do-next"')]
    assert "samples</b> were labeled from 12 known labels." in opening
    words = re.sub("<[^>]*>", " ", page[page.index("<h1>") : page.index('<section id="map"')])
    assert not re.search(r"[+\u2212-]\d\.\d\d", words)
    assert "Looks like sample" in words


def test_tile_of_two_classes_counts_predictions_nearer_to_chance_than_to_one():
    data, labels, model = made_up_fit(200, 2)
    model.label_distributions_[:, 0] = np.linspace(0, 1, 200)
    model.label_distributions_[:, 1] = 1 - model.label_distributions_[:, 0]
    page = page_of(data, labels, model)
    parts = parts_of(page)
    figures = dict(zip(parts.text("dt"), parts.text("strong"), strict=False))
    open_rows = np.array([label is None for label in labels])
    below = (model.label_distributions_.max(axis=1) < 0.75) & open_rows
    assert figures["to check"] == str(below.sum())
    assert below.sum() > 50
    assert "probability below 0.75" in page
    assert "below 0.5" not in page


def test_no_column_of_the_truth_where_there_is_none():
    data, labels, model = made_up_fit(200, 2)
    known = parts_of(page_of(data, labels, model)).text("th")
    assert {"truth", "by true class", "true", "recall"} <= set(known)
    data = replace(data, labels=labels)
    headings = parts_of(page_of(data, labels, model)).text("th")
    assert not {"truth", "by true class", "by the truth", "true", "recall"} & set(headings)
