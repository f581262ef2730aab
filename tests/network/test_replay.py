"""The replay of a fitted network gives its logits, and equals a dense loop without a view."""

import numpy as np
import pytest
import torch
from dense_reference import select
from models import manyview
from scipy import sparse

from manyview.data.views import MultiView
from manyview.network import replay


def fit(views, labels, **params):
    return manyview(cross_fit=False, max_epochs=15, random_state=0, **params).fit(views, labels)


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"n_layers": 3, "graph_learning": "full"},
        {"graph_learning": None, "node_selection": None},
        {"node_selection": "top-k"},
        {"rank_axis": "as-printed", "tau": 0.3},
    ],
    ids=["default", "full factors", "plain", "top-k", "as printed"],
)
def test_replay_gives_the_logits_of_the_fit(tiny_views, params):
    explainer = fit(tiny_views.views, tiny_views.known_labels, **params).explainer()
    again = explainer.replay.logits() / explainer.temperature
    np.testing.assert_allclose(again, explainer.logits, atol=1e-4)


@pytest.mark.parametrize("ranking", ["exact", "fast"])
def test_replay_ranks_as_the_fit_did(tiny_views, monkeypatch, ranking):
    model = fit(tiny_views.views, tiny_views.known_labels, ranking=ranking)
    used = []

    def spy(scores, temperature, rank_axis, ranking):
        used.append(ranking)
        return confidence(scores, temperature, rank_axis, ranking)

    confidence = replay.node_confidence
    monkeypatch.setattr(replay, "node_confidence", spy)
    model.explainer().replay.logits(0)
    assert used == [ranking]


@pytest.mark.parametrize("left_out", [0, 1])
@pytest.mark.parametrize("selection", ["differentiable", None])
def test_replay_without_a_view_uses_only_the_others(tiny_views, left_out, selection):
    model = fit(
        tiny_views.views, tiny_views.known_labels, node_selection=selection, initial_threshold=0.2
    )
    graph = model.view_graphs_[1 - left_out].toarray() * model.edge_gates_.toarray()
    if selection is not None:
        threshold = torch.logit(torch.tensor(model.threshold_, dtype=torch.float64))
        graph = select(
            torch.from_numpy(graph), threshold, model.get_params()["estimator__node_selection__tau"]
        ).numpy()
    inductive_state = model.inductive_state_
    features = [index.features.astype(float) for index in inductive_state.indexes.values()]
    centered = [
        (view - view.mean(axis=0)) * factor
        for view, factor in zip(features, inductive_state.input_scaling.factors, strict=True)
    ]
    centered[left_out] *= 0
    first, second = inductive_state.weights
    wanted = graph @ np.maximum(graph @ np.hstack(centered) @ first, 0) @ second
    found = model.explainer().replay.logits(left_out)
    np.testing.assert_allclose(found, wanted, atol=1e-4)


def test_features_of_the_only_feature_view_stay(tiny_views, rng):
    graph = sparse.csr_array(np.triu(rng.random((60, 60)) < 0.2, 1).astype(float))
    data = MultiView({"shape": tiny_views.views["shape"], "links": graph}, graphs=["links"])
    model = fit(data, tiny_views.known_labels, graph_learning=None, node_selection=None)
    links = model.view_graphs_[1].toarray()
    first, second = model.inductive_state_.messages[0], model.inductive_state_.weights[1]
    wanted = links @ np.maximum(links @ first, 0) @ second
    np.testing.assert_allclose(model.explainer().replay.logits(0), wanted, atol=1e-5)
