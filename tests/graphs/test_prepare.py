"""Prepared views: scaled, linked to their neighbors, and k chosen from the labels."""

import numpy as np
import pytest
from scipy import sparse

from manyview.data.scaling import fit_scaler
from manyview.data.views import MultiView
from manyview.errors import InputError
from manyview.graphs.knn_graph import knn_graph
from manyview.graphs.normalization import renormalize
from manyview.graphs.prepare import (
    check_n_neighbors,
    choose_n_neighbors,
    pick_n_neighbors,
    prepare_views,
)

SETTINGS = {"scaling": "standard", "n_neighbors": 4, "metric": "cosine"}


@pytest.fixture
def views(rng):
    links = sparse.csr_array(np.triu(rng.random((20, 20)) < 0.3, 1).astype(float))
    return {"shape": rng.normal(size=(20, 3)), "links": links}


def test_every_view_is_scaled_and_has_a_graph(views):
    prepared = prepare_views(MultiView(views, graphs=["links"]), **SETTINGS)
    scaled = fit_scaler(views["shape"], "standard")(views["shape"])
    np.testing.assert_array_equal(prepared.features["shape"], scaled)
    expected = {"shape": knn_graph(scaled, n_neighbors=4), "links": views["links"]}
    assert list(prepared.graphs) == ["shape", "links"]
    for name, graph in prepared.graphs.items():
        whole = expected[name].maximum(expected[name].T).toarray()
        np.testing.assert_array_equal(graph.toarray(), whole)
    assert prepared.recalls == {"shape": 1.0}
    assert prepared.present_features() is None


def test_samples_without_a_view_have_no_edges_and_no_loop_in_it(views):
    present = np.ones((20, 2), dtype=bool)
    present[[3, 8], 0] = False
    prepared = prepare_views(MultiView(views, graphs=["links"], present=present), **SETTINGS)
    assert prepared.graphs["shape"][[3, 8]].nnz == 0
    of_shape, of_links = prepared.renormalized()
    np.testing.assert_array_equal(of_shape.diagonal() > 0, present[:, 0])
    expected = renormalize(prepared.graphs["links"]).toarray()
    np.testing.assert_array_equal(of_links.toarray(), expected)
    np.testing.assert_array_equal(prepared.present_features(), present[:, :1])


@pytest.mark.parametrize(
    ("n_samples", "n_classes", "n_labeled", "expected"),
    [(2000, 10, 20, 20), (2000, 10, 40, 20), (2000, 10, 100, 14), (300, 60, 60, 3), (3, 2, 2, 2)],
)
def test_k_falls_with_labels_and_with_small_classes(n_samples, n_classes, n_labeled, expected):
    assert choose_n_neighbors(n_samples, n_classes, n_labeled) == expected


def test_auto_counts_the_labels_and_a_number_is_kept():
    y_encoded = np.full(2000, -1)
    y_encoded[:100] = 0
    assert pick_n_neighbors("auto", y_encoded, 10) == choose_n_neighbors(2000, 10, 100)
    assert pick_n_neighbors(7, y_encoded, 10) == 7


@pytest.mark.parametrize("wrong", [0, 5, 2.5, "many", None])
def test_a_wrong_number_of_neighbors_is_refused(wrong):
    check_n_neighbors(4, 5)
    check_n_neighbors("auto", 5)
    with pytest.raises(InputError, match="n_neighbors must be"):
        check_n_neighbors(wrong, 5)
    with pytest.raises(InputError, match="n_neighbors must be"):
        check_n_neighbors("auto", 5, auto=False)
