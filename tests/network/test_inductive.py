"""Logits of new samples equal a literal loop, and are nearly as good as those of a fit."""

import numpy as np
import pytest
from models import manyview

from manyview.data.catalog.load import load_dataset
from manyview.data.splits import draw_labeled, hide_labels
from manyview.data.views import MultiView


@pytest.fixture(scope="module")
def fitted(shared_views):
    views = MultiView(shared_views.views)
    model = manyview(random_state=0, max_epochs=30, n_neighbors=4)
    return model.fit(views[:50], shared_views.known_labels[:50]), views[50:]


def literal_logits(model, new):
    """One new sample at a time, one edge at a time, in float64."""
    inductive_state = model.inductive_state_
    rows = []
    for i in range(len(new)):
        edges, loop = {}, 0.0
        for (name, index), coefficient in zip(
            inductive_state.indexes.items(), inductive_state.coefficients, strict=True
        ):
            x = index.scaler(new[[i]][name])[0].astype(np.float64)
            fitted = index.features.astype(np.float64)
            cosine = fitted @ x / np.linalg.norm(fitted, axis=1) / np.linalg.norm(x)
            nearest = np.argsort(-cosine)[: model.n_neighbors_]
            for j in nearest:
                weight = 1 / np.sqrt((len(nearest) + 1) * index.degrees[j])
                edges[j] = edges.get(j, 0.0) + coefficient * weight
            loop += coefficient / (len(nearest) + 1)
        edges = {j: weight * inductive_state.mean_gate for j, weight in edges.items()}
        loop *= inductive_state.loop_gate
        rule = inductive_state.selection
        score = (sum(edges.values()) + loop) / (len(edges) + 1)
        own = np.interp(score, rule.scores, rule.confidence)

        def kept(confidence, rule=rule):
            return max(confidence - rule.threshold, 0) / rule.largest

        edges = {j: w * kept((own + model.node_confidence_[j]) / 2) for j, w in edges.items()}
        loop *= kept(own)
        scaled = [index.scaler(new[[i]][name]) for name, index in inductive_state.indexes.items()]
        hidden = inductive_state.input_scaling(scaled)[0] - inductive_state.input_scaling.center
        for number, weight in enumerate(inductive_state.weights):
            message = hidden @ weight
            hidden = loop * message
            for j, w in edges.items():
                hidden = hidden + w * inductive_state.messages[number][j]
            if number + 1 < len(inductive_state.weights):
                hidden = np.maximum(hidden, 0)
        rows.append(hidden)
    return np.array(rows)


def test_logits_of_new_samples_equal_a_literal_loop(fitted):
    model, new = fitted
    np.testing.assert_allclose(
        model.inductive_state_.logits(new), literal_logits(model, new), rtol=1e-4, atol=1e-5
    )


def test_new_samples_do_not_see_each_other(fitted):
    model, new = fitted
    together = model.predict_proba(new)
    alone = np.vstack([model.predict_proba(new[[i]]) for i in range(len(new))])
    np.testing.assert_allclose(together, alone, atol=1e-6)


def test_order_of_new_samples_does_not_matter(fitted, rng):
    model, new = fitted
    order = rng.permutation(len(new))
    np.testing.assert_allclose(
        model.predict_proba(new[order]), model.predict_proba(new)[order], atol=1e-6
    )


def test_a_new_sample_far_from_all_still_gets_probabilities(fitted):
    model, new = fitted
    zeros = {name: np.zeros((1, view.shape[1])) for name, view in new.items()}
    np.testing.assert_allclose(model.predict_proba(zeros).sum(), 1.0)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("digits", marks=pytest.mark.slow),
        pytest.param("bbcsports", marks=pytest.mark.data),
        pytest.param("mnist", marks=[pytest.mark.data, pytest.mark.slow]),
    ],
)
def test_predicting_new_samples_is_nearly_as_good_as_fitting_with_them(name):
    """At most 3 points below, over three splits; benchmarks/new_samples.py measures five."""
    dataset = load_dataset(name)
    views, truth = MultiView(dataset.views), dataset.labels
    losses = []
    for seed in range(3):
        is_new = draw_labeled(truth, 0.2, random_state=1000 + seed)
        labels = np.full(len(truth), -1)
        labels[~is_new] = hide_labels(truth[~is_new], 0.1, random_state=seed)
        model = manyview(random_state=seed)
        together = model.fit(views, labels).transduction_[is_new]
        later = model.fit(views[~is_new], labels[~is_new]).predict(views[is_new])
        losses.append(np.mean(together == truth[is_new]) - np.mean(later == truth[is_new]))
    assert np.mean(losses) <= 0.03
