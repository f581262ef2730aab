"""Sections on the model: effects of views, graphs, and the stages of training."""

from dataclasses import replace

import numpy as np
import pytest
from pages import parts_of, run_of

from manyview.base.summary import FitSummary, StageRecord
from manyview.data.label_values import is_known, mark_unknown
from manyview.estimators.manyview import ManyviewClassifier
from manyview.estimators.mgcn_dns import MGCNDNSClassifier
from manyview.report.run.model import stage_words, training_section, view_section
from manyview.report.run.page import run_page


def page_of(data, labels, model, **changes):
    return run_page(run_of(data, labels, model, **changes), data, labels, model)


def test_effects_of_removed_views_are_measured_on_hidden_labels_alone(fitted):
    data, labels, model = fitted
    effects = model.view_effects(mark_unknown(data.labels, is_known(labels)))
    parts = parts_of(page_of(*fitted))
    texts = [text for _, text in parts.texts]
    for one in effects:
        assert f"{one.fraction_changed:.1%}" in texts
        assert f"{one.accuracy_without:.1%}" in texts
    said = (
        "Accuracy is measured on the 48 hidden labels; with all views it is "
        f"{effects[0].accuracy:.1%}."
    )
    assert any(said in text for text in parts.text("p"))


@pytest.mark.parametrize("without", ["graph_learning", "node_selection"])
def test_switched_off_modules_are_left_out(fitted, without):
    data, labels, _ = fitted
    model = MGCNDNSClassifier(max_epochs=2, random_state=0, **{without: None})
    parts = parts_of(page_of(data, labels, model.fit(data.views, labels)))
    has_confidence = "Node confidence" in parts.text("title")
    assert has_confidence == (without == "graph_learning")


def test_page_counts_the_networks_that_were_trained(fitted):
    data, labels, _ = fitted
    model = ManyviewClassifier(random_state=0, max_iter=2).set_params(estimator__max_epochs=3)
    model.fit(data.views, labels)
    assert (model.n_networks_, len(model.stages_)) == (2, 2)
    intro = " ".join(parts_of(page_of(data, labels, model)).text("p"))
    assert "The curves belong to the last of 2 networks." in intro
    changed = " and then ".join(f"{one.changed:.1%}" for one in model.stages_)
    assert f"Between self-training stages, {changed} of predictions changed." in intro


def test_single_network_without_stages_is_not_mentioned():
    assert stage_words(FitSummary(n_networks=1)) == ""
    stage = StageRecord(5, 0.5, np.ones(1))
    assert "network" not in stage_words(FitSummary(n_networks=1, stages=(stage,)))


def test_objective_is_drawn_where_there_are_no_epochs(fitted):
    run = run_of(*fitted)
    part = training_section(run, FitSummary(objective=[3.0, 2.0, 1.5]))
    assert part.intro == "mgcn-dns minimized its objective in 3 iterations."
    assert training_section(run, FitSummary(objective=[3.0])) is None
    assert training_section(run, FitSummary()) is None


def test_weights_of_a_baseline_are_its_importance(fitted):
    run = replace(run_of(*fitted), view_importance=None)
    part = view_section(run, FitSummary(view_weights=np.array([1.0, 3.0])), {})
    assert {"25.0%", "75.0%"} <= set(parts_of(part.parts[0]).text("td"))
    part = view_section(run, FitSummary(view_weights=np.zeros(2)), {})
    assert "%" not in part.parts[0]
