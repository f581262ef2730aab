"""Reasons for new samples add up to what `predict` predictions, and name what they hang on."""

import numpy as np
import pytest

from manyview.data.views import MultiView
from manyview.errors import InputError
from manyview.estimators.mgcn_dns import MGCNDNSClassifier

VARIANTS = {
    "default": {},
    "one layer": {"n_layers": 1},
    "three layers": {"n_layers": 3},
    "plain": {"graph_learning": None, "node_selection": None},
    "top-k": {"node_selection": "top-k", "n_selected": 4},
    "calibrated": {"calibration": "temperature"},
}


def fit(tiny_views, **params):
    views = MultiView(tiny_views.views)
    settings = {"random_state": 0, "max_epochs": 15, "n_neighbors": 4, **params}
    model = MGCNDNSClassifier(**settings)
    return model.fit(views[:50], tiny_views.known_labels[:50]), views[50:]


@pytest.mark.parametrize("params", VARIANTS.values(), ids=VARIANTS)
def test_parts_add_up_to_the_logits_that_predict_has(tiny_views, params):
    model, new = fit(tiny_views, **params)
    logits = model.inductive_state_.logits(new) / model.temperature_
    probabilities = model.predict_proba(new)
    for row in range(len(new)):
        why = model.explain_new(new, row)
        prediction, runner_up = np.argsort(-logits[row])[:2]
        assert (why.prediction, why.runner_up) == tuple(model.classes_[[prediction, runner_up]])
        for parts in ([why.itself, *why.neighbors], why.sources, why.views):
            for_prediction = sum(part.for_prediction for part in parts)
            for_runner_up = sum(part.for_runner_up for part in parts)
            np.testing.assert_allclose(for_prediction, logits[row, prediction], atol=1e-5)
            np.testing.assert_allclose(for_runner_up, logits[row, runner_up], atol=1e-5)
        told = list(why.probabilities.values())
        np.testing.assert_allclose(told, probabilities[row], atol=1e-5)


def test_neighbors_are_the_nearest_fitted_samples_of_each_view(tiny_views):
    model, new = fit(tiny_views, node_selection=None)
    why = model.explain_new(new, 3)
    for name, anchor in model.inductive_state_.indexes.items():
        nearest = set(anchor.edges(new[[3]][name]).indices.tolist())
        assert {one.row for one in why.neighbors if one.views.get(name, 0) > 0} == nearest
    assert all(sum(one.views.values()) == pytest.approx(1) for one in why.neighbors)
    assert sum(why.itself.views.values()) == pytest.approx(1)
    assert why.itself.row == why.row == 50


def test_prediction_without_a_view_is_that_of_a_sample_that_lacks_it(tiny_views):
    model, new = fit(tiny_views)
    why = model.explain_new(new, 2)
    for number, view in enumerate(why.views):
        present = np.ones((1, 2), dtype=bool)
        present[0, number] = False
        alone = model.predict_proba(MultiView(new[[2]], present=present))[0]
        assert view.probability_without == pytest.approx(alone.max(), abs=1e-6)
        assert view.prediction_without == model.classes_[alone.argmax()]


def test_sample_with_one_view_alone_keeps_its_prediction_without_it(tiny_views):
    model, new = fit(tiny_views)
    views = MultiView(new[[2]], present=np.array([[True, False]]))
    why = model.explain_new(views)
    first, second = why.views
    surest = max(why.probabilities.values())
    assert (second.for_prediction, second.for_runner_up) == (0.0, 0.0)
    assert not first.changes_prediction
    assert first.probability_without == second.probability_without == pytest.approx(surest)


def test_single_view_has_no_prediction_without_it(tiny_views):
    views = tiny_views.views["shape"]
    model = MGCNDNSClassifier(random_state=0, max_epochs=5)
    model.fit(views[:50], tiny_views.known_labels[:50])
    (only,) = model.explain_new(views[50:], 1).views
    assert only.prediction_without is None


def test_new_samples_of_given_graphs_are_explained(tiny_views, rng):
    links = (rng.random((60, 60)) < 0.2).astype(float)
    views = MultiView({**tiny_views.views, "links": links + links.T}, graphs=["links"])
    model = MGCNDNSClassifier(random_state=0, max_epochs=5)
    model.fit(views[:50], tiny_views.known_labels[:50])
    why = model.explain_new(views[50:], 4)
    logits = model.inductive_state_.logits(views[50:])[4] / model.temperature_
    assert why.logit == pytest.approx(logits.max(), abs=1e-5)
    assert any("links" in one.views for one in why.neighbors)


def test_samples_are_named_and_looked_up_by_their_ids(tiny_views):
    model, new = fit(tiny_views)
    new_ids, old_ids = [f"n{i}" for i in range(10)], [f"s{i}" for i in range(50)]
    why = model.explain_new(new, "n3", new_ids=new_ids, sample_ids=old_ids)
    assert why.name == why.itself.name == "n3"
    assert {one.name for one in why.neighbors} <= set(old_ids)
    with pytest.raises(InputError, match=r"No sample has the id 'n33'. Did you mean 'n3'"):
        model.explain_new(new, "n33", new_ids=new_ids)
    with pytest.raises(InputError, match="sample must be a row number from 0 to 9; got 10"):
        model.explain_new(new, 10)


def test_explaining_new_samples_leaves_the_model_alone(tiny_views):
    model, new = fit(tiny_views)
    before, predictions = model.explain(7), model.predict_proba(new)
    model.explain_new(new, 1)
    assert model.explain(7) == before
    np.testing.assert_array_equal(model.predict_proba(new), predictions)
