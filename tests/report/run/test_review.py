"""Samples to check: the least certain, with the reasons of their predictions."""

import re
from functools import partial

import numpy as np
import pytest
from pages import parts_of, run_of

from manyview.estimators.mgcn_dns import MGCNDNSClassifier
from manyview.methods import METHODS
from manyview.report.html.markup import join
from manyview.report.run.facts import describe_samples
from manyview.report.run.page import run_page
from manyview.report.run.review import review_section


def page_of(data, labels, model, **changes):
    return run_page(run_of(data, labels, model, **changes), data, labels, model)


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
    part = review_section(
        facts,
        model.selected_graph_,
        {"a": model.view_graphs_[0]},
        partial(model.explainer().explain, names=[str(name) for name in data.sample_ids]),
    )
    texts = [text for _, text in parts_of(join(*part.parts)).texts]
    first = texts.index(next(text for text in texts if text.startswith(("+", "-"))))
    written = re.findall(r"[+-]\d+\.\d\d", " ".join(texts[first : first + 13]))[:5]
    odds = np.log(facts.probabilities[row] / facts.second_probabilities[row])
    assert sum(map(float, written)) == pytest.approx(odds, abs=0.03)


def test_view_whose_removal_changes_a_prediction_is_named(fitted):
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


def test_labels_for_all_samples_leave_only_contradicted_labels(fitted):
    data, _, _ = fitted
    model = MGCNDNSClassifier(max_epochs=2, random_state=0).fit(data.views, data.labels)
    parts = parts_of(page_of(data, data.labels, model, label_ratio=None))
    assert "Least certain samples" not in parts.text("caption")
    assert any("none was left to label" in text for text in parts.text("p"))
