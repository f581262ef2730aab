"""Precomputed graphs: symmetric, restricted to the fitted samples that have the view, checked."""

import numpy as np
import pytest
from scipy import sparse

from manyview.data.views import MultiView
from manyview.errors import InputError
from manyview.graphs.precomputed import check_precomputed_graph, precomputed_graph

N_SAMPLES = 9


@pytest.fixture
def weights(rng):
    return rng.random((N_SAMPLES, N_SAMPLES)) * (rng.random((N_SAMPLES, N_SAMPLES)) < 0.5)


def with_features(weights, present=None):
    views = {"links": weights, "shape": np.ones((N_SAMPLES, 2))}
    return MultiView(views, graphs=["links"], present=present)


@pytest.mark.parametrize("as_view", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_graph_equals_a_literal_loop(weights, as_view):
    present = np.ones((N_SAMPLES, 2), dtype=bool)
    present[[2, 5], 0] = False
    expected = np.zeros_like(weights)
    for i in range(N_SAMPLES):
        for j in range(N_SAMPLES):
            if i != j and present[i, 0] and present[j, 0]:
                expected[i, j] = max(weights[i, j], weights[j, i])
    found = precomputed_graph(with_features(as_view(weights), present), "links")
    np.testing.assert_array_equal(found.toarray(), expected)
    assert found.has_sorted_indices
    assert (found.data > 0).all()


def test_some_rows_have_the_edges_among_themselves(weights):
    rows = np.array([7, 1, 4])
    whole = precomputed_graph(with_features(weights), "links").toarray()
    part = precomputed_graph(with_features(weights)[rows], "links").toarray()
    np.testing.assert_array_equal(part, whole[rows][:, rows])


def test_a_wrong_number_of_columns_and_negative_weights_are_refused(weights):
    views = with_features(weights)
    with pytest.raises(InputError, match=r"one column for each of the 8 samples .* got 9 columns"):
        check_precomputed_graph(views, "links", 8)
    weights[0, 1] = -2
    with pytest.raises(InputError, match="must have weights of 0 or more; got -2"):
        check_precomputed_graph(with_features(weights), "links", N_SAMPLES)
