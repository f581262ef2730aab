"""Explanations add up to the logits, equal a literal loop, and hold when neighbors are deleted."""

import numpy as np
import pytest
import torch
from models import manyview, mgcn_dns
from scipy import sparse
from sklearn.exceptions import NotFittedError

from manyview.data.catalog.load import load_dataset
from manyview.data.splits import hide_labels
from manyview.data.views import MultiView
from manyview.errors import InputError
from manyview.estimators.manyview import ManyviewClassifier

VARIANTS = {
    "default": {},
    "network alone": {"cross_fit": False},
    "one layer": {"n_layers": 1},
    "three layers": {"n_layers": 3},
    "plain": {"graph_learning": None, "node_selection": None},
    "top-k": {"node_selection": "top-k", "graph_learning": "low-rank", "n_selected": 4},
}


@pytest.fixture(scope="module", params=VARIANTS)
def model(request, shared_views):
    settings = {"max_epochs": 15, "random_state": 0, **VARIANTS[request.param]}
    return manyview(**settings).fit(shared_views.views, shared_views.known_labels)


def test_contributions_of_neighbors_views_and_sources_add_up_to_both_logits(model):
    explainer = model.explainer()
    names = [str(row) for row in range(60)]
    for row in range(0, 60, 7):
        why = explainer.explain(row, names)
        for parts in ([why.itself, *why.neighbors], why.views, why.sources):
            both = [*parts, *why.tables]
            assert sum(one.for_prediction for one in both) == pytest.approx(why.logit, abs=1e-6)
            assert sum(one.for_runner_up for one in both) == pytest.approx(
                why.runner_up_logit, abs=1e-6
            )
        first, second = why.probabilities[why.prediction], why.probabilities[why.runner_up]
        assert why.margin == pytest.approx(np.log(first / second), abs=1e-9)


def test_explained_probabilities_are_those_of_the_fit(model):
    for row in (0, 31, 59):
        why = model.explain(row)
        np.testing.assert_allclose(
            list(why.probabilities.values()), model.label_distributions_[row], atol=1e-5
        )
        assert why.prediction == model.transduction_[row]
        for one in why.neighbors:
            assert sum(one.views.values()) == pytest.approx(1.0)


def test_neighbors_come_with_the_largest_margin_first_and_without_the_sample(model):
    why = model.explain(3)
    margins = [abs(one.margin) for one in why.neighbors]
    assert margins == sorted(margins, reverse=True)
    assert 3 not in {one.row for one in why.neighbors}
    assert why.itself.row == 3
    n_left, for_prediction, for_runner_up = why.rest(2)
    assert n_left == len(why.neighbors) - 2
    shown = [*why.neighbors[:2], *why.tables]
    assert for_prediction + why.itself.for_prediction + sum(
        o.for_prediction for o in shown
    ) == pytest.approx(why.logit)
    assert for_runner_up == pytest.approx(sum(o.for_runner_up for o in why.neighbors[2:]))


def test_neighbors_and_sources_match_a_literal_loop(tiny_views):
    model = manyview(max_epochs=15, random_state=0)
    model.fit(tiny_views.views, tiny_views.known_labels)
    graph = model.selected_graph_.toarray().astype(float)
    first, second = (weight.astype(float) for weight in model.inductive_state_.weights)
    second /= model.temperature_
    sent = model.inductive_state_.messages[0].astype(float)
    assert first.shape[1] == len(second)
    row, why = 11, model.explain(11)
    prediction, runner_up = (
        model.classes_.tolist().index(label) for label in (why.prediction, why.runner_up)
    )
    by_neighbor, by_source = {}, {}
    for j in range(60):
        hidden = [sum(graph[j, k] * sent[k, unit] for k in range(60)) for unit in range(64)]
        for number, label in enumerate((prediction, runner_up)):
            part = graph[row, j] * sum(max(h, 0) * second[u, label] for u, h in enumerate(hidden))
            by_neighbor.setdefault(j, [0, 0])[number] = part
            is_on = np.array(hidden) > 0
            for k in range(60):
                through = graph[row, j] * graph[j, k] * (sent[k] * is_on) @ second[:, label]
                by_source.setdefault(k, [0.0, 0.0])[number] += through
    for one in (why.itself, *why.neighbors):
        assert (one.for_prediction, one.for_runner_up) == pytest.approx(
            by_neighbor[one.row], abs=1e-5
        )
    for one in why.sources:
        assert (one.for_prediction, one.for_runner_up) == pytest.approx(
            by_source[one.row], abs=1e-5
        )


def test_sources_are_the_gradient_times_the_messages_at_any_depth(model):
    inductive_state = model.inductive_state_
    graph = torch.from_numpy(model.selected_graph_.toarray().astype(float))
    sent = torch.from_numpy(inductive_state.messages[0].astype(float)).requires_grad_()
    hidden = graph @ sent
    for weight in inductive_state.weights[1:]:
        hidden = graph @ (hidden.relu() @ torch.from_numpy(weight.astype(float)))
    why = model.explain(8)
    prediction = model.classes_.tolist().index(why.prediction)
    (slope,) = torch.autograd.grad(hidden[8, prediction] / model.temperature_, sent)
    parts = (slope * sent).sum(dim=1).detach().numpy()
    for one in why.sources:
        assert one.for_prediction == pytest.approx(parts[one.row], abs=1e-5)


def test_view_fractions_are_those_of_the_edge_weights_in_the_fused_graph(tiny_views):
    model = manyview(max_epochs=15, random_state=0)
    model.fit(tiny_views.views, tiny_views.known_labels)
    for one in model.explain(20).neighbors:
        for view, graph, coefficient in zip(
            model.view_names_, model.view_graphs_, model.inductive_state_.coefficients, strict=True
        ):
            weight = coefficient * graph[20, one.row]
            fraction = weight / model.fused_graph_[20, one.row]
            assert one.views.get(view, 0.0) == pytest.approx(fraction, abs=1e-5)


def test_deleting_a_neighbor_subtracts_its_contribution_from_the_logits(model):
    why = model.explain(5)
    messages = model.inductive_state_.messages[-1].astype(float)
    graph = model.selected_graph_.toarray().astype(float)
    for one in why.neighbors[:3]:
        graph[5, one.row] = 0.0
    top_two = [model.classes_.tolist().index(label) for label in (why.prediction, why.runner_up)]
    left = (graph[5] @ messages)[top_two] / model.temperature_
    left += [
        sum(getattr(one, part) for one in why.tables)
        for part in ("for_prediction", "for_runner_up")
    ]
    taken = [
        sum(getattr(one, part) for one in why.neighbors[:3])
        for part in ("for_prediction", "for_runner_up")
    ]
    np.testing.assert_allclose([why.logit, why.runner_up_logit] - left, taken, atol=1e-6)


def run_again(model, graph):
    hidden = graph @ model.inductive_state_.messages[0]
    for weight in model.inductive_state_.weights[1:]:
        hidden = graph @ (np.maximum(hidden, 0) @ weight)
    return hidden / model.temperature_


def test_deleting_the_named_neighbors_hurts_real_predictions_more_than_random_ones(rng):
    """Both layers are run again, so the hidden states change as well."""
    data = load_dataset("digits")
    labels = hide_labels(data.labels, 0.02, random_state=0)
    model = manyview(max_epochs=60, cross_fit=False, random_state=0).fit(data.views, labels)
    explainer = model.explainer()
    names = [str(row) for row in range(len(labels))]
    falls = {"named": [], "random": []}
    expected_falls = []
    for row in range(0, len(labels), 60):
        why = explainer.explain(row, names)
        top_two = [
            model.classes_.tolist().index(label) for label in (why.prediction, why.runner_up)
        ]
        helping = [one for one in why.neighbors if one.margin > 0][:5]
        others = rng.choice([one.row for one in why.neighbors], len(helping), replace=False)
        expected_falls.append(sum(one.margin for one in helping))
        for kind, rows in (("named", [one.row for one in helping]), ("random", others)):
            graph = model.selected_graph_.tolil()
            for other in rows:
                graph[row, other] = graph[other, row] = 0.0
            left = run_again(model, sparse.csr_array(graph))[row, top_two]
            falls[kind].append(why.margin - (left[0] - left[1]))
    assert np.mean(falls["named"]) > 1.5 * np.mean(falls["random"])
    assert np.mean(falls["named"]) == pytest.approx(np.mean(expected_falls), rel=0.3)
    assert np.corrcoef(falls["named"], expected_falls)[0, 1] > 0.9


def test_view_effects_count_the_predictions_that_change(model, tiny_views):
    effects = model.view_effects(tiny_views.labels)
    explainer = model.explainer()
    assert [one.view for one in effects] == ["shape", "color"]
    for one, logits in zip(effects, explainer.logits_without, strict=True):
        predictions = model.classes_[logits.argmax(axis=1)]
        assert one.n_changed == (predictions != model.transduction_).sum()
        assert one.fraction_changed == one.n_changed / 60
        assert one.accuracy == pytest.approx((model.transduction_ == tiny_views.labels).mean())
        assert one.accuracy_without == pytest.approx((predictions == tiny_views.labels).mean())
        for row in (0, 17):
            (found,) = [v for v in model.explain(row).views if v.view == one.view]
            assert found.prediction_without == predictions[row]
            assert found.changes_prediction == (predictions[row] != model.transduction_[row])


def test_view_effects_use_the_known_labels_without_a_truth(model, tiny_views):
    effects = model.view_effects()
    assert {one.n_scored for one in effects} == {12}
    given = tiny_views.known_labels >= 0
    right = (model.transduction_ == tiny_views.labels)[given].mean()
    assert effects[0].accuracy == pytest.approx(right)


def test_classes_without_labels_count_as_wrong(tiny_views):
    labels = np.where(tiny_views.known_labels == 2, -1, tiny_views.known_labels)
    model = manyview(max_epochs=5, random_state=0).fit(tiny_views.views, labels)
    (effect, _) = model.view_effects(tiny_views.labels)
    assert effect.n_scored == 60
    assert effect.accuracy == pytest.approx((model.transduction_ == tiny_views.labels).mean())


def test_truth_of_the_wrong_length_is_refused(model):
    with pytest.raises(InputError, match=r"one label for each of the 60 fitted samples; got"):
        model.view_effects([0, 1])


def test_single_view_has_no_prediction_without_it(tiny_views):
    model = manyview(max_epochs=5, random_state=0)
    model.fit(tiny_views.views["shape"], tiny_views.known_labels)
    (view,) = model.explain(0).views
    assert (view.prediction_without, view.probability_without) == (None, None)
    assert not view.changes_prediction
    assert model.view_effects() == ()


def test_samples_with_graphs_alone_are_explained(tiny_views, rng):
    graph = sparse.csr_array(np.triu(rng.random((60, 60)) < 0.2, 1).astype(float))
    data = MultiView({"links": graph, "calls": graph[::-1, ::-1]}, graphs=["links", "calls"])
    model = manyview(max_epochs=5, random_state=0).fit(data, tiny_views.known_labels)
    why = model.explain(4)
    total = sum(one.margin for one in (why.itself, *why.neighbors))
    assert total == pytest.approx(why.margin)
    assert sum(one.margin for one in why.sources) == pytest.approx(why.margin, abs=1e-6)


def test_known_labels_of_neighbors_are_reported(tiny_views):
    words = np.array(["ant", "bee", "cow"])
    labels = np.where(tiny_views.known_labels < 0, None, words[tiny_views.known_labels])
    model = manyview(max_epochs=5, random_state=0).fit(tiny_views.views, labels)
    explainer = model.explainer()
    for row in range(60):
        for one in explainer.explain(row, [str(n) for n in range(60)]).neighbors:
            assert one.given == labels[one.row]
            assert one.prediction == model.transduction_[one.row]


def test_explanation_as_json_has_every_contribution(model):
    document = model.explain(9).document()
    for parts in ([document["itself"], *document["neighbors"]], document["views"]):
        both = [*parts, *document["tables"]]
        assert sum(part["margin"] for part in both) == pytest.approx(document["margin"])
    assert [one["name"] for one in document["tables"]] == list(model.table_logits_)
    assert sum(one["probability"] for one in document["probabilities"]) == pytest.approx(1)
    assert set(document["views"][0]) >= {
        "view",
        "margin",
        "prediction_without",
        "changes_prediction",
    }


def test_sample_is_found_by_its_id(model):
    ids = [f"doc-{row}" for row in range(60)]
    why = model.explain("doc-7", sample_ids=ids)
    assert (why.row, why.name) == (7, "doc-7")
    assert why.neighbors[0].name == f"doc-{why.neighbors[0].row}"
    assert model.explain(7).margin == why.margin


def test_unfitted_classifier_cannot_explain():
    for call in ("explainer", "view_effects"):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            getattr(ManyviewClassifier(), call)()
    with pytest.raises(NotFittedError, match="not fitted yet"):
        ManyviewClassifier().explain(0)


def test_loaded_model_explains_as_the_saved_one(tmp_path, model):
    model.save(tmp_path)
    assert ManyviewClassifier.load(tmp_path).explain(12).document() == model.explain(12).document()


NEW_VARIANTS = {
    **VARIANTS,
    "top-k": {"node_selection": "top-k", "n_selected": 4},
    "calibrated": {"method": mgcn_dns, "calibration": "temperature"},
}


def fit_first_50(tiny_views, method=manyview, **params):
    views = MultiView(tiny_views.views)
    settings = {"random_state": 0, "max_epochs": 15, "n_neighbors": 4, **params}
    model = method(**settings)
    return model.fit(views[:50], tiny_views.known_labels[:50]), views[50:]


@pytest.mark.parametrize("params", NEW_VARIANTS.values(), ids=NEW_VARIANTS)
def test_contributions_to_a_new_sample_add_up_to_the_logits_of_predict(tiny_views, params):
    model, new = fit_first_50(tiny_views, **params)
    network = model.inductive_state_.logits(new) / model.temperature_
    logits = sum((one.logits(new) for one in model.table_learners_), start=network)
    probabilities = model.predict_proba(new)
    for row in range(len(new)):
        why = model.explain_new(new, row)
        prediction, runner_up = np.argsort(-logits[row])[:2]
        assert (why.prediction, why.runner_up) == tuple(model.classes_[[prediction, runner_up]])
        assert [one.name for one in why.tables] == [one.name for one in model.table_learners_]
        for parts in ([why.itself, *why.neighbors], why.sources, why.views):
            both = [*parts, *why.tables]
            for_prediction = sum(part.for_prediction for part in both)
            for_runner_up = sum(part.for_runner_up for part in both)
            np.testing.assert_allclose(for_prediction, logits[row, prediction], atol=1e-5)
            np.testing.assert_allclose(for_runner_up, logits[row, runner_up], atol=1e-5)
        found = list(why.probabilities.values())
        np.testing.assert_allclose(found, probabilities[row], atol=1e-5)


def test_neighbors_of_a_new_sample_are_the_nearest_fitted_samples_of_each_view(tiny_views):
    model, new = fit_first_50(tiny_views, node_selection=None)
    why = model.explain_new(new, 3)
    for name, index in model.inductive_state_.indexes.items():
        nearest = set(index.edges(new[[3]][name]).indices.tolist())
        assert {one.row for one in why.neighbors if one.views.get(name, 0) > 0} == nearest
    assert all(sum(one.views.values()) == pytest.approx(1) for one in why.neighbors)
    assert sum(why.itself.views.values()) == pytest.approx(1)
    assert why.itself.row == why.row == 50


@pytest.mark.parametrize("cross_fit", [True, False])
def test_new_samples_prediction_without_a_view_is_that_with_the_view_missing(tiny_views, cross_fit):
    model, new = fit_first_50(tiny_views, cross_fit=cross_fit)
    why = model.explain_new(new, 2)
    for number, view in enumerate(why.views):
        present = np.ones((1, 2), dtype=bool)
        present[0, number] = False
        alone = model.predict_proba(MultiView(new[[2]], present=present))[0]
        assert view.probability_without == pytest.approx(alone.max(), abs=1e-6)
        assert view.prediction_without == model.classes_[alone.argmax()]


def test_new_sample_with_one_view_keeps_its_prediction_without_it(tiny_views):
    model, new = fit_first_50(tiny_views)
    views = MultiView(new[[2]], present=np.array([[True, False]]))
    why = model.explain_new(views)
    first, second = why.views
    largest = max(why.probabilities.values())
    assert (second.for_prediction, second.for_runner_up) == (0.0, 0.0)
    assert not first.changes_prediction
    assert first.probability_without == second.probability_without == pytest.approx(largest)


def test_new_sample_of_a_single_view_has_no_prediction_without_it(tiny_views):
    views = tiny_views.views["shape"]
    model = manyview(random_state=0, max_epochs=5)
    model.fit(views[:50], tiny_views.known_labels[:50])
    (only,) = model.explain_new(views[50:], 1).views
    assert only.prediction_without is None


def test_new_samples_of_precomputed_graphs_are_explained(tiny_views, rng):
    links = (rng.random((60, 60)) < 0.2).astype(float)
    views = MultiView({**tiny_views.views, "links": links + links.T}, graphs=["links"])
    model = manyview(random_state=0, max_epochs=5)
    model.fit(views[:50], tiny_views.known_labels[:50])
    why = model.explain_new(views[50:], 4)
    network = model.inductive_state_.logits(views[50:]) / model.temperature_
    logits = sum((one.logits(views[50:]) for one in model.table_learners_), start=network)[4]
    assert why.logit == pytest.approx(logits.max(), abs=1e-5)
    assert any("links" in one.views for one in why.neighbors)


def test_new_samples_are_named_and_found_by_their_ids(tiny_views):
    model, new = fit_first_50(tiny_views)
    new_ids, old_ids = [f"n{i}" for i in range(10)], [f"s{i}" for i in range(50)]
    why = model.explain_new(new, "n3", new_ids=new_ids, sample_ids=old_ids)
    assert why.name == why.itself.name == "n3"
    assert {one.name for one in why.neighbors} <= set(old_ids)
    with pytest.raises(InputError, match=r"No sample has the id 'n33'. Did you mean 'n3'"):
        model.explain_new(new, "n33", new_ids=new_ids)
    with pytest.raises(InputError, match="sample must be a row number from 0 to 9; got 10"):
        model.explain_new(new, 10)


def test_explaining_new_samples_does_not_change_the_model(tiny_views):
    model, new = fit_first_50(tiny_views)
    before, predictions = model.explain(7), model.predict_proba(new)
    model.explain_new(new, 1)
    assert model.explain(7) == before
    np.testing.assert_array_equal(model.predict_proba(new), predictions)
