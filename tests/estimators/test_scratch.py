"""Fits with a scratch folder: the same model, to the bit."""

import numpy as np
import pytest
import torch
from scipy import sparse

from manyview.data.views import MultiView
from manyview.estimators.fit_memory import memory_of_fit
from manyview.estimators.manyview import ManyviewClassifier
from manyview.estimators.mgcn_dns import MGCNDNSClassifier
from manyview.graphs import support as support_module
from manyview.graphs.support import GraphSupport
from manyview.system import scratch
from manyview.system.config import config_context

MODELS = {
    "manyview": ManyviewClassifier(MGCNDNSClassifier(max_epochs=20), random_state=0),
    "mgcn-dns": MGCNDNSClassifier(max_epochs=20, random_state=0),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_a_fit_is_the_same_to_the_bit(tiny_views, tmp_path, monkeypatch, name, kind):
    views = dict(tiny_views.views.items())
    if kind == "sparse":
        first = next(iter(views))
        views[first] = sparse.csr_array(np.abs(views[first]))
    expected = MODELS[name].fit(views, tiny_views.known_labels)
    graphs = {one: getattr(expected, one).copy() for one in ("fused_graph_", "selected_graph_")}
    probabilities = expected.label_distributions_.copy()
    new = expected.predict_proba(views)
    monkeypatch.setattr(scratch, "MIN_BYTES", 1)
    with config_context(scratch_dir=tmp_path / "scratch"):
        found = MODELS[name].fit(views, tiny_views.known_labels)
    np.testing.assert_array_equal(found.label_distributions_, probabilities)
    np.testing.assert_array_equal(found.predict_proba(views), new)
    for one, graph in graphs.items():
        assert (getattr(found, one) != graph).nnz == 0
    found.save(tmp_path / "model")
    loaded = type(found).load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(views), new)


def test_the_estimate_knows_that_memory_moves_to_disk(tmp_path):
    views = MultiView({"a": np.zeros((40_000, 50)), "b": np.zeros((40_000, 50))})
    settings = {"n_classes": 3, "hidden": 64, "n_layers": 2, "graph_learning": "edge"}
    needed = memory_of_fit(views, n_neighbors=10, **settings)
    with config_context(scratch_dir=tmp_path):
        assert memory_of_fit(views, n_neighbors=10, **settings) < 0.8 * needed


def test_the_edges_of_all_graphs_are_on_disk(rng, tmp_path, monkeypatch):
    moved = []

    def on_disk(array):
        moved.append(scratch.on_disk(array))
        return moved[-1]

    monkeypatch.setattr(scratch, "MIN_BYTES", 1)
    monkeypatch.setattr(support_module, "on_disk", on_disk)
    graph = sparse.csr_array(sparse.random_array((50, 50), density=0.1, rng=rng))
    expected = GraphSupport.from_graphs([graph + graph.T])
    with config_context(scratch_dir=tmp_path):
        found = GraphSupport.from_graphs([graph + graph.T])
    assert all(isinstance(array.base, np.memmap) for array in moved[-4:])
    places = {array.ctypes.data for array in moved}
    for name in ("columns", "pairs", "upper_rows", "upper_columns"):
        assert getattr(found, name).data_ptr() in places
        assert torch.equal(getattr(found, name), getattr(expected, name))
