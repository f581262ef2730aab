"""PreparedInputs: laid once, shared by fits with the same settings, and only the last few kept."""

import numpy as np
import torch

from manyview.data.views import MultiView
from manyview.network.prepared import N_KEPT, cached_inputs, prepare_inputs, tell_recalls

CPU = torch.device("cpu")


def settings(n_neighbors):
    return {"scaling": "unit", "n_neighbors": n_neighbors, "metric": "cosine"}


def test_shared_ground_is_the_one_that_would_be_laid(tiny_views):
    views, shared = MultiView(tiny_views.views), {}
    one = cached_inputs(shared, views, CPU, **settings(4))
    fresh = prepare_inputs(views, CPU, **settings(4))
    assert cached_inputs(shared, views, CPU, **settings(4)) is one
    for mine, other in zip(one.view_graphs, fresh.view_graphs, strict=True):
        np.testing.assert_array_equal(mine.toarray(), other.toarray())
    assert torch.equal(one.inputs.view_weights, fresh.inputs.view_weights)
    assert torch.equal(one.inputs.features, fresh.inputs.features)


def test_other_settings_get_another_ground(tiny_views):
    views, shared = MultiView(tiny_views.views), {}
    four = cached_inputs(shared, views, CPU, **settings(4))
    assert cached_inputs(shared, views, CPU, **settings(5)) is not four
    other = cached_inputs(shared, views, CPU, **{**settings(4), "metric": "euclidean"})
    assert other is not four


def test_only_the_last_used_are_kept(tiny_views):
    views, shared = MultiView(tiny_views.views), {}
    first = cached_inputs(shared, views, CPU, **settings(1))
    second = cached_inputs(shared, views, CPU, **settings(2))
    for k in range(3, 2 + N_KEPT):
        cached_inputs(shared, views, CPU, **settings(1))
        cached_inputs(shared, views, CPU, **settings(k))
    assert len(shared["grounds"]) == N_KEPT
    assert cached_inputs(shared, views, CPU, **settings(1)) is first
    assert cached_inputs(shared, views, CPU, **settings(2)) is not second


def test_nothing_is_shared_where_there_is_no_store(tiny_views):
    views = MultiView(tiny_views.views)
    one, other = (cached_inputs(None, views, CPU, **settings(4)) for _ in range(2))
    assert one is not other
    for graph, fresh in zip(one.view_graphs, other.view_graphs, strict=True):
        np.testing.assert_array_equal(graph.toarray(), fresh.toarray())


def test_recalls_are_told_only_where_neighbors_were_missed(capsys):
    tell_recalls({"shape": 1.0, "color": 1.0})
    assert capsys.readouterr().err == ""
    tell_recalls({"shape": 1.0, "color": 0.973})
    said = capsys.readouterr().err
    assert "true neighbors found: 100.0% in shape, 97.3% in color" in said


def test_teachers_have_the_joint_graph_as_the_last(tiny_views):
    views = MultiView(tiny_views.views)
    ground = prepare_inputs(views, CPU, joint=True, **settings(4))
    assert len(ground.graphs) == 3
    assert ground.inputs.view_weights.shape[1] == 2
    teacher = ground.teacher_inputs
    for number, graph in enumerate(ground.graphs):
        found = teacher.support.matrix_of(teacher.view_weights[:, number]).toarray()
        np.testing.assert_allclose(found, graph.toarray(), atol=1e-6)
    assert teacher.features is ground.inputs.features


def test_without_two_views_of_features_there_is_no_joint_graph(tiny_views):
    one = MultiView({"shape": tiny_views.views["shape"]})
    ground = prepare_inputs(one, CPU, joint=True, **settings(4))
    assert ground.early_fusion_graph is None
    assert ground.teacher_inputs is ground.inputs
    assert (
        prepare_inputs(MultiView(tiny_views.views), CPU, **settings(4)).early_fusion_graph is None
    )
