"""Prepared inputs: built once for fits with the same settings; the cache keeps the last few."""

import numpy as np
import torch

from manyview.data.views import MultiView
from manyview.network.prepared import N_CACHED, cached_inputs, prepare_inputs, show_recalls

CPU = torch.device("cpu")


def settings(n_neighbors):
    return {"scaling": "unit", "n_neighbors": n_neighbors, "metric": "cosine"}


def test_cached_inputs_are_those_that_would_be_prepared(tiny_views):
    views, cache = MultiView(tiny_views.views), {}
    one = cached_inputs(cache, views, CPU, **settings(4))
    fresh = prepare_inputs(views, CPU, **settings(4))
    assert cached_inputs(cache, views, CPU, **settings(4)) is one
    for mine, other in zip(one.view_graphs, fresh.view_graphs, strict=True):
        np.testing.assert_array_equal(mine.toarray(), other.toarray())
    assert torch.equal(one.inputs.view_weights, fresh.inputs.view_weights)
    assert torch.equal(one.inputs.features, fresh.inputs.features)


def test_other_settings_get_other_inputs(tiny_views):
    views, cache = MultiView(tiny_views.views), {}
    four = cached_inputs(cache, views, CPU, **settings(4))
    assert cached_inputs(cache, views, CPU, **settings(5)) is not four
    other = cached_inputs(cache, views, CPU, **{**settings(4), "metric": "euclidean"})
    assert other is not four


def test_only_the_most_recently_used_are_cached(tiny_views):
    views, cache = MultiView(tiny_views.views), {}
    first = cached_inputs(cache, views, CPU, **settings(1))
    second = cached_inputs(cache, views, CPU, **settings(2))
    for k in range(3, 2 + N_CACHED):
        cached_inputs(cache, views, CPU, **settings(1))
        cached_inputs(cache, views, CPU, **settings(k))
    assert len(cache["prepared_inputs"]) == N_CACHED
    assert cached_inputs(cache, views, CPU, **settings(1)) is first
    assert cached_inputs(cache, views, CPU, **settings(2)) is not second


def test_nothing_is_cached_without_a_cache(tiny_views):
    views = MultiView(tiny_views.views)
    one, other = (cached_inputs(None, views, CPU, **settings(4)) for _ in range(2))
    assert one is not other
    for graph, fresh in zip(one.view_graphs, other.view_graphs, strict=True):
        np.testing.assert_array_equal(graph.toarray(), fresh.toarray())


def test_recalls_are_shown_only_if_neighbors_were_missed(capsys):
    show_recalls({"shape": 1.0, "color": 1.0})
    assert capsys.readouterr().err == ""
    show_recalls({"shape": 1.0, "color": 0.973})
    shown = capsys.readouterr().err
    assert "true neighbors found: 100.0% in shape, 97.3% in color" in shown


def test_teachers_have_the_early_fusion_graph_as_the_last(tiny_views):
    views = MultiView(tiny_views.views)
    prepared = prepare_inputs(views, CPU, early_fusion=True, **settings(4))
    assert len(prepared.graphs) == 3
    assert prepared.inputs.view_weights.shape[1] == 2
    teacher = prepared.teacher_inputs
    for number, graph in enumerate(prepared.graphs):
        found = teacher.support.matrix_of(teacher.view_weights[:, number]).toarray()
        np.testing.assert_allclose(found, graph.toarray(), atol=1e-6)
    assert teacher.features is prepared.inputs.features


def test_without_two_feature_views_there_is_no_early_fusion_graph(tiny_views):
    one = MultiView({"shape": tiny_views.views["shape"]})
    prepared = prepare_inputs(one, CPU, early_fusion=True, **settings(4))
    assert prepared.early_fusion_graph is None
    assert prepared.teacher_inputs is prepared.inputs
    assert (
        prepare_inputs(MultiView(tiny_views.views), CPU, **settings(4)).early_fusion_graph is None
    )
