"""The page of a run: whole, safe and small, whatever the method and the names."""

import re
from dataclasses import replace
from functools import partial
from time import perf_counter
from types import SimpleNamespace

import numpy as np
import pytest
from pages import NASTY, NASTY_VIEWS, fit_nasty, parts_of, run_of
from scipy import sparse

from manyview.base.classifier import MethodCard
from manyview.data.dataset import Dataset
from manyview.data.label_values import is_known, mark_unknown
from manyview.data.views import MultiView
from manyview.estimators.calibration import expected_calibration_error
from manyview.estimators.mgcn_dns import MGCNDNSClassifier
from manyview.methods import METHODS
from manyview.network.training import TrainingCurve
from manyview.report.run.facts import describe_samples
from manyview.report.run.page import report_files, run_page
from manyview.report.run.review import check_section
from manyview.runs.abstaining import Abstention

MOST_BYTES = 2_000_000
HEADINGS = [
    "Check these first", "Map", "How sure", "Trust", "Classes", "Mix-ups", "Views", "Graph",
    "Learning", "Data and settings",
]  # fmt: skip


@pytest.fixture(scope="module")
def fitted():
    return fit_nasty(max_epochs=30)


def page_of(data, labels, model, **changes):
    return run_page(run_of(data, labels, model, **changes), data, labels, model)


def test_page_has_every_section_where_the_method_has_every_fact(fitted):
    parts = parts_of(page_of(*fitted))
    assert parts.text("h2") == HEADINGS
    assert parts.text("h1") == ["<i>shapes</i>"]
    assert {
        "Least certain samples", "Classes", "Most frequent mix-ups", "Views",
        "The graph, stage by stage", "Parameters", "What each view is needed for",
        "What abstaining below a probability gives",
    } <= set(parts.text("caption"))  # fmt: skip
    assert {
        "Map of the samples", "Probability of the prediction", "Confidence in the graph",
        "Samples by class", "True class by prediction", "View importance", "Edges of a sample",
        "Right predictions by probability", "Right predictions by share predicted",
        "Edge weight of a sample", "Loss on the given labels", "Accuracy on the given labels",
    } == set(parts.text("title")[1:])  # fmt: skip


def test_page_gives_the_prediction_first(fitted):
    _, labels, model = fitted
    run = run_of(*fitted)
    parts = parts_of(run_page(run, *fitted))
    figures = dict(zip(parts.text("dt"), parts.text("strong"), strict=False))
    assert figures["samples labeled"] == "48"
    assert figures["accuracy"] == f"{run.scores.accuracy:.1%}"
    probabilities = model.label_distributions_.max(axis=1)[[label is None for label in labels]]
    assert figures["to look at"] == str((probabilities < 0.5).sum())


def test_names_from_the_data_never_become_markup(fitted):
    page = page_of(*fitted)
    parts = parts_of(page)
    assert parts.all("script") == [{}]
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
        if tag != "link":
            assert found.get("href", "#").startswith("#")


def test_samples_to_check_are_the_least_certain_with_their_neighbors(fitted):
    data, labels, model = fitted
    parts = parts_of(page_of(*fitted))
    open_rows = np.flatnonzero([label is None for label in labels])
    probabilities = model.label_distributions_.max(axis=1)
    least = open_rows[np.argsort(probabilities[open_rows], kind="stable")[:3]]
    rows = [text for inside, text in parts.texts if text in set(data.sample_ids)]
    assert [one for one in rows if one in set(data.sample_ids[least])][:3]
    assert rows[0] == data.sample_ids[least[0]]
    why = model.explain(int(least[0]), sample_ids=data.sample_ids)
    shown = [text for _, text in parts.texts]
    for one in why.neighbors[:3]:
        assert any(text.startswith(f"{one.name} in ") for text in shown)
        assert any(text.startswith(f"{one.margin:+.2f}") for text in shown)


def test_reasons_shown_add_up_to_the_log_odds(fitted):
    data, _, model = fitted
    facts = describe_samples(data, fitted[1], model)
    row = int(facts.least_certain(1)[0])
    part = check_section(
        facts,
        model.selected_graph_,
        {"a": model.view_graphs_[0]},
        partial(model.explainer().explain, names=[str(name) for name in data.sample_ids]),
    )
    texts = [text for _, text in parts_of(part.body).texts]
    first = texts.index(next(text for text in texts if text.startswith(("+", "-"))))
    written = re.findall(r"[+-]\d+\.\d\d", " ".join(texts[first : first + 13]))[:5]
    odds = np.log(facts.probabilities[row] / facts.second_probabilities[row])
    assert sum(map(float, written)) == pytest.approx(odds, abs=0.03)


def test_view_that_changes_an_prediction_is_named_there(fitted):
    data, labels, model = fitted
    least = describe_samples(data, labels, model).least_certain(30)
    explainer, names = model.explainer(), [str(name) for name in data.sample_ids]
    changes = [
        f"{one.prediction_without} without {one.view}"
        for row in least
        for one in explainer.explain(int(row), names).views
        if one.changes_prediction
    ]
    assert changes
    texts = "\n".join(text for _, text in parts_of(page_of(*fitted)).texts)
    for one in changes:
        assert one in texts


def test_method_without_reasons_keeps_its_strongest_neighbors(fitted):
    data, labels, _ = fitted
    model = METHODS["amgl"]().fit(data.views, labels)
    part = parts_of(page_of(data, labels, model))
    assert "reasons" not in part.text("th")
    assert "reasons" in parts_of(page_of(*fitted)).text("th")


def test_left_out_views_are_counted_on_hidden_labels_alone(fitted):
    data, labels, model = fitted
    effects = model.view_effects(mark_unknown(data.labels, is_known(labels)))
    parts = parts_of(page_of(*fitted))
    texts = [text for _, text in parts.texts]
    for one in effects:
        assert f"{one.fraction_changed:.1%}" in texts
        assert f"{one.accuracy_without:.1%}" in texts
    said = f"Accuracy is on the 48 hidden labels; with all views it is {effects[0].accuracy:.1%}."
    assert any(said in text for text in parts.text("p"))


def test_trust_is_counted_on_hidden_labels_else_on_those_held_out():
    data, labels, model = fit_nasty(max_epochs=5, calibration="temperature")
    intro = " ".join(parts_of(page_of(data, labels, model)).text("p"))
    assert "Counted on the 48 labels kept hidden." in intro
    hidden = ~is_known(labels)
    truth = np.searchsorted(model.classes_, data.labels[hidden])
    error = expected_calibration_error(model.label_distributions_[hidden], truth)
    assert f"how often they are right, is {error:.1%}; without calibration it would be" in intro
    before = fit_nasty(max_epochs=5)[2].label_distributions_[hidden]
    plain = expected_calibration_error(before, truth)
    assert f"without calibration it would be {plain:.1%}." in intro
    assert "comes from 12 held-out labels, so few that it is a hint only." in intro
    bare = page_of(replace(data, labels=labels), labels, model, label_ratio=None)
    intro = " ".join(parts_of(bare).text("p"))
    assert "Counted on the 12 labels held out to calibrate, by fits without them." in intro


def test_abstaining_is_counted_and_marked(fitted):
    data, labels, model = fitted
    run = run_of(*fitted)
    below = float(np.median(model.label_distributions_.max(axis=1)).round(3))
    run = replace(
        run,
        settings=replace(run.settings, abstain_below=below),
        abstention=Abstention(below, 20, 28, 0.75),
    )
    parts = parts_of(run_page(run, data, labels, model))
    assert "left unknown" in parts.text("dt")
    assert f"{below:g} or more, as asked" in parts.text("th")
    hidden = ~is_known(labels)
    share = (model.label_distributions_.max(axis=1)[hidden] >= below).mean()
    assert f"{share:.1%}" in parts.text("td")


def test_same_fit_gives_the_same_page(fitted):
    assert page_of(*fitted) == page_of(*fitted)


def test_warnings_are_shown(fitted):
    page = page_of(*fitted, warnings=("no sample of 1 of 4 classes is labeled",))
    assert "no sample of 1 of 4 classes is labeled" in parts_of(page).text("p")


def test_truth_that_is_not_known_leaves_out_what_needs_it(fitted):
    data, labels, model = fitted
    page = page_of(replace(data, labels=labels), labels, model, label_ratio=None)
    parts = parts_of(page)
    assert "Mix-ups" not in parts.text("h2")
    assert not {"accuracy", "recall", "truth", "right or wrong"} & {t for _, t in parts.texts}


def test_labels_for_all_samples_leave_only_doubts_about_them(fitted):
    data, _, _ = fitted
    model = MGCNDNSClassifier(max_epochs=2, random_state=0).fit(data.views, data.labels)
    parts = parts_of(page_of(data, data.labels, model, label_ratio=None))
    assert "Least certain samples" not in parts.text("caption")
    assert any("none was left to label" in text for text in parts.text("p"))


def test_class_that_only_the_truth_has_is_counted(fitted):
    data, labels, model = fitted
    truth = data.labels.copy()
    truth[np.flatnonzero([label is None for label in labels])[0]] = "unseen"
    parts = parts_of(page_of(replace(data, labels=truth), labels, model))
    assert "unseen" in parts.text("th")


@pytest.mark.parametrize("without", ["graph_learning", "node_selection"])
def test_switched_off_modules_are_left_out(fitted, without):
    data, labels, _ = fitted
    model = MGCNDNSClassifier(max_epochs=2, random_state=0, **{without: None})
    parts = parts_of(page_of(data, labels, model.fit(data.views, labels)))
    has_confidence = "Confidence in the graph" in parts.text("title")
    assert has_confidence == (without == "graph_learning")


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
    assert {"Check these first", "Map", "How sure", "Classes", "Views"} <= set(headings)


@pytest.fixture
def large():
    """10,000 samples of 20 classes in 6 views, with a model made by hand."""
    rng = np.random.default_rng(0)
    n_samples, n_classes, n_views = 10_000, 20, 6
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
    model = SimpleNamespace(
        card=MethodCard("mgcn-dns", "MGCN-DNS", "", 2023, ""),
        get_params=lambda: {"hidden": 64},
        classes_=names[order],
        label_distributions_=distributions[:, order],
        transduction_=names[order][distributions[:, order].argmax(axis=1)],
        view_importance_=np.full(n_views, 1 / n_views),
        view_graphs_=graphs,
        fused_graph_=fused,
        refined_graph_=fused,
        selected_graph_=fused,
        node_confidence_=rng.random(n_samples),
        threshold_=0.1,
        training_curve_=TrainingCurve([1.0] * 200, [0.5] * 200, "converged"),
    )
    views = MultiView({f"view {number}": np.zeros((n_samples, 1)) for number in range(n_views)})
    ids = np.array([f"sample-{row:06}" for row in range(n_samples)])
    labels = np.where(rng.random(n_samples) < 0.05, names[truth], None)
    return Dataset("large", views, names[truth], ids, (), "0" * 64), labels, model


def test_page_of_ten_thousand_samples_is_small_and_fast(large):
    run = run_of(*large)
    start = perf_counter()
    page = run_page(run, *large)
    assert perf_counter() - start < 10  # 2 on a quiet machine
    assert len(page.encode()) < MOST_BYTES / 2
    assert "2,000 of 10,000 samples, drawn at random." in parts_of(page).text("span")
