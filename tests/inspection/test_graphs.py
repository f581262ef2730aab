"""The learned graph, stage by stage."""

import numpy as np
import pytest
from models import mgcn_dns

from manyview import InputError, LearnedGraphDisplay


def test_tiles_hold_the_weight_of_each_stage(model):
    display = LearnedGraphDisplay.from_estimator(model)
    assert list(display.tiles) == ["fused", "refined", "selected"]
    assert len(display.axes_) == 3
    for name, tiles in display.tiles.items():
        graph = getattr(model, f"{name}_graph_")
        assert tiles.sum() == pytest.approx(graph.sum(), rel=1e-3)


def test_samples_are_sorted_by_class(model, shared_views):
    display = LearnedGraphDisplay.from_estimator(model, y=shared_views.labels)
    order = np.argsort(shared_views.labels, kind="stable")
    expected = model.selected_graph_.toarray()[np.ix_(order, order)]
    expected = (expected + expected.T) / 2
    np.testing.assert_allclose(display.tiles["selected"], expected, rtol=1e-3, atol=1e-9)


def test_homophily_is_the_weight_within_classes(model, shared_views):
    display = LearnedGraphDisplay.from_estimator(model, y=shared_views.labels)
    graph = model.fused_graph_.toarray()
    np.fill_diagonal(graph, 0)
    same = shared_views.labels[:, None] == shared_views.labels
    assert display.homophily["fused"] == pytest.approx(graph[same].sum() / graph.sum())
    assert display.n_edges["fused"] == (graph + graph.T > 0).sum() // 2
    assert "within classes" in display.axes_[0].get_xlabel()


def test_all_stages_have_one_scale(model):
    display = LearnedGraphDisplay.from_estimator(model)
    scales = {axes.images[0].norm.vmax for axes in display.axes_}
    assert scales == {max(tile.max() for tile in display.tiles.values())}


def test_network_without_selection_shows_fewer_stages(shared_views):
    model = mgcn_dns(max_epochs=2, random_state=0, graph_learning=None, node_selection=None)
    model.fit(shared_views.views, shared_views.known_labels)
    display = LearnedGraphDisplay.from_estimator(model)
    assert len(display.axes_) == len(model.fit_summary().graphs)


def test_methods_without_a_graph_and_other_samples_are_refused(plain, model):
    with pytest.raises(InputError, match="learns no graph"):
        LearnedGraphDisplay.from_estimator(plain)
    with pytest.raises(InputError, match=r"got shape \(2,\)"):
        LearnedGraphDisplay.from_estimator(model, y=[0, 1])


def test_options_of_imshow_are_passed_on(model):
    display = LearnedGraphDisplay.from_estimator(model, cmap="viridis")
    assert display.axes_[0].images[0].get_cmap().name == "viridis"
