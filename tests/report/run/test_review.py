"""Samples to check: the least certain, with the reasons of their predictions."""

import numpy as np
from pages import parts_of, run_of

from manyview.estimators.mgcn_dns import MGCNDNSClassifier
from manyview.methods import METHODS
from manyview.report.run.facts import describe_samples
from manyview.report.run.page import run_page
from manyview.report.run.reasons import reason_sentence


def page_of(data, labels, model, **changes):
    return run_page(run_of(data, labels, model, **changes), data, labels, model)


def test_samples_to_check_are_the_least_certain_with_their_neighbors(fitted):
    data, labels, model = fitted
    parts = parts_of(page_of(*fitted))
    open_rows = np.flatnonzero([label is None for label in labels])
    probabilities = model.label_distributions_.max(axis=1)
    least = open_rows[np.argsort(probabilities[open_rows], kind="stable")[:3]]
    texts = [text for _, text in parts.texts]
    start = next(place for place, text in enumerate(texts) if text.startswith("Least certain"))
    rows = [text for text in texts[start:] if text in set(data.sample_ids)]
    assert rows[0] == data.sample_ids[least[0]]
    why = model.explain(int(least[0]), sample_ids=data.sample_ids)
    shown = [text for _, text in parts.texts]
    assert reason_sentence(why, data.views.names) in shown


def test_view_whose_removal_changes_a_prediction_is_named(fitted):
    data, labels, model = fitted
    least = describe_samples(data, labels, model).least_certain(30)
    explainer, names = model.explainer(), [str(name) for name in data.sample_ids]
    changes = [
        f"{one.view} it would be {one.prediction_without}"
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
    model = METHODS["mlan"]().fit(data.views, labels)
    part = parts_of(page_of(data, labels, model))
    assert any(text.startswith("Nearest: sample") for text in part.text("span"))
    assert not any(text.startswith("Nearest: ") for text in parts_of(page_of(*fitted)).text("span"))


def test_labels_for_all_samples_leave_only_contradicted_labels(fitted):
    data, _, _ = fitted
    model = MGCNDNSClassifier(max_epochs=2, random_state=0).fit(data.views, data.labels)
    parts = parts_of(page_of(data, data.labels, model, label_ratio=None))
    assert "Least certain samples" not in parts.text("caption")
    assert any("none was left to label" in text for text in parts.text("p"))
